/**
 * Which process this is, so that another one can tell later whether it still runs. A pid alone is not enough: pids are
 * reused, and each container has its own.
 */

import { execFile } from 'node:child_process'
import { closeSync, openSync, readFileSync, readlinkSync, readSync } from 'node:fs'
import { hostname } from 'node:os'
import { PROCESS_QUERY_MS } from './limits.ts'

export interface ProcessIdentity {
  readonly pid: number
  /** When the process started, in a form that depends on the system; compare for equality only. */
  readonly processStart: string
  /** Changes when the machine restarts; pids can be compared if it is equal … */
  readonly machine: string
  /** … and this as well. */
  readonly pidNamespace: string
  readonly hostname: string
}

const BY_HOSTNAME = 'host:'

export async function identifyThisProcess(): Promise<ProcessIdentity> {
  return {
    pid: process.pid,
    processStart: (await readProcessStart(process.pid)) ?? 'unknown',
    machine: readFirst('/proc/sys/kernel/random/boot_id') ?? BY_HOSTNAME + hostname(),
    pidNamespace: readLink('/proc/self/ns/pid') ?? 'none',
    hostname: hostname(),
  }
}

/** Whether a pid means the same process to both. */
export function sharesPids(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return a.machine === b.machine && a.pidNamespace === b.pidNamespace
}

/**
 * Whether a process has certainly ended, by what another one wrote down about it. `false` also where this cannot be known from
 * here: it belongs to another machine or container, or this system does not tell.
 */
export async function hasCertainlyEnded(written: ProcessIdentity): Promise<boolean> {
  const self = await identifyThisProcess()
  if (!isComparable(self) || !sharesPids(self, written)) return false
  const start = await readProcessStart(written.pid)
  return start === undefined ? !isThere(written.pid) : start !== written.processStart
}

/** Whether what identifies a process differs between machines and containers; a name of a host may be used twice. */
function isComparable({ machine, pidNamespace, processStart }: ProcessIdentity): boolean {
  const isOwnProc = readLink('/proc/self') === String(process.pid)
  return (
    isOwnProc && !machine.startsWith(BY_HOSTNAME) && pidNamespace !== 'none' && processStart !== 'unknown'
  )
}

/** Other users' processes may be hidden below /proc, and a zombie may have threads that run. */
function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** When the process with this pid started; `undefined` if none runs. */
export async function readProcessStart(pid: number): Promise<string | undefined> {
  return process.platform === 'linux' ? readFromProc(pid) : readFromPs(pid)
}

const STATE_FIELD = 0
const FLAGS_FIELD = 6
const START_FIELD = 19
const KERNEL_THREAD = 0x0020_0000

/** The fields of /proc/<pid>/stat after the name, which is in parentheses and may itself have parentheses. */
function readStatFields(pid: number): readonly string[] | undefined {
  const stat = readShort(`/proc/${pid}/stat`)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

export interface ProcessStatus {
  /** When it started, in clock ticks after the start of the machine. */
  readonly startTicks: number
  /** Its first thread has ended; others may still run. */
  readonly isZombie: boolean
  readonly isOfKernel: boolean
}

/** `undefined` if there is no such process, or it cannot be read. */
export function readProcessStatus(pid: number): ProcessStatus | undefined {
  const fields = readStatFields(pid)
  const startTicks = Number(fields?.[START_FIELD])
  if (fields === undefined || !Number.isFinite(startTicks)) return undefined
  return {
    startTicks,
    isZombie: fields[STATE_FIELD] === 'Z',
    isOfKernel: (Number(fields[FLAGS_FIELD]) & KERNEL_THREAD) !== 0,
  }
}

function readFromProc(pid: number): string | undefined {
  const fields = readStatFields(pid)
  if (fields === undefined) return undefined
  // A zombie has ended; only its parent has not read its exit status yet.
  const hasEnded = ['Z', 'X', 'x'].includes(fields[STATE_FIELD] ?? '')
  return hasEnded ? undefined : fields[START_FIELD]
}

function readFromPs(pid: number): Promise<string | undefined> {
  const options = { timeout: PROCESS_QUERY_MS, env: { ...process.env, LC_ALL: 'C' } }
  return new Promise((resolve, reject) => {
    execFile('ps', ['-o', 'lstart=', '-p', String(pid)], options, (error, stdout) => {
      const start = stdout.trim()
      if (start !== '') resolve(start)
      // Exit code 1 without output means that there is no such process.
      else if (error === null || error.code === 1) resolve(undefined)
      else reject(new Error(`ask ps for process ${pid}: ${error.message}`, { cause: error }))
    })
  })
}

function readFirst(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    // Missing or not readable: not known in either case.
    return undefined
  }
}

const SHORT = Buffer.allocUnsafe(4_096)

/** Like \`readFirst\`, in half the time; some hundred processes are read in a row. */
function readShort(path: string): string | undefined {
  try {
    const file = openSync(path, 'r')
    try {
      return SHORT.toString('latin1', 0, readSync(file, SHORT)).trim()
    } finally {
      closeSync(file)
    }
  } catch {
    // It has ended, or is not readable.
    return undefined
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    // Not on this system.
    return undefined
  }
}
