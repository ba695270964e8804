/**
 * The directories that attempts of this process leave to later ones. `workspace/hand-over.ts` says what one must hold; here
 * they are kept, found, and each given away once.
 *
 * | a directory is | by | then |
 * |---|---|---|
 * | announced | `announce`, when its commit is known | attempts that need it wait for it |
 * | kept | `keep`, after a confirmed publication, or after a task that changed nothing | found by repository, commit and view |
 * | taken | `take`, which gives it to nobody else | compared with what was left; if it differs, it is removed and not used |
 * | removed | its age, newer ones, a full disk, `close` | |
 */

import { statfs } from 'node:fs/promises'
import { followSignals } from '../../base/abort-signals.ts'
import type { Clock } from '../../base/clock.ts'
import type { CommitRef, RepositoryName } from '../../base/ids.ts'
import {
  WARM_AGE_MS,
  WARM_ANNOUNCED_WAIT_MS,
  WARM_DIRECTORIES_MAX,
  WARM_FILES_MAX,
  WARM_MAX_BYTES,
} from '../limits.ts'
import { CACHE_FREE_SPACE_MIN_PERCENT } from '../../workspace/limits.ts'
import type { Logger } from '../../base/logger.ts'
import { once } from '../../base/once.ts'
import { takeOver, type HandedOver } from '../../workspace/hand-over/hand-over.ts'
import type { AttemptWorkspace } from '../../workspace/laying-out/lay-out.ts'
import type { WorkspaceAttempt, WorkspaceRoot } from '../../workspace/ownership/ownership.ts'
import type { WorkspaceSpec } from '../../tasks/workspace-spec.ts'

/** What a directory holds: the part of a commit that a task sees. */
export interface WarmKey {
  readonly repository: RepositoryName
  readonly ref: CommitRef
  readonly spec: WorkspaceSpec
}

export interface WarmDirectoriesOptions {
  readonly root: WorkspaceRoot
  readonly clock: Clock
  readonly logger: Logger
  readonly maxDirectories?: number
  readonly maxFiles?: number
  readonly maxBytes?: number
  readonly ageMs?: number
}

interface Kept {
  readonly key: string
  readonly directory: HandedOver
  readonly keptAtMs: number
}

export class WarmDirectories {
  readonly #options: WarmDirectoriesOptions
  /** The oldest first. */
  readonly #kept = new Set<Kept>()
  readonly #announced = new Map<string, Promise<void>>()
  readonly #closed = new AbortController()
  #removingOld: Promise<void> | undefined
  /** Removes all and keeps nothing any more. */
  readonly close = once(() => this.#close())

  constructor(options: WarmDirectoriesOptions) {
    this.#options = options
  }

  /** Announces a directory: attempts that need it wait for a while, or until the function that it returns is called. */
  announce(key: WarmKey): () => void {
    const name = nameOf(key)
    let settle = (): void => undefined
    const coming = new Promise<void>((resolve) => {
      settle = resolve
    })
    // Of several with the same content, the one announced last is waited for.
    this.#announced.set(name, coming)
    return () => {
      if (this.#announced.get(name) === coming) this.#announced.delete(name)
      settle()
    }
  }

  /** Takes a directory over. Never throws. */
  async keep(key: WarmKey, directory: HandedOver): Promise<void> {
    if (this.#closed.signal.aborted || !(await this.#hasRoom())) return this.#discard(directory)
    const { clock, maxDirectories = WARM_DIRECTORIES_MAX, maxBytes = WARM_MAX_BYTES } = this.#options
    const { maxFiles = WARM_FILES_MAX } = this.#options
    this.#kept.add({ key: nameOf(key), directory, keptAtMs: clock.monotonicMs() })
    let files = 0
    let bytes = 0
    const surplus = [...this.#kept].reverse().filter((kept, index) => {
      files += kept.directory.manifest.count
      bytes += kept.directory.manifest.totalBytes
      return index >= maxDirectories || bytes > maxBytes || (index > 0 && files > maxFiles)
    })
    await this.#remove(surplus)
    if (this.#kept.size > 0) this.#removingOld ??= this.#removeOld()
  }

  /** A directory with the content of the key, now the attempt's own. Throws only for an abort. */
  async take(
    key: WarmKey,
    { attempt, signal }: { readonly attempt: WorkspaceAttempt; readonly signal?: AbortSignal | undefined },
  ): Promise<AttemptWorkspace | undefined> {
    const { root, logger } = this.#options
    const name = nameOf(key)
    await this.#waitFor(name, signal)
    for (const kept of [...this.#kept].reverse()) {
      // Deleted before anything is awaited: of two attempts that need it, only one gets it.
      if (kept.key !== name || !this.#kept.delete(kept)) continue
      const taken = await takeOver(kept.directory, { root, attempt, signal })
      if (taken.isTaken) return taken.workspace
      logger.warn('a directory that was kept for the next task was changed, and is not used', {
        why: taken.why,
        ref: key.ref,
      })
    }
    return undefined
  }

  /** Removes what is kept. Never throws. */
  clear(): Promise<void> {
    return this.#remove([...this.#kept])
  }

  async #waitFor(name: string, signal: AbortSignal | undefined): Promise<void> {
    const coming = this.#announced.get(name)
    if (coming === undefined) return
    const waiting = followSignals(signal)
    const timeout = this.#options.clock.sleep(WARM_ANNOUNCED_WAIT_MS, waiting.signal).catch(() => undefined)
    await Promise.race([coming, timeout])
    waiting.abort()
    waiting.release()
    signal?.throwIfAborted()
  }

  async #close(): Promise<void> {
    this.#closed.abort(new Error('no directory is needed any more'))
    await this.#removingOld
    await this.clear()
  }

  async #removeOld(): Promise<void> {
    const { clock, ageMs = WARM_AGE_MS } = this.#options
    while (!this.#closed.signal.aborted) {
      const [oldest] = this.#kept
      if (oldest === undefined) break
      const leftMs = oldest.keptAtMs + ageMs - clock.monotonicMs()
      if (leftMs <= 0) await this.#remove([oldest])
      else await clock.sleep(leftMs, this.#closed.signal).catch(() => undefined)
    }
    this.#removingOld = undefined
  }

  async #remove(some: readonly Kept[]): Promise<void> {
    // Forgotten first, so that nobody takes what is being removed.
    const removed = some.filter((kept) => this.#kept.delete(kept))
    for (const { directory } of removed) await this.#discard(directory)
  }

  async #discard({ aside }: HandedOver): Promise<void> {
    try {
      await aside.discard()
    } catch (error) {
      this.#options.logger.warn('could not remove a directory that was kept for the next task', { error })
    }
  }

  async #hasRoom(): Promise<boolean> {
    // If the free space cannot be read, there may be none.
    const disk = await statfs(this.#options.root.directory).catch(() => undefined)
    return disk !== undefined && disk.bavail * 100 >= disk.blocks * CACHE_FREE_SPACE_MIN_PERCENT
  }
}

function nameOf({ repository, ref, spec: { prefix, include, exclude } }: WarmKey): string {
  return JSON.stringify([repository, ref, prefix ?? '', include ?? null, exclude ?? []])
}
