/**
 * Which process this is, so that another one can tell later whether it still lives. A pid alone does not: pids are
 * used again, and each container counts its own.
 */

import { execFile } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { WORKSPACE_PROCESS_QUERY_MS } from '../limits.ts'

export interface ProcessIdentity {
  readonly pid: number
  /** When the process started, in whatever form this system tells it; compare for equality only. */
  readonly processStart: string
  /** Pids can be compared on one machine between two of its starts. */
  readonly machine: string
  /** And within one namespace of pids. */
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

/** Whether pids mean the same to both: what this process sees of a pid says something about the other one's. */
export function sharesPids(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return a.machine === b.machine && a.pidNamespace === b.pidNamespace
}

/** When the process of this pid started; `undefined` when there is none that still runs. */
export async function readProcessStart(pid: number): Promise<string | undefined> {
  return process.platform === 'linux' ? readFromProc(pid) : readFromPs(pid)
}

/** Fields behind the name, which is in parentheses and may hold anything, parentheses too. */
const STATE_FIELD = 0
const START_FIELD = 19

function readFromProc(pid: number): string | undefined {
  const stat = readFirst(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // A zombie has ended; only its parent has not asked for its exit status yet.
  const hasEnded = ['Z', 'X', 'x'].includes(fields[STATE_FIELD] ?? '')
  return hasEnded ? undefined : fields[START_FIELD]
}

function readFromPs(pid: number): Promise<string | undefined> {
  const options = { timeout: WORKSPACE_PROCESS_QUERY_MS, env: { ...process.env, LC_ALL: 'C' } }
  return new Promise((resolve, reject) => {
    execFile('ps', ['-o', 'lstart=', '-p', String(pid)], options, (error, stdout) => {
      const start = stdout.trim()
      if (start !== '') resolve(start)
      // Exit code 1 without a word is how `ps` says that there is no such process.
      else if (error === null || error.code === 1) resolve(undefined)
      else reject(new Error(`ask ps for process ${pid}: ${error.message}`, { cause: error }))
    })
  })
}

function readFirst(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    // Not there, or not for us: the caller treats both as not known.
    return undefined
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    // No such thing on this system.
    return undefined
  }
}
