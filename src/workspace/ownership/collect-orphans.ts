/** Removes the directories of dead workers: at a worker's start, and periodically. */

import { lstatSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isAborted } from '../../base/abort-signals.ts'
import { messageOf } from '../../base/errors.ts'
import { WORKSPACE_COLLECT_INTERVAL_MS, WORKSPACE_OWNER_SILENT_MS } from '../limits.ts'
import { judgeOwner } from './judge-owner.ts'
import { isWorkerToken, lockPathOf, workerHome, type WorkspaceRoot } from './ownership.ts'
import { takeProcessLock, type ProcessLock } from './process-lock.ts'
import { discardTree, emptyTrash } from './remove-tree.ts'

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
  options: { readonly signal?: AbortSignal } = {},
): Promise<CollectedOrphans> {
  const { directory } = root
  const nowMs = root.beat()
  await emptyTrash(directory, options.signal)
  const removed: string[] = []
  const kept: KeptDirectory[] = []
  const names = await readdir(join(directory, 'workers'))
  for (const token of names.filter((name) => isWorkerToken(name) && name !== root.token)) {
    options.signal?.throwIfAborted()
    const owner = await judgeOwner({ root: directory, token, judge: root.identity, nowMs })
    if (owner.verdict !== 'dead') {
      kept.push({ token, reason: owner.reason })
      continue
    }
    const trouble = await removeOrphan(directory, token, owner.lock)
    if (trouble === undefined) {
      removed.push(token)
      root.logger.info('removed the directory of a dead worker', { worker: token, reason: owner.reason })
    } else {
      kept.push({ token, reason: `it could not be removed: ${trouble}` })
      root.logger.warn('could not remove the directory of a dead worker', { worker: token, trouble })
    }
  }
  await removeStrayLocks(root, nowMs, options.signal)
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

/** Returns the error, if any: a directory that cannot be removed must not keep the others. */
async function removeOrphan(
  root: string,
  token: string,
  lock: ProcessLock | undefined,
): Promise<string | undefined> {
  try {
    await discardTree(root, workerHome(root, token))
    await rm(lockPathOf(root, token), { force: true })
    return undefined
  } catch (error) {
    return messageOf(error)
  } finally {
    lock?.release()
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
    const path = lockPathOf(directory, token)
    const found = lstatSync(path, { throwIfNoEntry: false })
    const hasHome = lstatSync(workerHome(directory, token), { throwIfNoEntry: false }) !== undefined
    if (found === undefined || hasHome || nowMs - found.mtimeMs < WORKSPACE_OWNER_SILENT_MS) continue
    const lock = await takeProcessLock(path).catch(() => undefined)
    if (lock === undefined) continue
    await rm(path, { force: true })
    lock.release()
  }
}
