/**
 * Where an attempt's directory comes from and what becomes of it: kept by an earlier attempt, or laid out from what lies
 * on the disk and from the repository; left to the next attempt, or removed.
 */

import type { Clock } from '../../base/clock.ts'
import { isPeragoError } from '../../base/errors.ts'
import type { CommitRef } from '../../base/ids.ts'
import type { Logger } from '../../base/logger.ts'
import type { StoredChecksums } from '../../publication/planned-changes.ts'
import type { VersionedRepo } from '../../publication/ports.ts'
import { cachedFrom, type ContentCache } from '../../workspace/cache/content-cache.ts'
import type { ChangeSet } from '../../workspace/comparing/diff.ts'
import { fetchFrom } from '../../workspace/laying-out/file-provider.ts'
import { readProcessMoment, type ProcessMoment } from '../../workspace/hand-over/find-holder.ts'
import { handOver } from '../../workspace/hand-over/hand-over.ts'
import { layOut, type AttemptWorkspace, type LayOutOptions } from '../../workspace/laying-out/lay-out.ts'
import type { WorkspaceAttempt, WorkspaceRoot } from '../../workspace/ownership/ownership.ts'
import type { WorkspaceSpec } from '../../tasks/workspace-spec.ts'
import { openObjectSource } from './object-source.ts'
import type { WarmDirectories, WarmKey } from './warm-directories.ts'

/** What is kept from one attempt for another; each may be left out. */
export interface KeptForLater {
  readonly cache?: ContentCache
  readonly warm?: WarmDirectories
}

export interface AttemptDirectoryOrder extends KeptForLater {
  readonly root: WorkspaceRoot
  readonly attempt: WorkspaceAttempt
  readonly repo: VersionedRepo
  readonly ref: CommitRef
  readonly spec: WorkspaceSpec
  readonly clock: Clock
  readonly logger: Logger
  readonly signal: AbortSignal
}

export interface LeftDirectory {
  readonly ref: CommitRef
  readonly changes: ChangeSet
  readonly stored: StoredChecksums
}

/** The directory of one attempt. */
export interface AttemptDirectory {
  readonly workspace: AttemptWorkspace
  /** Where its files came from. */
  readonly origin: {
    /** The whole directory, from an earlier attempt. */
    readonly isWarm: boolean
    readonly cachedFiles: number
    readonly cachedBytes: number
  }
  /** Whether the comparison has to be told that the directory may be left to another attempt. */
  readonly wantsHandOver: boolean
  /**
   * Says of which commit it is, now that this was confirmed: what leaves it to whoever comes next with that commit. It is
   * to be run, before `cleanUp`; that may be later, for it takes its time, and whoever comes next waits for it.
   */
  announce(left: LeftDirectory): () => Promise<boolean>
  /** Keeps its contents where there is a cache, and removes it where it was not left. To be called at last. */
  cleanUp(): Promise<void>
}

export async function openAttemptDirectory(order: AttemptDirectoryOrder): Promise<AttemptDirectory> {
  const { warm, attempt, signal, spec, ref, repo } = order
  const since = warm === undefined ? undefined : readProcessMoment()
  const taken = await warm?.take({ repository: repo.repository, ref, spec }, { attempt, signal })
  const workspace = taken ?? (await layOutFromSource(order))
  return new OpenDirectory(order, { workspace, isWarm: taken !== undefined, since })
}

async function layOutFromSource(order: AttemptDirectoryOrder): Promise<AttemptWorkspace> {
  const { root, attempt, repo, ref, spec, signal, logger, cache, warm } = order
  const source = openObjectSource(repo, ref)
  const fetching = fetchFrom(source)
  const options: LayOutOptions = {
    ...{ root, attempt, source, spec, signal, logger },
    provider: cache === undefined ? fetching : cachedFrom(cache, fetching),
    // What is kept for tasks that may come gives way to the one that is here.
    makeRoom: async (bytes) => {
      await warm?.clear()
      await cache?.makeRoom(bytes)
    },
  }
  try {
    return await layOut(options)
  } catch (error) {
    // It filled up on the way: the next attempt shall find room.
    if (isPeragoError(error) && error.code === 'workspace/disk-full') await warm?.clear()
    throw error
  }
}

class OpenDirectory implements AttemptDirectory {
  readonly workspace: AttemptWorkspace
  readonly origin: AttemptDirectory['origin']
  readonly #order: AttemptDirectoryOrder
  readonly #since: ProcessMoment
  #isLeft = false

  constructor(
    order: AttemptDirectoryOrder,
    from: { readonly workspace: AttemptWorkspace; readonly isWarm: boolean; readonly since: ProcessMoment },
  ) {
    this.#order = order
    this.#since = from.since
    this.workspace = from.workspace
    this.origin = { isWarm: from.isWarm, ...(from.isWarm ? NOTHING_CACHED : countCached(from.workspace)) }
  }

  get wantsHandOver(): boolean {
    return this.#order.warm !== undefined
  }

  announce(left: LeftDirectory): () => Promise<boolean> {
    const { warm, repo, spec } = this.#order
    if (warm === undefined) return () => Promise.resolve(false)
    const key = { repository: repo.repository, ref: left.ref, spec }
    const announced = warm.announce(key)
    return async () => {
      try {
        return await this.#leave(warm, key, left)
      } finally {
        announced.over()
      }
    }
  }

  async #leave(warm: WarmDirectories, key: WarmKey, { changes, stored }: LeftDirectory): Promise<boolean> {
    const { cache, logger } = this.#order
    const left = await handOver({ workspace: this.workspace, changes, stored, since: this.#since })
    if (!left.isHandedOver) {
      logger.debug('the directory cannot be left to the next task', { why: left.why })
      return false
    }
    this.#isLeft = true
    const { aside, manifest } = left.directory
    await warm.keep(key, left.directory)
    // It ends by itself when the directory moves on.
    cache?.keepLater(aside.tree, manifest)
    return true
  }

  async cleanUp(): Promise<void> {
    if (this.#isLeft) return
    const { cache, signal } = this.#order
    if (!signal.aborted) await cache?.keepAll(this.workspace.dir, this.workspace.manifest, { signal })
    await this.workspace.remove()
  }
}

const NOTHING_CACHED = { cachedFiles: 0, cachedBytes: 0 }

function countCached({ manifest }: AttemptWorkspace): Omit<AttemptDirectory['origin'], 'isWarm'> {
  let cachedFiles = 0
  let cachedBytes = 0
  for (let index = 0; index < manifest.count; index++) {
    if (!manifest.isCached(index)) continue
    cachedFiles++
    cachedBytes += manifest.sizeBytes(index)
  }
  return { cachedFiles, cachedBytes }
}
