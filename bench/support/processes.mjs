// Programs that a bench starts: in their own directories, on free loopback ports, always ended.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clearInterval, setInterval } from 'node:timers'
import { setTimeout as wait } from 'node:timers/promises'

const STOP_MS = 15_000
const LOOK_MS = 100
const TAIL_CHARACTERS = 3_000
const PSS_LOOK_MS = 250
/** The only inherited variables: others of the caller could change the measurement. */
const BARE = Object.fromEntries(
  ['PATH', 'HOME', 'LANG', 'TMPDIR'].flatMap((name) =>
    name in process.env ? [[name, process.env[name]]] : [],
  ),
)
/** Ticks a second in /proc: Linux shows every program the same number. */
const TICKS = 100

/** Running programs; none of them outlives the bench. */
const running = new Set()
process.once('exit', () => {
  for (const kill of running) kill()
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

/** Clean-up at the end of a bench, last in first out, however it ends. */
export function openBench(name) {
  const closing = []
  const directory = mkdtempSync(join(tmpdir(), `perago-bench-${name}-`))
  closing.push(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }))
  return {
    directory,
    defer: (close) => closing.push(close),
    async close() {
      for (let close = closing.pop(); close !== undefined; close = closing.pop()) await close()
    },
  }
}

/** Starts a program with a minimal environment and the given variables; `close` ends it. */
export function startProgram(command, args, { cwd, env, ipc = false } = {}) {
  const child = spawn(command, args, {
    cwd,
    env: { ...BARE, ...env },
    stdio: ['ignore', 'pipe', 'pipe', ...(ipc ? ['ipc'] : [])],
    // Its own process group: child processes are stopped and ended with it.
    detached: true,
  })
  const signalGroup = (signal) => {
    try {
      process.kill(-child.pid, signal)
    } catch {
      // All processes have ended.
    }
  }
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      said = (said + chunk).slice(-TAIL_CHARACTERS)
    })
  }
  const gone = once(child, 'exit').catch(() => undefined)
  const kill = () => signalGroup('SIGKILL')
  running.add(kill)
  let closing
  return {
    child,
    pid: child.pid,
    said: () => said,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    /** Uses no CPU until it is resumed. */
    pause: () => signalGroup('SIGSTOP'),
    resume: () => signalGroup('SIGCONT'),
    close() {
      closing ??= (async () => {
        signalGroup('SIGCONT')
        if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
        const late = setTimeout(kill, STOP_MS)
        await gone
        clearTimeout(late)
        // Some programs do not end their children.
        kill()
        running.delete(kill)
      })()
      return closing
    },
  }
}

/** Waits until `look` returns a value; fails when the program ends or the time is over. */
export async function waitFor(what, look, { withinMs, program, lookMs = LOOK_MS }) {
  const deadline = performance.now() + withinMs
  let last
  while (performance.now() < deadline) {
    if (program?.hasEnded()) throw new Error(`${what}: the program ended. It said: ${program.said()}`)
    try {
      const found = await look()
      if (found !== undefined && found !== false) return found
    } catch (error) {
      last = error
    }
    await wait(lookMs)
  }
  throw new Error(`${what}: not within ${withinMs} ms. It said: ${program?.said() ?? ''}`, { cause: last })
}

export async function findFreePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

/** Processor time that a process and all below it have used so far, those that have ended included. */
export function cpuMs(pid) {
  let ticks = 0
  for (const each of treeOf(pid)) {
    const fields = statOf(each)
    // utime, stime, and those of children that were waited for.
    if (fields !== undefined) for (const index of [11, 12, 13, 14]) ticks += Number(fields[index])
  }
  return (ticks * 1000) / TICKS
}

/** The process that listens at an address of this machine; `undefined` if it cannot be told. */
export function listenerPid(url) {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0')
  const LISTENS = '0A'
  const sockets = ['/proc/net/tcp', '/proc/net/tcp6']
    .flatMap((path) => readFileSync(path, 'utf8').split('\n'))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === LISTENS && local.endsWith(`:${port}`))
    .map((fields) => `socket:[${fields[9]}]`)
  const holds = (pid) => {
    try {
      return readdirSync(`/proc/${pid}/fd`).some((fd) => sockets.includes(linkOf(`/proc/${pid}/fd/${fd}`)))
    } catch {
      // It has ended, or belongs to somebody else.
      return false
    }
  }
  return readdirSync('/proc').map(Number).filter(Number.isInteger).find(holds)
}

function linkOf(path) {
  try {
    return readlinkSync(path)
  } catch {
    // Closed meanwhile.
    return ''
  }
}

/** How many processes there are, from this one down. */
export function processCount(pid) {
  return treeOf(pid).length
}

/** Resident memory of a process and all below it. */
export function rssMib(pid) {
  return treeOf(pid).reduce((sum, each) => sum + statusMib(each, 'VmRSS'), 0)
}

/** The sum of each process's peak, which need not be at the same time. */
export function peakRssMib(pid) {
  return treeOf(pid).reduce((sum, each) => sum + statusMib(each, 'VmHWM'), 0)
}

/** Resets the peak. */
export function resetPeakRss(pid) {
  for (const each of treeOf(pid)) writeFileSync(`/proc/${each}/clear_refs`, '5')
}

/** Memory of a process and all below it, shared memory counted once. */
export function pssMib(pid) {
  return treeOf(pid).reduce((sum, each) => sum + procMib(`/proc/${each}/smaps_rollup`, 'Pss'), 0)
}

/** Samples the memory; returns the most seen. */
export function watchPss(pid) {
  let most = 0
  const look = () => {
    most = Math.max(most, pssMib(pid))
  }
  const timer = setInterval(look, PSS_LOOK_MS).unref()
  return () => {
    clearInterval(timer)
    look()
    return most
  }
}

function treeOf(root) {
  const children = new Map()
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    const parent = Number.isInteger(pid) ? Number(statOf(pid)?.[1]) : Number.NaN
    if (!Number.isNaN(parent)) children.set(parent, [...(children.get(parent) ?? []), pid])
  }
  const found = [root]
  for (const pid of found) found.push(...(children.get(pid) ?? []))
  return found
}

/** The fields after the name: state, parent, … */
function statOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
  } catch {
    return undefined
  }
}

function statusMib(pid, field) {
  return procMib(`/proc/${pid}/status`, field)
}

function procMib(path, field) {
  try {
    const line = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(path, 'utf8'))
    return line === null ? 0 : Number(line[1]) / 1024
  } catch {
    return 0
  }
}
