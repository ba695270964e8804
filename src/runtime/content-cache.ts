/** The content cache of a worker's root, for the commands about it. Workers may use it at the same time. */

import { sizeOfEntryName } from '../workspace/cache/cache-entry.ts'
import { checkEntries, clearEntries, listEntries } from '../workspace/cache/cache-files.ts'
import { cacheDirectoryOf } from '../workspace/cache/content-cache.ts'

/** Most recently used first. `bytes` is what they take on disk. */
export async function listContentCache(root: string) {
  const directory = cacheDirectoryOf(root)
  const entries = []
  let bytes = 0
  for await (const { name, sizeBytes, usedAtMs } of listEntries(directory)) {
    bytes += sizeBytes
    entries.push({ name, sizeBytes: sizeOfEntryName(name), usedAt: new Date(usedAtMs) })
  }
  entries.sort((a, b) => b.usedAt.getTime() - a.usedAt.getTime())
  return { directory, bytes, entries }
}

/** Reads all entries, and removes damaged ones. */
export async function verifyContentCache(root: string, options: { readonly signal: AbortSignal }) {
  const directory = cacheDirectoryOf(root)
  return { directory, ...(await checkEntries(directory, options)) }
}

export async function clearContentCache(root: string) {
  const directory = cacheDirectoryOf(root)
  return { directory, ...(await clearEntries(directory)) }
}
