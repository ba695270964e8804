/** The files of a content cache, for the workers and for the commands about it. */

import { lstatSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CACHE_INCOMING_STALE_MS } from '../limits.ts'
import { UnusableEntryError, checkEntry, isEntryName } from './cache-entry.ts'
import { systemCode } from '../disk-errors.ts'

export interface CacheEntry {
  readonly name: string
  readonly path: string
  /** On disk, with its checksum. */
  readonly sizeBytes: number
  readonly usedAtMs: number
}

export interface CacheCheck {
  readonly entries: number
  readonly bytes: number
  /** The names of damaged entries, which were removed. */
  readonly damaged: readonly string[]
  /** How many entries of an earlier version were removed. */
  readonly outdated: number
  /** What could not be read, or not removed although it is damaged: it is not known to be whole. */
  readonly failed: readonly { readonly path: string; readonly systemCode: string }[]
}

export function entryPathOf(directory: string, name: string): string {
  const digits = name.slice(name.indexOf('-') + 1)
  return join(directory, 'objects', digits.slice(0, 2), name)
}

export function incomingOf(directory: string): string {
  return join(directory, 'incoming')
}

/** Every entry of a cache, if there is one. Files with other names are left alone. */
export async function* listEntries(directory: string): AsyncGenerator<CacheEntry, void> {
  for (const part of await partsOf(directory)) yield* entriesIn(part)
}

async function partsOf(directory: string): Promise<readonly string[]> {
  const objects = join(directory, 'objects')
  const names = (await namesIn(objects)).filter((digits) => /^[0-9a-f]{2}$/.test(digits))
  return names.map((digits) => join(objects, digits))
}

async function* entriesIn(part: string): AsyncGenerator<CacheEntry, void> {
  for (const name of await namesIn(part)) {
    if (!isEntryName(name)) continue
    const path = join(part, name)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found?.isFile() === true) yield { name, path, sizeBytes: found.size, usedAtMs: found.mtimeMs }
  }
}

/**
 * Reads every entry and removes unusable ones; what cannot be read keeps nothing else from being checked. Workers may use the
 * cache at the same time.
 */
export async function checkEntries(
  directory: string,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<CacheCheck> {
  const check = new Check(signal)
  for (const part of await partsOf(directory)) {
    await check.goOn(part, async () => {
      for await (const entry of entriesIn(part)) await check.goOn(entry.path, () => check.look(entry))
    })
  }
  return check.result
}

class Check {
  readonly #signal: AbortSignal | undefined
  readonly result = {
    ...{ entries: 0, bytes: 0, outdated: 0 },
    damaged: [] as string[],
    failed: [] as CacheCheck['failed'][number][],
  }

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal
  }

  /** Notes where the file system does not let it. */
  async goOn(path: string, work: () => Promise<void>): Promise<void> {
    this.#signal?.throwIfAborted()
    try {
      await work()
    } catch (error) {
      const code = systemCode(error)
      if (code === undefined) throw error
      // `ENOENT`: another process removed it to make room.
      if (code !== 'ENOENT') this.result.failed.push({ path, systemCode: code })
    }
  }

  async look({ name, path, sizeBytes }: CacheEntry): Promise<void> {
    try {
      await checkEntry(path, { name, signal: this.#signal })
      this.result.entries++
      this.result.bytes += sizeBytes
    } catch (error) {
      if (!(error instanceof UnusableEntryError)) throw error
      await rm(path, { force: true })
      if (error.isEarlierFormat) this.result.outdated++
      else this.result.damaged.push(name)
    }
  }
}

/** Removes every entry. Workers may use the cache at the same time, and fetch what is missing. */
export async function clearEntries(
  directory: string,
): Promise<{ readonly entries: number; readonly bytes: number }> {
  let entries = 0
  let bytes = 0
  for await (const { path, sizeBytes } of listEntries(directory)) {
    await rm(path, { force: true })
    entries++
    bytes += sizeBytes
  }
  return { entries, bytes }
}

/** Removes what killed processes had not finished writing. */
export async function removeStaleIncoming(directory: string, now: Date): Promise<void> {
  const incoming = incomingOf(directory)
  for (const name of await namesIn(incoming)) {
    if (!/^[0-9a-f]{32}$/.test(name)) continue
    const path = join(incoming, name)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found !== undefined && now.getTime() - found.mtimeMs > CACHE_INCOMING_STALE_MS)
      await rm(path, { force: true })
  }
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return []
    throw error
  }
}
