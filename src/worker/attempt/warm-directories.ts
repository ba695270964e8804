/**
 * The directories that attempts of this process leave for those that follow. What is in one stands in
 * `workspace/hand-over.ts`; here it is kept, found, and given away once.
 *
 * | a directory is | by | then |
 * |---|---|---|
 * | announced | `announce`, when its commit is known | waited for by whoever wants it |
 * | kept | `keep`, after a confirmed publication, or after a task that changed nothing | found by repository, commit and view |
 * | taken | `take`, which gives it to nobody else | proven; what does not prove itself is removed, and the answer is "none" |
 * | removed | its age, others that are newer, a full disk, `close` | |
 */

import { statfs } from 'node:fs/promises'
import { systemClock, type Clock } from '../../base/clock.ts'
import type { CommitRef, RepositoryName } from '../../base/ids.ts'
import { WARM_AGE_MS, WARM_ANNOUNCED_WAIT_MS, WARM_DIRECTORIES_MAX, WARM_MAX_BYTES } from '../limits.ts'
import { CACHE_FREE_SPACE_MIN_PERCENT } from '../../workspace/limits.ts'
import type { Logger } from '../../base/logger.ts'
import { once } from '../../base/once.ts'
import { takeOver, type HandedOver } from '../../workspace/hand-over/hand-over.ts'
import type { AttemptWorkspace } from '../../workspace/laying-out/lay-out.ts'
import type { WorkspaceAttempt, WorkspaceRoot } from '../../workspace/ownership/ownership.ts'
import type { WorkspaceSpec } from '../../tasks/workspace-spec.ts'

/** Whose content a directory has: the part of a commit that a task sees. */
export interface WarmKey {
  readonly repository: RepositoryName
  readonly ref: CommitRef
  readonly spec: WorkspaceSpec
}

export interface WarmDirectories {
  /** Says that a directory is on its way: whoever wants it waits, for a while. To be called with an end in sight. */
  announce(key: WarmKey): Announced
  /** Takes a directory over. Never throws. */
  keep(key: WarmKey, directory: HandedOver): Promise<void>
  /** A directory that holds what the key says, the attempt's own from now on. Throws only for an abort. */
  take(
    key: WarmKey,
    to: { readonly attempt: WorkspaceAttempt; readonly signal?: AbortSignal | undefined },
  ): Promise<AttemptWorkspace | undefined>
  /** Removes what is kept. Never throws. */
  clear(): Promise<void>
  /** Keeps nothing any more. Again: the same promise. */
  close(): Promise<void>
}

export interface Announced {
  /** It was kept, or there is none after all. Again: nothing. */
  over(): void
}

export interface OpenWarmDirectoriesOptions {
  readonly root: WorkspaceRoot
  readonly clock: Clock
  readonly logger: Logger
  readonly maxDirectories?: number
  readonly maxBytes?: number
  readonly ageMs?: number
}

/**
 * ```ts
 * const warm = openWarmDirectories({ root, clock, logger })
 * ```
 */
export function openWarmDirectories(options: OpenWarmDirectoriesOptions): WarmDirectories {
  return new OpenDirectories(options)
}

interface Kept {
  readonly key: string
  readonly directory: HandedOver
  readonly keptAtMs: number
}

