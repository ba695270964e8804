/**
 * Where an attempt's directory comes from: left by an earlier attempt, or laid out from the cache and the repository. And
 * what becomes of it: left to the next attempt, or removed.
 */

import { isPeragoError } from '../../base/errors.ts'
import type { CommitRef } from '../../base/ids.ts'
import type { Logger } from '../../base/logger.ts'
import type { Transferred } from '../../base/transferred.ts'
import type { StoredChecksums } from '../../publication/planned-changes.ts'
import type { VersionedRepo } from '../../publication/ports.ts'
import { cachedFrom, type ContentCache } from '../../workspace/cache/content-cache.ts'
import type { ChangeSet } from '../../workspace/comparing/diff.ts'
import { fetchFrom } from '../../workspace/laying-out/file-provider.ts'
import { readProcessMoment, type ProcessMoment } from '../../workspace/hand-over/find-holder.ts'
import { findHolderBefore, handOver } from '../../workspace/hand-over/hand-over.ts'
import { layOut, type AttemptWorkspace } from '../../workspace/laying-out/lay-out.ts'
import type { WorkspaceAttempt, WorkspaceRoot } from '../../workspace/ownership/ownership.ts'
import type { WorkspaceSpec } from '../../tasks/workspace-spec.ts'
import { openObjectSource } from './object-source.ts'
import type { WarmDirectories, WarmKey } from './warm-directories.ts'

/** What one attempt leaves to others; each may be left out. */
export interface KeptForLater {
  readonly cache?: ContentCache
  readonly warm?: WarmDirectories
}

export interface AttemptDirectoryOptions extends KeptForLater {
  readonly root: WorkspaceRoot
  readonly attempt: WorkspaceAttempt
  readonly repo: VersionedRepo
  readonly ref: CommitRef
  readonly spec: WorkspaceSpec
  readonly logger: Logger
  readonly signal: AbortSignal
  /** Called after each file that is laid out. */
  readonly onLaidOut?: ((so: Transferred) => void) | undefined
  /** Ends the opening alone; `signal` does as well unless this is given. */
  readonly opening?: AbortSignal
}

export interface LeftDirectory {
  readonly ref: CommitRef
  readonly changes: ChangeSet
  readonly stored: StoredChecksums
}

export async function openAttemptDirectory(options: AttemptDirectoryOptions): Promise<AttemptDirectory> {
  const { warm, attempt, spec, ref, repo, opening: signal = options.signal } = options
  const since = warm === undefined ? undefined : readProcessMoment()
  const taken = await warm?.take({ repository: repo.repository, ref, spec }, { attempt, signal })
  const workspace = taken ?? (await layOutFromSource(options))
  return new AttemptDirectory(options, { workspace, isWarm: taken !== undefined, since })
}

async function layOutFromSource(from: AttemptDirectoryOptions): Promise<AttemptWorkspace> {
  const { root, attempt, repo, ref, spec, logger, cache, warm, opening: signal = from.signal } = from
  const source = openObjectSource(repo, ref)
  const fetching = fetchFrom(source)
  const provider = cache === undefined ? fetching : cachedFrom(cache, fetching)
  // This task needs the room more than those that may come.
  const makeRoom = async (bytes: number): Promise<void> => {
    await warm?.clear()
    await cache?.makeRoom(bytes)
  }
  try {
    const onProvided = from.onLaidOut
    return await layOut({ root, attempt, source, spec, signal, logger, provider, makeRoom, onProvided })
  } catch (error) {
    // The disk filled up meanwhile: make room for the next attempt.
    if (isPeragoError(error) && error.code === 'workspace/disk-full') await warm?.clear()
    throw error
  }
}

/** The directory of one attempt. */
export class AttemptDirectory {
  readonly workspace: AttemptWorkspace
  /** Where its files came from: the whole directory from an earlier attempt (`isWarm`), or how much of it from the cache. */
  readonly origin: { readonly isWarm: boolean; readonly cachedFiles: number; readonly cachedBytes: number }
  /** Whether the comparison has to collect what another attempt needs to take the directory over. */
  readonly wantsHandOver: boolean
  readonly #options: AttemptDirectoryOptions
  readonly #since: ProcessMoment
  #isLeft = false
  #holder: Promise<string | undefined> = Promise.resolve(undefined)

  constructor(
    options: AttemptDirectoryOptions,
    from: { readonly workspace: AttemptWorkspace; readonly isWarm: boolean; readonly since: ProcessMoment },
  ) {
    const { workspace, isWarm, since } = from
    this.#options = options
    this.#since = since
    this.workspace = workspace
    this.wantsHandOver = options.warm !== undefined && workspace.times.areTrusted
    this.origin = { isWarm, ...(isWarm ? { cachedFiles: 0, cachedBytes: 0 } : countCached(workspace)) }
  }

  /** To be awaited before the first upload; see `findHolderBefore`. */
  lookBeforeUpload(changes: ChangeSet): Promise<unknown> {
    if (this.wantsHandOver) this.#holder = findHolderBefore(this.workspace, changes, this.#since)
    return this.#holder
  }

  /**
   * Announces of which confirmed commit the directory is. What this returns leaves it to the next attempt with that
   * commit, which waits for it; it is to be run before `cleanUp`, and takes its time.
   */
  announce(left: LeftDirectory): () => Promise<boolean> {
    const { warm, repo, spec } = this.#options
    if (warm === undefined || !this.wantsHandOver) return () => Promise.resolve(false)
    const key = { repository: repo.repository, ref: left.ref, spec }
    const settle = warm.announce(key)
    return () => this.#leave(warm, key, left).finally(settle)
  }

  async #leave(warm: WarmDirectories, key: WarmKey, { changes, stored }: LeftDirectory): Promise<boolean> {
    const { cache, logger } = this.#options
    const { workspace } = this
    const left = await handOver({
      workspace,
      changes,
      stored,
      since: this.#since,
      holder: await this.#holder,
    })
    if (!left.isHandedOver) {
      logger.debug('the directory cannot be left to the next task', { why: left.why })
      return false
    }
    this.#isLeft = true
    const { aside, manifest } = left.directory
    await warm.keep(key, left.directory)
    // Goes on in the background, and ends when the directory is taken.
    cache?.keepLater(aside.tree, manifest)
    return true
  }

  /** Adds its contents to the cache, and removes it unless it was left to another attempt. Comes last. */
  async cleanUp(): Promise<void> {
    if (this.#isLeft) return
    const { cache, signal } = this.#options
    if (!signal.aborted) await cache?.keepAll(this.workspace.dir, this.workspace.manifest, { signal })
    await this.workspace.remove()
  }
}

function countCached({ manifest }: AttemptWorkspace): { cachedFiles: number; cachedBytes: number } {
  let cachedFiles = 0
  let cachedBytes = 0
  for (let index = 0; index < manifest.count; index++) {
    if (!manifest.isCached(index)) continue
    cachedFiles++
    cachedBytes += manifest.sizeBytes(index)
  }
  return { cachedFiles, cachedBytes }
}
