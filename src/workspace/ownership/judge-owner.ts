/**
 * Whether the process that owns a worker's directory still runs. A wrong "dead" destroys work and a wrong "alive" wastes
 * some disk, so a directory is left alone unless its owner is proven dead.
 *
 * | the owner's pids are ours | process | lock | verdict |
 * |---|---|---|---|
 * | yes | runs, with the recorded start | – | alive |
 * | yes | has ended, or another one has its pid | held | unknown: the two contradict each other |
 * | yes | has ended, or another one has its pid | free, or no lock file | dead |
 * | no: other machine, after its restart, other container | – | held | alive |
 * | no | – | free | dead; on another machine only after a long time without a beat |
 * | no | – | no lock file, or the lock cannot be tried | unknown |
 */

import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { readProcessStart, sharesPids, type ProcessIdentity } from '../../base/process-identity.ts'
import { WORKSPACE_MARKER_MAX_BYTES, WORKSPACE_OWNER_SILENT_MS } from '../limits.ts'
import { lockPathOf, WORKER_BEAT_FILE, WORKER_FILE, workerHome, type WorkerRecord } from './ownership.ts'
import { takeProcessLock, type ProcessLock } from './process-lock.ts'

export type OwnerVerdict =
  | { readonly verdict: 'alive' | 'unknown'; readonly reason: string }
  /** The caller holds the lock now, if there was one: no other process comes to the same verdict. */
  | { readonly verdict: 'dead'; readonly reason: string; readonly lock: ProcessLock | undefined }

export interface JudgeOwnerOptions {
  readonly root: string
  /** The name of the directory. */
  readonly token: string
  readonly judge: ProcessIdentity
  /** The current time of the file system. */
  readonly nowMs: number
}

export async function judgeOwner(options: JudgeOwnerOptions): Promise<OwnerVerdict> {
  const { root, token, judge } = options
  const record = readWorkerRecord(join(workerHome(root, token), WORKER_FILE))
  if (record?.token !== token) return { verdict: 'unknown', reason: 'it has no readable worker file' }
  if (sharesPids(record, judge)) {
    if ((await readProcessStart(record.pid)) === record.processStart) {
      return { verdict: 'alive', reason: `process ${record.pid} runs` }
    }
    return judgeByLock(options, { ifMissing: 'dead', because: `process ${record.pid} has ended` })
  }
  if (record.machine !== judge.machine && silenceMs(options) < WORKSPACE_OWNER_SILENT_MS) {
    return { verdict: 'unknown', reason: 'it belongs to another machine and was used recently' }
  }
  return judgeByLock(options, { ifMissing: 'unknown', because: 'its lock is free' })
}

async function judgeByLock(
  { root, token }: JudgeOwnerOptions,
  { ifMissing, because }: { readonly ifMissing: 'dead' | 'unknown'; readonly because: string },
): Promise<OwnerVerdict> {
  const path = lockPathOf(root, token)
  // Checked first, because trying the lock would make the file.
  if (!existsSync(path)) {
    return ifMissing === 'dead'
      ? { verdict: 'dead', reason: because, lock: undefined }
      : { verdict: 'unknown', reason: 'it has no lock file' }
  }
  try {
    const lock = await takeProcessLock(path)
    if (lock !== undefined) return { verdict: 'dead', reason: because, lock }
    return ifMissing === 'dead'
      ? { verdict: 'unknown', reason: `${because}, but its lock is held` }
      : { verdict: 'alive', reason: 'its lock is held' }
  } catch (error) {
    return { verdict: 'unknown', reason: `its lock cannot be tried: ${String(error)}` }
  }
}

/** The time since the last beat of the owner; `Infinity` if there was none. */
function silenceMs({ root, token, nowMs }: JudgeOwnerOptions): number {
  const beat = lstatSync(join(workerHome(root, token), WORKER_BEAT_FILE), { throwIfNoEntry: false })
  return beat === undefined ? Infinity : nowMs - beat.mtimeMs
}

const WORKER_RECORD = z.object({
  format: z.literal('perago-worker'),
  version: z.literal(1),
  token: z.string(),
  workerId: z.string(),
  pid: z.int().positive(),
  processStart: z.string(),
  machine: z.string(),
  pidNamespace: z.string(),
  hostname: z.string(),
  startedAt: z.string(),
})

function readWorkerRecord(path: string): WorkerRecord | undefined {
  try {
    if (lstatSync(path).size > WORKSPACE_MARKER_MAX_BYTES) return undefined
    return WORKER_RECORD.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data
  } catch {
    // Missing, unreadable or invalid JSON: the caller leaves the directory alone.
    return undefined
  }
}
