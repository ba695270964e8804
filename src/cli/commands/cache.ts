/** Looks after the content cache of a worker's root, whether workers use it or not. */

import { join, resolve } from 'node:path'
import { formatSize } from '../../base/quantities.ts'
import { clearContentCache, listContentCache, verifyContentCache } from '../../runtime/content-cache.ts'
import { WORK_ROOT } from '../options.ts'
import { renderTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'

export interface CacheOptions {
  readonly root?: string
  readonly json?: boolean
}

/** Says what is kept, the last used first. */
export async function listCache(options: CacheOptions, terminal: Terminal): Promise<void> {
  const listing = await listContentCache(rootOf(options, terminal))
  if (options.json === true) {
    answerJson(terminal, listing)
    return
  }
  const { entries, bytes, directory } = listing
  const rows = entries.map(({ name, sizeBytes, usedAt }) => [
    name,
    formatSize(sizeBytes),
    `used ${usedAt.toISOString()}`,
  ])
  if (rows.length > 0) terminal.answer(renderTable(rows))
  terminal.answer(`${entries.length} objects, ${formatSize(bytes)} in ${directory}\n`)
}

/** Reads all of it, and removes what is damaged. */
export async function verifyCache(options: CacheOptions, terminal: Terminal): Promise<void> {
  const checked = await verifyContentCache(rootOf(options, terminal), { signal: terminal.stopSignal() })
  if (options.json === true) {
    answerJson(terminal, checked)
    return
  }
  const { damaged, entries, bytes } = checked
  for (const name of damaged) terminal.answer(`damaged, removed: ${name}\n`)
  terminal.answer(`${entries} objects are whole, ${formatSize(bytes)}; ${damaged.length} were damaged\n`)
}

/** Removes all of it. */
export async function clearCache(options: CacheOptions, terminal: Terminal): Promise<void> {
  const removed = await clearContentCache(rootOf(options, terminal))
  if (options.json === true) answerJson(terminal, removed)
  else terminal.answer(`${removed.entries} objects removed, ${formatSize(removed.bytes)}\n`)
}

function rootOf({ root }: CacheOptions, terminal: Terminal): string {
  return resolve(terminal.directory, root ?? join(...WORK_ROOT))
}

function answerJson(terminal: Terminal, document: object): void {
  terminal.answer(`${JSON.stringify(document, undefined, 2)}\n`)
}
