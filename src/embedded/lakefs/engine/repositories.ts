import { insertBranch } from './branch-rows.ts'
import { insertCommit, makeCommit } from './commits.ts'
import { unixSeconds, type EngineContext } from './engine-context.ts'
import { EngineError, type Page, type PageRequest, type Repository } from './engine.ts'
import type { MetadataDb } from './metadata-db.ts'
import { pageByName } from './named-pages.ts'
import { checkBranchName, checkRepositoryName } from './names.ts'
import { checkRow, insertSummed, sumAgain, summedColumns, type RawRow } from './row-sums.ts'

/** A repository with the number in its rows; a name can be used again after deletion, a number never. */
export interface StoredRepository extends Repository {
  readonly rid: number
  /** JSON list of patterns; null when none were ever set. */
  readonly protection: string | null
}

interface RepositoryRow {
  rid: number
  name: string
  storage_namespace: string
  default_branch: string
  created_at: number
  read_only: number
  protection: string | null
}

const COLUMNS = summedColumns('repositories')

export function createRepository(
  { db, writes, clock }: EngineContext,
  request: { name: string; storageNamespace: string; defaultBranch: string; readOnly?: boolean },
): Promise<Repository> {
  return writes.run(() => {
    checkRepositoryName(request.name)
    checkBranchName(request.defaultBranch)
    if (findRepository(db, request.name) !== undefined) {
      throw new EngineError('repository-exists', `create repository ${request.name}: the name is taken`)
    }
    const namespace = request.storageNamespace.replace(/\/+$/, '')
    if (insertSummed(db, 'namespaces', { namespace }, 'IGNORE') === 0) {
      throw new EngineError(
        'namespace-in-use',
        `create repository ${request.name}: the storage namespace ${request.storageNamespace} holds lakeFS data, or once did`,
      )
    }
    const createdAt = unixSeconds(clock)
    db.run(
      'INSERT INTO repositories (name, storage_namespace, default_branch, created_at, read_only) VALUES (?, ?, ?, ?, ?)',
      request.name,
      request.storageNamespace,
      request.defaultBranch,
      createdAt,
      request.readOnly === true ? 1 : 0,
    )
    sumAgain(db, 'repositories', 'name = ? AND deleted = 0', request.name)
    const stored = requireStored(db, request.name)
    const commit = makeCommit({
      parents: [],
      committer: '',
      message: 'Repository created',
      createdAt,
      metaRangeId: '',
      metadata: {},
      generation: 1,
    })
    insertCommit(db, stored.rid, commit)
    insertBranch(db, { rid: stored.rid, name: request.defaultBranch, commitId: commit.id, hidden: false })
    return toRepository(stored)
  })
}

export function getRepository({ db }: EngineContext, name: string): Repository {
  return toRepository(requireStored(db, name))
}

export function listRepositories({ db }: EngineContext, page: PageRequest): Page<Repository> {
  const query = {
    sql: `SELECT ${COLUMNS} FROM repositories WHERE deleted = 0`,
    values: [],
    toItem: (row: RawRow) => toRepository(fromRow(db, row)),
  }
  return pageByName(db, query, page)
}

/** Only marks the repository as deleted: its rows are removed in small steps, its name is free at once. */
export async function deleteRepository(
  { db, writes, startSweep }: EngineContext,
  name: string,
): Promise<void> {
  await writes.run(() => {
    const { rid } = requireStored(db, name)
    db.run('UPDATE repositories SET deleted = 1 WHERE rid = ?', rid)
    sumAgain(db, 'repositories', 'rid = ?', rid)
  })
  startSweep()
}

export function requireStored(db: MetadataDb, name: string): StoredRepository {
  const found = findRepository(db, name)
  if (found === undefined)
    throw new EngineError('repository-not-found', `repository ${JSON.stringify(name)} not found`)
  return found
}

/** For writes: refuses on a read-only repository. */
export function requireWritable(db: MetadataDb, name: string): StoredRepository {
  const repository = requireStored(db, name)
  if (repository.readOnly) throw new EngineError('read-only-repository', `repository ${name} is read-only`)
  return repository
}

function findRepository(db: MetadataDb, name: string): StoredRepository | undefined {
  const sql = `SELECT ${COLUMNS} FROM repositories WHERE deleted = 0 AND name = ?`
  const row = db.get<RawRow>(sql, name)
  return row && fromRow(db, row)
}

function fromRow(db: MetadataDb, raw: RawRow): StoredRepository {
  const row = checkRow<RepositoryRow>(db, 'repositories', raw)
  return {
    rid: row.rid,
    id: row.name,
    storageNamespace: row.storage_namespace,
    defaultBranch: row.default_branch,
    createdAt: row.created_at,
    readOnly: row.read_only !== 0,
    protection: row.protection,
  }
}

function toRepository(stored: StoredRepository): Repository {
  const { id, storageNamespace, defaultBranch, createdAt, readOnly } = stored
  return { id, storageNamespace, defaultBranch, createdAt, readOnly }
}
