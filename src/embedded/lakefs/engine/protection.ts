/** Branch protection: patterns of branch names that take merges, reverts and cherry-picks only. */

import { createHash } from 'node:crypto'
import type { EngineContext } from './engine-context.ts'
import { EngineError } from './engine.ts'
import { requireStored, type StoredRepository } from './repositories.ts'

export function getProtection(
  { db }: EngineContext,
  repository: string,
): { readonly patterns: readonly string[]; readonly etag: string } {
  const stored = requireStored(db, repository)
  return { patterns: patternsOf(stored), etag: etagOf(stored) }
}

export function setProtection(
  { db, writes }: EngineContext,
  request: { readonly repository: string; readonly patterns: readonly string[]; readonly ifMatch?: string },
): Promise<void> {
  return writes.run(() => {
    const stored = requireStored(db, request.repository)
    if (request.ifMatch !== undefined && request.ifMatch !== etagOf(stored)) {
      throw new EngineError('stale-settings', 'branch protection: somebody changed the rules meanwhile')
    }
    db.run(
      'UPDATE repositories SET protection = ? WHERE rid = ?',
      JSON.stringify(request.patterns),
      stored.rid,
    )
  })
}

export function refuseProtected(repository: StoredRepository, branch: string, action: string): void {
  if (!isProtected(repository, branch)) return
  throw new EngineError('protected-branch', `cannot ${action} protected branch`)
}

export function isProtected(repository: StoredRepository, branch: string): boolean {
  return patternsOf(repository).some((pattern) => matchesPattern(pattern, branch))
}

/** `*` stands for any number of characters, `?` for one. Linear in the name for each star, whatever the pattern. */
export function matchesPattern(pattern: string, name: string): boolean {
  let star = -1
  let resumeAt = 0
  let at = 0
  for (let index = 0; index < name.length;) {
    if (pattern[at] === '*') {
      star = at
      resumeAt = index
      at += 1
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === name[index])) {
      at += 1
      index += 1
    } else if (star >= 0) {
      resumeAt += 1
      index = resumeAt
      at = star + 1
    } else {
      return false
    }
  }
  return /^\**$/.test(pattern.slice(at))
}

function patternsOf({ protection }: StoredRepository): readonly string[] {
  return protection === null ? [] : (JSON.parse(protection) as string[])
}

/** Empty as long as no rules were ever set, as lakeFS answers. */
function etagOf({ protection }: StoredRepository): string {
  return protection === null ? '' : createHash('sha256').update(protection).digest('hex')
}
