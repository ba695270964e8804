/** Looks after the content cache of a worker's root, whether workers use it or not. */

import { join, resolve } from 'node:path'
import { formatSize } from '../../base/quantities.ts'
import { checkEntries, clearEntries, listEntries, type CacheEntry } from '../../workspace/cache-files.ts'
import { sizeOfEntryName } from '../../workspace/cache-entry.ts'
import { cacheDirectoryOf } from '../../workspace/content-cache.ts'
import { WORK_ROOT } from '../options.ts'
import { renderTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'

export interface CacheOptions {
  readonly root?: string
  readonly json?: boolean
}

/** Says what is kept, the last used first. */
export async function listCache(options: CacheOptions, terminal: Terminal): Promise<void> {
  const directory = directoryOf(options, terminal)
  const entries: CacheEntry[] = []
  for await (const entry of listEntries(directory)) entries.push(entry)
  entries.sort((a, b) => b.usedAtMs - a.usedAtMs)
  const bytes = entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  if (options.json === true) {
    const listed = entries.map(({ name, usedAtMs }) => ({
      name,
      sizeBytes: sizeOfEntryName(name),
      usedAt: new Date(usedAtMs).toISOString(),
    }))
    answerJson(terminal, { directory, bytes, entries: listed })
    return
  }
  const rows = entries.map(({ name, usedAtMs }) => [
    name,
    formatSize(sizeOfEntryName(name)),
    `used ${new Date(usedAtMs).toISOString()}`,
  ])
  if (rows.length > 0) terminal.answer(renderTable(rows))
  terminal.answer(`${entries.length} objects, ${formatSize(bytes)} in ${directory}\n`)
}

/** Reads all of it, and removes what is damaged. */
export async function verifyCache(options: CacheOptions, terminal: Terminal): Promise<void> {
  const directory = directoryOf(options, terminal)
  const checked = await checkEntries(directory, { signal: terminal.stopSignal() })
  if (options.json === true) {
    answerJson(terminal, { directory, ...checked })
    return
  }
  for (const name of checked.damaged) terminal.answer(`damaged, removed: ${name}\n`)
  terminal.answer(
    `${checked.entries} objects are whole, ${formatSize(checked.bytes)}; ${checked.damaged.length} were damaged\n`,
  )
}

/** Removes all of it. */
export async function clearCache(options: CacheOptions, terminal: Terminal): Promise<void> {
  const directory = directoryOf(options, terminal)
  const removed = await clearEntries(directory)
  if (options.json === true) answerJson(terminal, { directory, ...removed })
  else terminal.answer(`${removed.entries} objects removed, ${formatSize(removed.bytes)}\n`)
}

function directoryOf({ root }: CacheOptions, terminal: Terminal): string {
  return cacheDirectoryOf(resolve(terminal.directory, root ?? join(...WORK_ROOT)))
}

function answerJson(terminal: Terminal, document: object): void {
  terminal.answer(`${JSON.stringify(document, undefined, 2)}\n`)
}
