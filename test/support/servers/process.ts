// Runs one server as a child process: in its own directory, on loopback, always stopped.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, chownSync, constants, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { CannotStart } from './real-server.ts'

const STOP_MS = 10_000
const PAUSE_MS = 50
const TAIL_CHARACTERS = 2_000

export interface Account {
  readonly uid: number
  readonly gid: number
}

export interface ProcessOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly directory: string
  readonly environment?: Readonly<Record<string, string>>
  readonly account?: Account | undefined
  /** What asks this server to end quickly and properly. */
  readonly stopSignal: NodeJS.Signals
  readonly readyMs: number
  readonly check: (signal: AbortSignal) => Promise<void>
}

export interface RunningProcess {
  readonly pid: number
  /** Ends the process and removes its directory. May be called twice. */
  readonly close: () => Promise<void>
}

/** Resolves when the server answers; when it does not in time, it is stopped and its last words are in the error. */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
  const child = spawn(options.command, options.args, {
    cwd: options.directory,
    env: { ...process.env, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.account ?? {}),
  })
  const lastWords = collectTail(child)
  const killWithUs = (): void => void child.kill('SIGKILL')
  process.once('exit', killWithUs)
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= stop(child, options.stopSignal).finally(() => {
      process.off('exit', killWithUs)
      removeDirectory(options.directory)
    })
    return closing
  }
  try {
    await spawned(child)
    await waitUntilReady(child, options)
    return { pid: child.pid ?? 0, close }
  } catch (error) {
    await close()
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`start ${options.command}: ${why}. It said: ${lastWords()}`, { cause: error })
  }
}

/** A directory of our own under the system's temporary one, owned by the account the server runs under. */
export function makeDirectory(name: string, account?: Account): string {
  const directory = mkdtempSync(join(tmpdir(), `perago-${name}-`))
  if (account !== undefined) chownSync(directory, account.uid, account.gid)
  return directory
}

export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
}

/** A port that was free a moment ago. Servers that take port 0 themselves do not need it. */
export async function findFreePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('find a free port: no address')
  return address.port
}

/** The program's full path; `CannotStart` with what to install when it is nowhere. */
export function findProgram(name: string, further: readonly string[], install: string): string {
  const places = [...(process.env.PATH ?? '').split(delimiter), ...further].filter((place) => place !== '')
  const found = places.map((place) => join(place, name)).find(isExecutable)
  if (found === undefined) throw new CannotStart(`no \`${name}\` here (Debian: ${install})`)
  return found
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The folders inside `parent`, newest version last; none when it is not there. */
export function listFolders(parent: string): string[] {
  try {
    return readdirSync(parent)
      .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
      .map((name) => join(parent, name))
  } catch {
    return []
  }
}

/** Some servers refuse to run as root; they run under the account their package made. */
export function findAccount(name: string): Account | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((candidate) => candidate.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

/** Runs a program to its end and gives what it printed. */
export async function runProgram(
  command: string,
  args: readonly string[],
  options: { readonly timeoutMs: number; readonly account?: Account | undefined; readonly cwd?: string },
): Promise<string> {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: options.timeoutMs,
    killSignal: 'SIGKILL',
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.account ?? {}),
  })
  const printed = collectTail(child)
  await spawned(child)
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  if (code !== 0)
    throw new Error(`run ${command}: ended with ${String(code ?? signal)}. It said: ${printed()}`)
  return printed()
}

async function spawned(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) await once(child, 'spawn')
}

async function waitUntilReady(child: ChildProcess, options: ProcessOptions): Promise<void> {
  const bound = AbortSignal.timeout(options.readyMs)
  let lastError: unknown
  while (!bound.aborted) {
    if (hasEnded(child)) throw new Error(`it ended with ${String(child.exitCode ?? child.signalCode)}`)
    try {
      await options.check(bound)
      return
    } catch (error) {
      lastError = error
      await wait(PAUSE_MS)
    }
  }
  throw new Error(`it was not ready within ${String(options.readyMs)} ms`, { cause: lastError })
}

async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.pid === undefined || hasEnded(child)) return
  const ended = once(child, 'exit')
  child.kill(signal)
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await ended
  clearTimeout(late)
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

function collectTail(child: ChildProcess): () => string {
  let tail = ''
  const add = (chunk: Buffer): void => {
    tail = (tail + chunk.toString()).slice(-TAIL_CHARACTERS)
  }
  child.stdout?.on('data', add)
  child.stderr?.on('data', add)
  return () => tail.trim()
}
