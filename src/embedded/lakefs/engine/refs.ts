/**
 * What a reference means: a commit id, branch, tag or the first digits of a commit id, in this order, followed by
 * any number of `~n` (n-th ancestor by first parents) and `^n` (n-th parent), or by one `@` (a branch's committed
 * state) or `$` (with its uncommitted changes).
 */

import { findBranch, type StoredBranch } from './branch-rows.ts'
import { findCommit, findCommitIdsByPrefix, requireCommit } from './commits.ts'
import { EngineError } from './engine.ts'
import type { MetadataDb } from './metadata-db.ts'
import { checkRow, summedColumns, type RawRow } from './row-sums.ts'

interface ResolvedRef {
  readonly commitId: string
  /** Set for a branch with nothing after its name, or with `$`: it is read with its uncommitted changes. */
  readonly uncommitted?: StoredBranch
  /** The reference ended in `$`. */
  readonly isStaging: boolean
}

interface Modifier {
  readonly type: '~' | '^' | '@' | '$'
  readonly count: number
}

const EXPRESSION = /^([^~^@$]+)((?:[~^@$][^~^@$]*)*)$/
const FULL_ID = /^[0-9a-f]{64}$/
const HEX = /^[0-9a-f]+$/

export function resolveRef(db: MetadataDb, rid: number, ref: string): ResolvedRef {
  const { base, modifiers } = parseRef(ref)
  const start = resolveBase(db, rid, base, ref)
  const [first] = modifiers
  if (first === undefined) return { ...start, isStaging: false }
  if (first.type === '@' || first.type === '$') {
    const { commitId, uncommitted } = start
    if (uncommitted === undefined || modifiers.length > 1)
      throw badExpression(ref, `"${first.type}" needs a branch`)
    return first.type === '@' ? { commitId, isStaging: false } : { commitId, uncommitted, isStaging: true }
  }
  return { commitId: follow(db, rid, { from: start.commitId, modifiers, ref }), isStaging: false }
}

/** Where a commit is needed: a branch means its head, and `$` is refused. */
export function resolveCommitId(db: MetadataDb, rid: number, ref: string): string {
  const resolved = resolveRef(db, rid, ref)
  if (resolved.isStaging) {
    throw new EngineError(
      'uncommitted-ref',
      `reference ${JSON.stringify(ref)}: uncommitted changes are not a commit`,
    )
  }
  return resolved.commitId
}

/** The commit that a tag names. */
export function findTag(db: MetadataDb, rid: number, name: string): string | undefined {
  const sql = `SELECT ${summedColumns('tags')} FROM tags WHERE rid = ? AND name = ?`
  const row = db.get<RawRow>(sql, rid, name)
  return row && checkRow<{ commit_id: string }>(db, 'tags', row).commit_id
}

function parseRef(ref: string): { readonly base: string; readonly modifiers: readonly Modifier[] } {
  const match = EXPRESSION.exec(ref)
  const [, base, tail] = match ?? []
  if (base === undefined || tail === undefined) throw badExpression(ref, 'it names nothing')
  const modifiers = [...tail.matchAll(/([~^@$])([^~^@$]*)/g)].map(([, type = '', count = '']): Modifier => {
    if (type === '@' || type === '$') {
      if (count !== '') throw badExpression(ref, `nothing may follow "${type}"`)
      return { type, count: 0 }
    }
    if (!/^\d{0,9}$/.test(count)) throw badExpression(ref, `"${type}${count}" is not a number of steps`)
    return { type: type === '~' ? '~' : '^', count: count === '' ? 1 : Number(count) }
  })
  return { base, modifiers }
}

function resolveBase(db: MetadataDb, rid: number, base: string, ref: string): Omit<ResolvedRef, 'isStaging'> {
  // A full id comes before a branch of that name: a branch must not hide a commit.
  if (FULL_ID.test(base) && findCommit(db, rid, base) !== undefined) return { commitId: base }
  const branch = findBranch(db, rid, base)
  if (branch !== undefined) return { commitId: branch.commitId, uncommitted: branch }
  const tag = findTag(db, rid, base)
  if (tag !== undefined) return { commitId: tag }
  if (HEX.test(base)) {
    const [id, other] = findCommitIdsByPrefix(db, rid, base)
    if (id !== undefined && other === undefined) return { commitId: id }
  }
  throw notFound(ref)
}

function follow(
  db: MetadataDb,
  rid: number,
  walk: { readonly from: string; readonly modifiers: readonly Modifier[]; readonly ref: string },
): string {
  let id = walk.from
  for (const modifier of walk.modifiers) {
    if (modifier.type === '@' || modifier.type === '$') {
      throw badExpression(walk.ref, `"${modifier.type}" needs a branch`)
    }
    if (modifier.type === '^') {
      if (modifier.count === 0) continue
      const parent = requireCommit(db, rid, id).parents[modifier.count - 1]
      if (parent === undefined) throw badExpression(walk.ref, `there is no parent ${modifier.count}`)
      id = parent
      continue
    }
    // Bounded by the length of the history: each step goes to an older commit or ends the loop.
    for (let step = 0; step < modifier.count; step += 1) {
      const parent = requireCommit(db, rid, id).parents[0]
      if (parent === undefined) throw notFound(walk.ref)
      id = parent
    }
  }
  return id
}

function notFound(ref: string): EngineError {
  return new EngineError('ref-not-found', `reference ${JSON.stringify(ref)} not found`)
}

function badExpression(ref: string, why: string): EngineError {
  return new EngineError('bad-ref-expression', `reference ${JSON.stringify(ref)}: ${why}`)
}
