/** The content cache of a worker's root, for the commands about it. Workers may use it at the same time. */

import { sizeOfEntryName } from '../workspace/cache/cache-entry.ts'
import { checkEntries, clearEntries, listEntries, type CacheCheck } from '../workspace/cache/cache-files.ts'
import { cacheDirectoryOf } from '../workspace/cache/content-cache.ts'

export interface CacheListing {
  readonly directory: string
  /** On disk. */
  readonly bytes: number
  /** Most recently used first. */
  readonly entries: readonly {
    readonly name: string
    readonly sizeBytes: number
    readonly usedAt: Date
  }[]
}

export async function listContentCache(root: string): Promise<CacheListing> {
  const directory = cacheDirectoryOf(root)
  const entries: CacheListing['entries'][number][] = []
  let bytes = 0
  for await (const { name, sizeBytes, usedAtMs } of listEntries(directory)) {
    bytes += sizeBytes
    entries.push({ name, sizeBytes: sizeOfEntryName(name), usedAt: new Date(usedAtMs) })
  }
  entries.sort((a, b) => b.usedAt.getTime() - a.usedAt.getTime())
  return { directory, bytes, entries }
}

/** Reads all entries, and removes damaged ones. */
export async function verifyContentCache(
  root: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<CacheCheck & { readonly directory: string }> {
  const directory = cacheDirectoryOf(root)
  return { directory, ...(await checkEntries(directory, options)) }
}

export async function clearContentCache(
  root: string,
): Promise<{ readonly directory: string; readonly entries: number; readonly bytes: number }> {
  const directory = cacheDirectoryOf(root)
  return { directory, ...(await clearEntries(directory)) }
}
