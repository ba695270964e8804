/** Removes the directories of dead workers: at a worker's start, and periodically. */

import { existsSync, lstatSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isAborted } from '../../base/abort-signals.ts'
import { messageOf } from '../../base/errors.ts'
import { WORKSPACE_COLLECT_INTERVAL_MS, WORKSPACE_OWNER_SILENT_MS } from '../limits.ts'
import { judgeOwner } from './judge-owner.ts'
import { isWorkerToken, lockPathOf, workerHome, type WorkspaceRoot } from './ownership.ts'
import { takeProcessLock, type ProcessLock } from './process-lock.ts'
import { discardTree, emptyTrash } from './remove-tree.ts'
import { keepReserve } from './reserve.ts'

export interface KeptDirectory {
  readonly token: string
  readonly reason: string
}

export interface CollectedOrphans {
  /** The dead workers whose directories were removed. */
  readonly removed: readonly string[]
  /** The others, each with the reason. */
  readonly kept: readonly KeptDirectory[]
}

/**
 * Checks every worker's directory of the root once. Directories with other names are left alone. Several processes may do
 * this at the same time.
 *
 * ```ts
 * const { removed } = await collectOrphans(root)
 * ```
 */
export async function collectOrphans(
  root: WorkspaceRoot,
  options: { readonly signal?: AbortSignal; readonly isDryRun?: boolean } = {},
): Promise<CollectedOrphans> {
  const { directory } = root
  const { signal, isDryRun = false } = options
  const nowMs = root.beat()
  if (isDryRun) return judgeAll(root, { nowMs, signal, isDryRun })
  await emptyTrash(directory, {
    signal,
    onTrouble: (path, error) => root.warnOnce(path, 'could not remove a directory from the trash', error),
  })
  const collected = await judgeAll(root, { nowMs, signal, isDryRun })
  await removeStrayLocks(root, nowMs, signal)
  keepReserve(directory)
  return collected
}

async function judgeAll(root: WorkspaceRoot, of: Omit<CollectRequest, 'token'>): Promise<CollectedOrphans> {
  const { directory } = root
  const removed: string[] = []
  const kept: KeptDirectory[] = []
  const names = await readdir(join(directory, 'workers'))
  for (const token of names.filter((name) => isWorkerToken(name) && name !== root.token)) {
    of.signal?.throwIfAborted()
    const reason = await collectOne(root, { token, ...of })
    if (reason === undefined) removed.push(token)
    else kept.push({ token, reason })
  }
  return { removed, kept }
}

/** Collects periodically until the signal is aborted; then resolves. Failures are logged. */
export async function collectPeriodically(
  root: WorkspaceRoot,
  options: { readonly signal: AbortSignal; readonly intervalMs?: number },
): Promise<void> {
  const { signal, intervalMs = WORKSPACE_COLLECT_INTERVAL_MS } = options
  while (!signal.aborted) {
    try {
      await collectOrphans(root, { signal })
    } catch (error) {
      if (isAborted(signal)) return
      root.logger.warn('could not look for directories of dead workers', { error })
    }
    await root.clock.sleep(intervalMs, signal).catch(() => undefined)
  }
}

interface CollectRequest {
  readonly token: string
  readonly nowMs: number
  readonly signal: AbortSignal | undefined
  /** Only judged. */
  readonly isDryRun: boolean
}

/** `undefined` if it was removed, else why it stays: a directory that cannot be removed must not keep the others. */
async function collectOne(
  root: WorkspaceRoot,
  { token, nowMs, signal, isDryRun }: CollectRequest,
): Promise<string | undefined> {
  const { directory, identity, logger } = root
  const home = workerHome(directory, token)
  try {
    const owner = await judgeOwner({ root: directory, token, judge: identity, nowMs })
    if (owner.verdict !== 'dead') return owner.reason
    if (isDryRun) {
      owner.lock?.release()
      return undefined
    }
    await removeOrphan(root, { token, lock: owner.lock, signal })
    logger.info('removed the directory of a dead worker', { worker: token, reason: owner.reason })
    return undefined
  } catch (error) {
    if (signal !== undefined && isAborted(signal)) throw error
    root.warnOnce(home, 'could not remove the directory of a dead worker', error)
    return `it could not be removed: ${messageOf(error)}`
  }
}

async function removeOrphan(
  { directory }: WorkspaceRoot,
  of: {
    readonly token: string
    readonly lock: ProcessLock | undefined
    readonly signal: AbortSignal | undefined
  },
): Promise<void> {
  const home = workerHome(directory, of.token)
  try {
    await discardTree(directory, home, of.signal)
  } finally {
    // What is left is in the trash, and belongs to nobody.
    if (!existsSync(home)) await rm(lockPathOf(directory, of.token), { force: true }).catch(() => undefined)
    of.lock?.release()
  }
}

/**
 * A process that dies between taking its lock and making its directory leaves the lock file. A new one is left alone: its
 * process may be about to take the lock.
 */
async function removeStrayLocks(
  root: WorkspaceRoot,
  nowMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { directory } = root
  for (const name of await readdir(join(directory, 'locks'))) {
    signal?.throwIfAborted()
    const token = name.slice(0, -'.lock'.length)
    if (name !== `${token}.lock` || !isWorkerToken(token)) continue
    try {
      await removeStrayLock(directory, token, nowMs)
    } catch (error) {
      root.warnOnce(lockPathOf(directory, token), 'could not remove the lock file of a dead worker', error)
    }
  }
}

async function removeStrayLock(directory: string, token: string, nowMs: number): Promise<void> {
  const path = lockPathOf(directory, token)
  const found = lstatSync(path, { throwIfNoEntry: false })
  const hasHome = lstatSync(workerHome(directory, token), { throwIfNoEntry: false }) !== undefined
  if (found === undefined || hasHome || nowMs - found.mtimeMs < WORKSPACE_OWNER_SILENT_MS) return
  const lock = await takeProcessLock(path).catch(() => undefined)
  try {
    if (lock !== undefined) await rm(path, { force: true })
  } finally {
    lock?.release()
  }
}
