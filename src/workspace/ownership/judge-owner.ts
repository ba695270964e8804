/**
 * Whether the process that owns a worker's directory still lives. A wrong "dead" destroys somebody's work and a wrong
 * "alive" wastes some disk, so everything that is not proven is left alone.
 *
 * | the owner's pids are ours | process | lock | verdict |
 * |---|---|---|---|
 * | yes | runs, with the recorded start | – | alive |
 * | yes | is gone, or another one has its pid | held | unknown: the two contradict each other |
 * | yes | is gone, or another one has its pid | free, or no lock file | dead |
 * | no: other machine, other start of it, other container | – | held | alive |
 * | no | – | free | dead; from another machine only after a long silence as well |
 * | no | – | no lock file, or cannot be tried | unknown |
 */

import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { WORKSPACE_MARKER_MAX_BYTES, WORKSPACE_OWNER_SILENT_MS } from '../limits.ts'
import { lockPathOf, WORKER_BEAT_FILE, WORKER_FILE, workerHome, type WorkerRecord } from './ownership.ts'
import { readProcessStart, sharesPids, type ProcessIdentity } from './process-identity.ts'
import { takeProcessLock, type ProcessLock } from './process-lock.ts'

export type OwnerVerdict =
  | { readonly verdict: 'alive'; readonly reason: string }
  | { readonly verdict: 'unknown'; readonly reason: string }
  /** The lock, where there was one, is ours now: nobody else comes to the same verdict meanwhile. */
  | { readonly verdict: 'dead'; readonly reason: string; readonly lock: ProcessLock | undefined }

export interface JudgeOwnerOptions {
  readonly root: string
  /** The name of the directory to be judged. */
  readonly token: string
  readonly judge: ProcessIdentity
  /** The file system's time of now. */
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
    return judgeByLock(options, { ifMissing: 'dead', because: `process ${record.pid} is gone` })
  }
  if (record.machine !== judge.machine && silenceMs(options) < WORKSPACE_OWNER_SILENT_MS) {
    return { verdict: 'unknown', reason: 'it belongs to another machine and was in use not long ago' }
  }
  return judgeByLock(options, { ifMissing: 'unknown', because: 'its lock is free' })
}

async function judgeByLock(
  { root, token }: JudgeOwnerOptions,
  { ifMissing, because }: { readonly ifMissing: 'dead' | 'unknown'; readonly because: string },
): Promise<OwnerVerdict> {
  const path = lockPathOf(root, token)
  // Asked first, for trying the lock would make the file.
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

/** How long the owner has not given a sign of life; as long as you like when it never did. */
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
    // Missing, unreadable or no JSON: the caller does not recognise the directory then, and leaves it alone.
    return undefined
  }
}
