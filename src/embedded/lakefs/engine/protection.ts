/** Branch protection: patterns of branch names that take merges, reverts and cherry-picks only. */

import { createHash } from 'node:crypto'
import { matchesWildcards } from '../glob.ts'
import type { EngineContext } from './engine-context.ts'
import { EngineError } from './engine.ts'
import { requireStored, type StoredRepository } from './repositories.ts'
import { sumAgain } from './row-sums.ts'

export function getProtection(
  { db }: EngineContext,
  repository: string,
): { readonly patterns: readonly string[]; readonly etag: string } {
  const stored = requireStored(db, repository)
  return { patterns: patternsOf(stored), etag: etagOf(stored) }
}

/** `ifMatch` is compared with the current etag inside the write. */
export function setProtection(
  { db, writes }: EngineContext,
  repository: string,
  patterns: readonly string[],
  ifMatch?: string,
): Promise<void> {
  return writes.run(() => {
    const stored = requireStored(db, repository)
    if (ifMatch !== undefined && ifMatch !== etagOf(stored)) {
      throw new EngineError('stale-settings', 'branch protection: the rules were changed meanwhile')
    }
    const sql = 'UPDATE repositories SET protection = ? WHERE rid = ?'
    db.run(sql, JSON.stringify(patterns), stored.rid)
    sumAgain(db, 'repositories', 'rid = ?', stored.rid)
  })
}

export function refuseProtected(repository: StoredRepository, branch: string, action: string): void {
  if (!isProtected(repository, branch)) return
  throw new EngineError('protected-branch', `cannot ${action} protected branch`)
}

export function isProtected(repository: StoredRepository, branch: string): boolean {
  return patternsOf(repository).some((pattern) => matchesWildcards(pattern, branch))
}

function patternsOf({ protection }: StoredRepository): readonly string[] {
  return protection === null ? [] : (JSON.parse(protection) as string[])
}

/** Empty as long as no rules were ever set, as lakeFS answers. */
function etagOf({ protection }: StoredRepository): string {
  return protection === null ? '' : createHash('sha256').update(protection).digest('hex')
}