class OpenDirectories implements WarmDirectories {
  readonly #options: OpenWarmDirectoriesOptions
  /** The oldest first. */
  readonly #kept = new Set<Kept>()
  readonly #announced = new Map<string, Promise<void>>()
  readonly #closed = new AbortController()
  #ageing: Promise<void> | undefined
  readonly close = once(() => this.#close())

  constructor(options: OpenWarmDirectoriesOptions) {
    this.#options = options
  }

  announce(key: WarmKey): Announced {
    const name = textOf(key)
    let over = (): void => undefined
    const coming = new Promise<void>((resolve) => {
      over = resolve
    })
    // Whoever announces one of the same content later has the later end.
    this.#announced.set(name, coming)
    return {
      over: () => {
        if (this.#announced.get(name) === coming) this.#announced.delete(name)
        over()
      },
    }
  }

  async keep(key: WarmKey, directory: HandedOver): Promise<void> {
    if (this.#closed.signal.aborted || !(await this.#hasRoom())) return this.#discard(directory)
    const { clock, maxDirectories = WARM_DIRECTORIES_MAX, maxBytes = WARM_MAX_BYTES } = this.#options
    this.#kept.add({ key: textOf(key), directory, keptAtMs: clock.monotonicMs() })
    const tooMany: Kept[] = []
    let bytes = 0
    for (const [age, kept] of [...this.#kept].reverse().entries()) {
      bytes += kept.directory.manifest.totalBytes
      if (age >= maxDirectories || bytes > maxBytes) tooMany.push(kept)
    }
    await this.#drop(tooMany)
    if (this.#kept.size > 0) this.#ageing ??= this.#age()
  }

  async take(
    key: WarmKey,
    { attempt, signal }: { readonly attempt: WorkspaceAttempt; readonly signal?: AbortSignal | undefined },
  ): Promise<AttemptWorkspace | undefined> {
    const { root, logger } = this.#options
    const wanted = textOf(key)
    await this.#waitFor(wanted, signal)
    for (const kept of [...this.#kept].reverse()) {
      if (kept.key !== wanted) continue
      // Before anything is awaited: of two attempts that want it, one finds it.
      if (!this.#kept.delete(kept)) continue
      const taken = await takeOver(kept.directory, { root, attempt, clock: systemClock, signal })
      if (taken.isTaken) return taken.workspace
      logger.warn('a directory that was kept for the next task is not what it was, and is not used', {
        why: taken.why,
        ref: key.ref,
      })
    }
    return undefined
  }

  async #waitFor(name: string, signal: AbortSignal | undefined): Promise<void> {
    const coming = this.#announced.get(name)
    if (coming === undefined) return
    const here = new AbortController()
    const ended = AbortSignal.any([here.signal, ...(signal === undefined ? [] : [signal])])
    const tooLong = this.#options.clock.sleep(WARM_ANNOUNCED_WAIT_MS, ended).catch(() => undefined)
    await Promise.race([coming, tooLong])
    here.abort()
    signal?.throwIfAborted()
  }

  clear(): Promise<void> {
    return this.#drop([...this.#kept])
  }

  async #close(): Promise<void> {
    this.#closed.abort(new Error('the directories are not needed any more'))
    await this.#ageing
    await this.clear()
  }

  async #age(): Promise<void> {
    const { clock, ageMs = WARM_AGE_MS } = this.#options
    while (!this.#closed.signal.aborted) {
      const [oldest] = this.#kept
      if (oldest === undefined) break
      const leftMs = oldest.keptAtMs + ageMs - clock.monotonicMs()
      if (leftMs <= 0) await this.#drop([oldest])
      else await clock.sleep(leftMs, this.#closed.signal).catch(() => undefined)
    }
    this.#ageing = undefined
  }

  async #drop(some: readonly Kept[]): Promise<void> {
    // Out of reach first, so that nobody takes what is being removed.
    const dropped = some.filter((kept) => this.#kept.delete(kept))
    for (const { directory } of dropped) await this.#discard(directory)
  }

  async #discard({ aside }: HandedOver): Promise<void> {
    try {
      await aside.discard()
    } catch (error) {
      this.#options.logger.warn('could not remove a directory that was kept for the next task', { error })
    }
  }

  async #hasRoom(): Promise<boolean> {
    try {
      const { bavail, blocks } = await statfs(this.#options.root.directory)
      return bavail * 100 >= blocks * CACHE_FREE_SPACE_MIN_PERCENT
    } catch {
      // Not to be told is no reason to believe that there is room.
      return false
    }
  }
}

function textOf({ repository, ref, spec: { prefix, include, exclude } }: WarmKey): string {
  return JSON.stringify([repository, ref, prefix ?? '', include ?? null, exclude ?? []])
}
