// Starts a server program, waits for its `ready URL` line, and always stops it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

const READY_MS = 60_000
const STOP_MS = 20_000

const ENDED_BY = { SIGINT: 130, SIGTERM: 143 }

/** Without it, a signal ends this process at once, and what it has started stays. */
export function stopAllOnSignal() {
  for (const [signal, code] of Object.entries(ENDED_BY)) process.once(signal, () => process.exit(code))
}

/** Resolves once the program has printed its address. */
export async function startServing(command, args, { cwd, env = process.env } = {}) {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  let printed = ''
  const killWithUs = () => signalGroup(child, 'SIGKILL')
  process.once('exit', killWithUs)
  const url = await new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      signalGroup(child, 'SIGKILL')
      reject(new Error(`${command}: not ready within ${READY_MS} ms. It printed: ${printed}`))
    }, READY_MS)
    const settle = (action) => {
      clearTimeout(late)
      action()
    }
    child.once('error', (error) => settle(() => reject(error)))
    child.once('exit', (code, signal) =>
      settle(() => reject(new Error(`${command}: ended with ${code ?? signal} before it was ready`))),
    )
    child.stdout.on('data', (chunk) => {
      printed += chunk
      process.stdout.write(chunk)
      const ready = /^ready (\S+)$/m.exec(printed)
      if (ready !== null) settle(() => resolve(ready[1]))
    })
  })
  return { url, stop: () => stop(child, killWithUs) }
}

/** Runs a program to its end; resolves with its exit code, or the signal that ended it, and with what it printed. */
export async function runToItsEnd(command, args, { cwd, maxMs }) {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  const killWithUs = () => signalGroup(child, 'SIGKILL')
  process.once('exit', killWithUs)
  const late = setTimeout(killWithUs, maxMs)
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text
    process.stdout.write(text)
  })
  const [code, signal] = await once(child, 'close')
  clearTimeout(late)
  process.off('exit', killWithUs)
  return { ended: code ?? signal, printed }
}

/** Stops the program and returns the exit code; if it does not stop, it is killed, which is an error. */
async function stop(child, killWithUs) {
  let killed = false
  const late = setTimeout(() => {
    killed = true
    signalGroup(child, 'SIGKILL')
  }, STOP_MS)
  const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : []
  signalGroup(child, 'SIGTERM')
  await ended
  clearTimeout(late)
  process.off('exit', killWithUs)
  if (killed) throw new Error(`${child.spawnfile}: did not end within ${STOP_MS} ms of SIGTERM`)
  return child.exitCode
}

// The program may be a child of `npx` and a shell: signal the whole group.
function signalGroup(child, signal) {
  try {
    process.kill(-child.pid, signal)
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}
