import type { EngineContext } from './engine-context.ts'
import { EngineError, type Page, type PageRequest, type Tag } from './engine.ts'
import { pageByName } from './named-pages.ts'
import { checkTagName } from './names.ts'
import { findTag, resolveCommitId } from './refs.ts'
import { requireStored, requireWritable } from './repositories.ts'
import { checkRow, insertSummed, summedColumns, type RawRow } from './row-sums.ts'

export function createTag(
  { db, writes }: EngineContext,
  request: { repository: string; name: string; ref: string },
): Promise<Tag> {
  return writes.run(() => {
    const { rid } = requireWritable(db, request.repository)
    checkTagName(request.name)
    const commitId = resolveCommitId(db, rid, request.ref)
    const added = insertSummed(db, 'tags', { rid, name: request.name, commit_id: commitId }, 'IGNORE')
    if (added === 0) throw new EngineError('tag-exists', `tag ${request.name} exists already`)
    return { name: request.name, commitId }
  })
}

export function getTag({ db }: EngineContext, repository: string, name: string): Tag {
  const { rid } = requireStored(db, repository)
  const commitId = findTag(db, rid, name)
  if (commitId === undefined) throw noSuchTag(name)
  return { name, commitId }
}

export function listTags({ db }: EngineContext, repository: string, page: PageRequest): Page<Tag> {
  const { rid } = requireStored(db, repository)
  const query = {
    sql: `SELECT ${summedColumns('tags')} FROM tags WHERE rid = ?`,
    values: [rid],
    toItem: (raw: RawRow) => {
      const row = checkRow<{ name: string; commit_id: string }>(db, 'tags', raw)
      return { name: row.name, commitId: row.commit_id }
    },
  }
  return pageByName(db, query, page)
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
