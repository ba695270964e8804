/**
 * Which process this is, so that another one can tell later whether it still runs. A pid alone is not enough: pids are
 * reused, and each container has its own.
 */

import { execFile } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { WORKSPACE_PROCESS_QUERY_MS } from '../limits.ts'

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

export async function identifyThisProcess(): Promise<ProcessIdentity> {
  return {
    pid: process.pid,
    processStart: (await readProcessStart(process.pid)) ?? 'unknown',
    machine: readFirst('/proc/sys/kernel/random/boot_id') ?? `host:${hostname()}`,
    pidNamespace: readLink('/proc/self/ns/pid') ?? 'none',
    hostname: hostname(),
  }
}

/** Whether a pid means the same process to both. */
export function sharesPids(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return a.machine === b.machine && a.pidNamespace === b.pidNamespace
}

/** When the process with this pid started; `undefined` if none runs. */
export async function readProcessStart(pid: number): Promise<string | undefined> {
  return process.platform === 'linux' ? readFromProc(pid) : readFromPs(pid)
}

const STATE_FIELD = 0
const START_FIELD = 19

/** The fields of /proc/<pid>/stat after the name, which is in parentheses and may itself have parentheses. */
function readStatFields(pid: number): readonly string[] | undefined {
  const stat = readFirst(`/proc/${pid}/stat`)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** When a process started, in clock ticks after the start of the machine; `undefined` if it cannot be read. */
export function readStartTicks(pid: number): number | undefined {
  const ticks = Number(readStatFields(pid)?.[START_FIELD])
  return Number.isFinite(ticks) ? ticks : undefined
}

function readFromProc(pid: number): string | undefined {
  const fields = readStatFields(pid)
  if (fields === undefined) return undefined
  // A zombie has ended; only its parent has not read its exit status yet.
  const hasEnded = ['Z', 'X', 'x'].includes(fields[STATE_FIELD] ?? '')
  return hasEnded ? undefined : fields[START_FIELD]
}

function readFromPs(pid: number): Promise<string | undefined> {
  const options = { timeout: WORKSPACE_PROCESS_QUERY_MS, env: { ...process.env, LC_ALL: 'C' } }
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

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    // Not on this system.
    return undefined
  }
}
