// `perago serve` in a process of its own, on one port, killed and started again. Where this user may, its name server is one that
// never answers.
import { spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clearInterval, setInterval } from 'node:timers'
import { fileURLToPath } from 'node:url'
import { findFreePort, rssMib, startProgram, waitFor } from '../support/processes.mjs'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const SILENT = '127.0.0.253'
const START_MS = 60_000
const LOOK_MS = 500

export class KilledServer {
  #program
  #peakMib = 0

  static async start(bench, file) {
    const port = await findFreePort()
    const server = new KilledServer()
    server.url = `http://127.0.0.1:${port}`
    server.command = await silentNames(bench)
    server.args = ['serve', '--port', String(port), '--store', file, '--allow-private-webhooks']
    server.cwd = bench.directory
    bench.defer(() => server.end())
    await server.#begin()
    server.looking = setInterval(() => server.#look(), LOOK_MS)
    return server
  }

  async killAndStart() {
    process.kill(-this.#program.pid, 'SIGKILL')
    await once(this.#program.child, 'exit').catch(() => undefined)
    await this.#begin()
  }

  /** Of the process with the most. */
  peakMib() {
    return this.#peakMib
  }

  async end() {
    clearInterval(this.looking)
    await this.#program?.close()
  }

  async #begin() {
    const [command, ...before] = this.command
    this.#program = startProgram(command, [...before, process.execPath, MAIN, ...this.args], {
      cwd: this.cwd,
    })
    const program = this.#program
    const isReady = async () => (await fetch(`${this.url}/healthz`)).ok
    await waitFor('start the server', isReady, { withinMs: START_MS, program })
  }

  #look() {
    try {
      this.#peakMib = Math.max(this.#peakMib, rssMib(this.#program.pid))
    } catch {
      // It is being killed.
    }
  }
}

function mayMount() {
  if (process.platform !== 'linux' || process.getuid() !== 0) return false
  return spawnSync('unshare', ['--mount', 'true'], { stdio: 'ignore' }).status === 0
}

/** The command before `node`, in a mount namespace of its own; where this user may not mount, names are resolved as ever. */
async function silentNames(bench) {
  if (!mayMount()) {
    console.log('This user may not mount: the name server is the one of this machine.')
    return ['env']
  }
  const socket = createSocket('udp4')
  socket.on('message', () => undefined)
  socket.bind(53, SILENT)
  await once(socket, 'listening')
  bench.defer(() => socket.close())
  const file = join(bench.directory, 'resolv.conf')
  writeFileSync(file, `nameserver ${SILENT}\n`)
  const script = `mount --bind '${file}' /etc/resolv.conf && exec "$@"`
  return ['unshare', '--mount', 'sh', '-c', script, 'sh']
}
