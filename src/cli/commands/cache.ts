/** Shows, checks and clears the content cache of a worker's root. Workers may use it meanwhile. */

import { join, resolve } from 'node:path'
import { UnavailableError } from '../../base/errors.ts'
import { formatSize } from '../../base/quantities.ts'
import { clearContentCache, listContentCache, verifyContentCache } from '../../runtime/content-cache.ts'
import { WORK_ROOT } from '../options.ts'
import { answer, renderTable } from '../answers.ts'
import type { Terminal } from '../terminal.ts'

export interface CacheOptions {
  readonly root?: string
  readonly json?: boolean
}

/** Lists the cached objects, the last used first. */
export async function listCache(options: CacheOptions, terminal: Terminal): Promise<void> {
  const listing = await listContentCache(rootOf(options, terminal))
  const { entries, bytes, directory } = listing
  answer(terminal, options, listing, () => {
    const rows = entries.map(({ name, sizeBytes, usedAt }) => [
      name,
      formatSize(sizeBytes),
      `used ${usedAt.toISOString()}`,
    ])
    return `${renderTable(rows)}${entries.length} objects, ${formatSize(bytes)} in ${directory}\n`
  })
}

/** Reads all of them, and removes unusable ones. Fails at the end if one could not be checked. */
export async function verifyCache(options: CacheOptions, terminal: Terminal): Promise<void> {
  const checked = await verifyContentCache(rootOf(options, terminal), { signal: terminal.stopSignal() })
  const { damaged, outdated, failed, entries, bytes } = checked
  answer(terminal, options, checked, () => {
    const removed = damaged.map((name) => `damaged, removed: ${name}\n`).join('')
    const earlier = outdated === 0 ? '' : `, ${outdated} of an earlier version were removed`
    return `${removed}${entries} objects are whole, ${formatSize(bytes)}; ${damaged.length} were damaged${earlier}\n`
  })
  if (failed.length === 0) return
  const problems = failed.map(({ path, systemCode }) => ({ path, problem: systemCode }))
  throw new UnavailableError(
    'cli/cache-not-checked',
    `check the cache ${checked.directory}: ${problems.length} files or directories could not be read or removed`,
    {
      details: { problems },
      next: 'Check their permissions and the disk. A worker that cannot read an object fetches it again.',
    },
  )
}

/** Removes all of them. */
export async function clearCache(options: CacheOptions, terminal: Terminal): Promise<void> {
  const removed = await clearContentCache(rootOf(options, terminal))
  answer(terminal, options, removed, () => {
    return `${removed.entries} objects removed, ${formatSize(removed.bytes)}\n`
  })
}

function rootOf({ root }: CacheOptions, terminal: Terminal): string {
  return resolve(terminal.directory, root ?? join(...WORK_ROOT))
}
