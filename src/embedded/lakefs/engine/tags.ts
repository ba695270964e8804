import type { EngineContext } from './engine-context.ts'
import { EngineError, type Page, type PageRequest, type Tag } from './engine.ts'
import { pageOfRows, rangeOf } from './named-pages.ts'
import { checkTagName } from './names.ts'
import { resolveCommitId } from './refs.ts'
import { requireStored, requireWritable } from './repositories.ts'

export function createTag(
  { db, writes }: EngineContext,
  request: { repository: string; name: string; ref: string },
): Promise<Tag> {
  return writes.run(() => {
    const { rid } = requireWritable(db, request.repository)
    checkTagName(request.name)
    const commitId = resolveCommitId(db, rid, request.ref)
    const added = db.run(
      'INSERT OR IGNORE INTO tags (rid, name, commit_id) VALUES (?, ?, ?)',
      rid,
      request.name,
      commitId,
    )
    if (added === 0) throw new EngineError('tag-exists', `tag ${request.name} exists already`)
    return { name: request.name, commitId }
  })
}

export function getTag({ db }: EngineContext, repository: string, name: string): Tag {
  const { rid } = requireStored(db, repository)
  const row = db.get<{ commit_id: string }>(
    'SELECT commit_id FROM tags WHERE rid = ? AND name = ?',
    rid,
    name,
  )
  if (row === undefined) throw noSuchTag(name)
  return { name, commitId: row.commit_id }
}

export function listTags({ db }: EngineContext, repository: string, page: PageRequest): Page<Tag> {
  const { rid } = requireStored(db, repository)
  const range = rangeOf(page)
  const rows = db.all<{ name: string; commit_id: string }>(
    'SELECT name, commit_id FROM tags WHERE rid = ? AND name >= ? AND name > ? AND (? IS NULL OR name < ?) ORDER BY name LIMIT ?',
    rid,
    range.from,
    range.after,
    range.before,
    range.before,
    page.amount + 1,
  )
  return pageOfRows(rows, page.amount, (row) => ({ name: row.name, commitId: row.commit_id }))
}

export function deleteTag({ db, writes }: EngineContext, repository: string, name: string): Promise<void> {
  return writes.run(() => {
    const { rid } = requireWritable(db, repository)
    if (db.run('DELETE FROM tags WHERE rid = ? AND name = ?', rid, name) === 0) throw noSuchTag(name)
  })
}

function noSuchTag(name: string): EngineError {
  return new EngineError('tag-not-found', `tag ${JSON.stringify(name)} not found`)
}
