/** The files of a content cache, for the workers and for the commands about it. */

import { lstatSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CACHE_INCOMING_STALE_MS } from '../limits.ts'
import { DamagedEntryError, checkEntry, isEntryName, sizeOfEntryName } from './cache-entry.ts'
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
  const objects = join(directory, 'objects')
  for (const digits of await namesIn(objects)) {
    if (!/^[0-9a-f]{2}$/.test(digits)) continue
    for (const name of await namesIn(join(objects, digits))) {
      if (!isEntryName(name)) continue
      const path = join(objects, digits, name)
      const found = lstatSync(path, { throwIfNoEntry: false })
      if (found?.isFile() === true) yield { name, path, sizeBytes: found.size, usedAtMs: found.mtimeMs }
    }
  }
}

/** Reads every entry and removes damaged ones. Workers may use the cache at the same time. */
export async function checkEntries(
  directory: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<CacheCheck> {
  const damaged: string[] = []
  let entries = 0
  let bytes = 0
  for await (const { name, path, sizeBytes } of listEntries(directory)) {
    options.signal?.throwIfAborted()
    try {
      await checkEntry(path, sizeOfEntryName(name), options.signal)
      entries++
      bytes += sizeBytes
    } catch (error) {
      // Another process removed it to make room.
      if (systemCode(error) === 'ENOENT') continue
      if (!(error instanceof DamagedEntryError)) throw error
      damaged.push(name)
      await rm(path, { force: true })
    }
  }
  return { entries, bytes, damaged }
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
