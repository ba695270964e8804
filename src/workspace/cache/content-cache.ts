/**
 * Contents of objects on the local disk, below a worker's root, shared by all processes of the root: what was fetched once
 * is not fetched again.
 *
 * ```
 * cache/objects/<two digits>/<name>    one entry each; its mtime is when it was last used
 * cache/incoming/<random>              being written
 * ```
 *
 * 1. An entry appears in one step: it is written under another name and renamed. There is no index.
 * 2. A task gets a copy, checked by its SHA-256, so that it cannot write to the entry. A damaged entry is removed, and the
 *    object is fetched.
 * 3. Nothing that fails here fails a task: the object counts as not cached.
 * 4. The least recently used entries are removed when there are too many bytes, or the disk gets full.
 */

import { randomBytes } from 'node:crypto'
import { lstatSync, statfsSync, utimesSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { followSignals, isAborted } from '../../base/abort-signals.ts'
import { systemClock, type Clock } from '../../base/clock.ts'
import { isPeragoError } from '../../base/errors.ts'
import {
  CACHE_FREE_SPACE_MIN_PERCENT,
  CACHE_LOOK_AGAIN_PART,
  CACHE_OBJECT_MAX_PART,
  CACHE_PAUSE_MS,
  CACHE_TOUCH_MS,
  CACHE_TRIM_TO_PERCENT,
} from '../limits.ts'
import { silentLogger, type Logger } from '../../base/logger.ts'
import { makeDirectory } from '../../base/make-directory.ts'
import { nodeFaultOf } from '../../base/node-fault.ts'
import {
  copyIn,
  copyOut,
  ENTRY_END_BYTES,
  entryNameOf,
  UnusableEntryError,
  type EntryUse,
} from './cache-entry.ts'
import { entryPathOf, incomingOf, listEntries, removeStaleIncoming } from './cache-files.ts'
import { readFileFacts, sameFacts } from '../comparing/file-facts.ts'
import { systemCode } from '../disk-errors.ts'
import type { FileProvider } from '../laying-out/file-provider.ts'
import type { ManifestRecord } from '../manifest.ts'
import type { FilledFile, SourceObject } from '../ports.ts'
import type { KnownFile } from '../comparing/read-unchanged.ts'

export interface CacheCounts {
  readonly hits: number
  readonly hitBytes: number
  readonly misses: number
  readonly missBytes: number
  readonly kept: number
  readonly damaged: number
  readonly evicted: number
}

export interface ContentCacheOptions {
  /** The worker's root; the cache is a directory in it. */
  readonly root: string
  readonly maxBytes: number
  readonly logger?: Logger
  readonly clock?: Clock
}

/** The directory of the cache in a root. */
export function cacheDirectoryOf(root: string): string {
  return join(root, 'cache')
}

/** Takes objects from the cache, and the rest from another provider. */
export function cachedFrom(cache: ContentCache, otherwise: FileProvider): FileProvider {
  const { fill } = otherwise
  return {
    ...(fill && {
      fill: (files, onFile, options) => {
        const onMissed = (file: FilledFile): void => {
          cache.miss(file)
          onFile(file)
        }
        return fill(files, onMissed, options)
      },
    }),
    isNear: (object) => cache.has(object),
    provide: async (request) => {
      const { object, path, signal, wantsMd5 } = request
      const found = await cache.take(object, path, { signal })
      if (found === undefined) return otherwise.provide(request)
      return { isCached: true, ...(wantsMd5 ? { md5: found.md5 } : {}) }
    },
  }
}

/**
 * ```ts
 * const cache = new ContentCache({ root: '.perago/work', maxBytes: 10 * 1024 ** 3 })
 * ```
 */
export class ContentCache {
  readonly #directory: string
  readonly #maxBytes: number
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #closed = new AbortController()
  readonly #counts = { hits: 0, hitBytes: 0, misses: 0, missBytes: 0, kept: 0, damaged: 0, evicted: 0 }
  /** As of the last measurement; this process has added `#addedBytes` since, and other processes add as well. */
  #usedBytes: number | undefined
  #addedBytes = 0
  #pausedUntilMs = -Infinity
  #keeping: Promise<void> = Promise.resolve()

  constructor({ root, maxBytes, logger = silentLogger, clock = systemClock }: ContentCacheOptions) {
    const directory = cacheDirectoryOf(root)
    for (const part of ['objects', 'incoming']) makeDirectory(join(directory, part))
    this.#directory = directory
    this.#maxBytes = maxBytes
    this.#logger = logger.child({ cache: directory })
    this.#clock = clock
  }

  /** Whether there is an entry, which need not be whole. */
  has(object: SourceObject): boolean {
    const name = entryNameOf(object)
    if (name === undefined) return false
    try {
      return lstatSync(entryPathOf(this.#directory, name), { throwIfNoEntry: false }) !== undefined
    } catch {
      // `take` tells why it cannot be used.
      return true
    }
  }

  /** Counts an object that was not here. */
  miss({ sizeBytes }: { readonly sizeBytes: number }): void {
    this.#counts.misses++
    this.#counts.missBytes += sizeBytes
  }

  /** Makes a new file with the object's content; `undefined` if it is not cached. */
  async take(
    object: SourceObject,
    path: string,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<{ readonly md5: string } | undefined> {
    const name = entryNameOf(object)
    const md5 = name === undefined ? undefined : await this.#copyOut(path, { name, signal })
    if (md5 === undefined) {
      this.miss(object)
      return undefined
    }
    this.#counts.hits++
    this.#counts.hitBytes += object.sizeBytes
    return { md5 }
  }

  /**
   * Adds the files of a directory by its manifest, except those that are cached already or have changed. One directory after
   * another. Never throws; stops when the directory is removed.
   */
  keepAll(
    directory: string,
    manifest: ManifestRecord,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<void> {
    this.#keeping = this.#keeping.then(() => this.#keepAll(directory, manifest, signal))
    return this.#keeping
  }

  /** The same, in the background. */
  keepLater(directory: string, manifest: ManifestRecord): void {
    this.keepAll(directory, manifest).catch(() => undefined)
  }

  /** Removes the least recently used entries until this many more bytes are free. Never throws. */
  async makeRoom(bytes: number): Promise<void> {
    try {
      await this.#measure()
      await this.#trimTo(Math.max(0, (this.#usedBytes ?? 0) - bytes))
    } catch (error) {
      this.#logger.warn('could not make room in the content cache', { error })
    }
  }

  counts(): CacheCounts {
    return { ...this.#counts }
  }

  /** Stops adding. May be called twice. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('the content cache is closed'))
    await this.#keeping
  }

  async #copyOut(path: string, use: EntryUse): Promise<string | undefined> {
    const entry = entryPathOf(this.#directory, use.name)
    try {
      // Checked first: in a new cache nearly everything is missing, and an exception is expensive.
      const found = lstatSync(entry, { throwIfNoEntry: false })
      if (found === undefined) return undefined
      const md5 = await copyOut(entry, path, use)
      this.#touch(entry, found.mtimeMs)
      return md5
    } catch (error) {
      await rm(path, { force: true })
      use.signal?.throwIfAborted()
      await this.#giveUp(entry, use.name, error)
      return undefined
    }
  }

  async #giveUp(entry: string, name: string, error: unknown): Promise<void> {
    if (error instanceof UnusableEntryError) {
      if (!error.isEarlierFormat) {
        this.#counts.damaged++
        const why = error.message
        this.#logger.warn('an entry of the content cache is damaged and is removed', { name, why })
      }
      await rm(entry, { force: true, recursive: true }).catch(() => undefined)
    } else if (systemCode(error) !== 'ENOENT') {
      this.#logger.warn('an entry of the content cache cannot be used', { name, error })
    }
  }

  /** Updates the time of last use, but not at every use, because it is a write. */
  #touch(entry: string, mtimeMs: number): void {
    const now = this.#clock.now()
    if (now.getTime() - mtimeMs < CACHE_TOUCH_MS) return
    try {
      utimesSync(entry, now, now)
    } catch {
      // Removed, or owned by another user: it only looks older than it is.
    }
  }

  async #keepAll(directory: string, manifest: ManifestRecord, outer: AbortSignal | undefined): Promise<void> {
    const followed = followSignals(this.#closed.signal, outer)
    try {
      await this.#keepEach(directory, manifest, followed.signal)
    } finally {
      followed.release()
    }
  }

  async #keepEach(directory: string, manifest: ManifestRecord, signal: AbortSignal): Promise<void> {
    try {
      // It may have been removed with the cache.
      makeDirectory(incomingOf(this.#directory))
    } catch (error) {
      this.#canContinue(error, directory)
      return
    }
    for (let index = 0; index < manifest.count; index++) {
      if (signal.aborted || this.#clock.monotonicMs() < this.#pausedUntilMs) return
      if (manifest.isCached(index)) continue
      const object = manifest.entry(index)
      const name = entryNameOf(object)
      const md5 = manifest.md5(index)
      if (name === undefined || md5 === undefined) continue
      const file = {
        localPath: join(directory, object.path),
        path: object.path,
        facts: manifest.facts(index),
      }
      try {
        if (await this.#keep(file, { name, md5, signal })) manifest.recordCached(index)
      } catch (error) {
        if (isAborted(signal) || !this.#canContinue(error, directory, file)) return
      }
    }
  }

  /** Whether to try the rest of the directory. */
  #canContinue(error: unknown, directory: string, file?: KnownFile): boolean {
    const fault = nodeFaultOf(error)
    if (fault !== undefined) {
      this.#pausedUntilMs = this.#clock.monotonicMs() + CACHE_PAUSE_MS
      this.#logger.warn(`${fault.what}: nothing is added to the content cache for a while`, {
        code: fault.code,
      })
      return false
    }
    if (lstatSync(directory, { throwIfNoEntry: false }) === undefined) return false
    // A file that the body removed, replaced, changed or made unreadable, or a directory above it.
    const code = systemCode(error)
    if (code === 'ENOENT' || code === 'ELOOP' || code === 'EACCES' || isPeragoError(error)) return true
    if (file !== undefined && hasChanged(file)) return true
    this.#pausedUntilMs = this.#clock.monotonicMs() + CACHE_PAUSE_MS
    this.#logger.warn('a file could not be added to the content cache: nothing is added for a while', {
      error,
    })
    return false
  }

  /** Whether it is cached now. */
  async #keep(
    file: KnownFile,
    of: { readonly name: string; readonly md5: string; readonly signal: AbortSignal },
  ): Promise<boolean> {
    const entry = entryPathOf(this.#directory, of.name)
    if (lstatSync(entry, { throwIfNoEntry: false }) !== undefined) return true
    const bytes = file.facts.sizeBytes + ENTRY_END_BYTES
    if (bytes > this.#maxBytes / CACHE_OBJECT_MAX_PART || !this.#hasRoom(bytes)) return false
    await this.#trimFor(bytes)
    const incoming = join(incomingOf(this.#directory), randomBytes(16).toString('hex'))
    try {
      if (!(await copyIn(file, incoming, of))) {
        await rm(incoming, { force: true })
        return false
      }
      await this.#put(incoming, entry)
    } catch (error) {
      await rm(incoming, { force: true }).catch(() => undefined)
      throw error
    }
    this.#counts.kept++
    this.#addedBytes += bytes
    return true
  }

  /** The directory of an entry is made when it is needed: the cache may have been cleared. */
  async #put(incoming: string, entry: string): Promise<void> {
    try {
      await rename(incoming, entry)
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error
      makeDirectory(join(entry, '..'))
      await rename(incoming, entry)
    }
  }

  /** A cache that fills the disk would fail the attempts it serves. */
  #hasRoom(bytes: number): boolean {
    const { bavail, blocks, bsize } = statfsSync(this.#directory)
    return (bavail * bsize - bytes) * 100 >= blocks * bsize * CACHE_FREE_SPACE_MIN_PERCENT
  }

  async #trimFor(bytes: number): Promise<void> {
    if (this.#usedBytes === undefined || this.#addedBytes > this.#maxBytes / CACHE_LOOK_AGAIN_PART)
      await this.#measure()
    const used = (this.#usedBytes ?? 0) + this.#addedBytes + bytes
    if (used > this.#maxBytes) await this.#trimTo((this.#maxBytes * CACHE_TRIM_TO_PERCENT) / 100 - bytes)
  }

  async #measure(): Promise<void> {
    await removeStaleIncoming(this.#directory, this.#clock.now())
    let used = 0
    for await (const { sizeBytes } of listEntries(this.#directory)) used += sizeBytes
    this.#usedBytes = used
    this.#addedBytes = 0
  }

  async #trimTo(bytes: number): Promise<void> {
    const entries = []
    for await (const entry of listEntries(this.#directory)) entries.push(entry)
    entries.sort((a, b) => a.usedAtMs - b.usedAtMs)
    let used = entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    for (const { path, sizeBytes } of entries) {
      if (used <= bytes) break
      await rm(path, { force: true })
      used -= sizeBytes
      this.#counts.evicted++
    }
    this.#usedBytes = used
    this.#addedBytes = 0
  }
}

function hasChanged({ localPath, facts }: KnownFile): boolean {
  const found = readFileFacts(localPath)
  return found === undefined || !sameFacts(found, facts)
}
