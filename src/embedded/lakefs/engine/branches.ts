import {
  BRANCH_COLUMNS,
  branchFromRow,
  requireBranch,
  setHead,
  type BranchRow,
  type StoredBranch,
} from './branch-rows.ts'
import { findCommit } from './commits.ts'
import type { EngineContext } from './engine-context.ts'
import { EngineError, type Branch, type Page, type PageRequest, type ResetRequest } from './engine.ts'
import { pageByName } from './named-pages.ts'
import { checkBranchName, checkPath } from './names.ts'
import { refuseProtected } from './protection.ts'
import { resolveCommitId } from './refs.ts'
import { requireStored, requireWritable } from './repositories.ts'
import { toByteKey } from './tree/byte-key.ts'

export function createBranch(
  { db, writes }: EngineContext,
  request: { repository: string; name: string; source: string; hidden: boolean },
): Promise<Branch> {
  return writes.run(() => {
    const { rid } = requireWritable(db, request.repository)
    checkBranchName(request.name)
    if (findCommit(db, rid, request.name) !== undefined) {
      throw new EngineError('branch-name-is-a-commit', `branch ${request.name}: a commit has this id`)
    }
    const commitId = resolveCommitId(db, rid, request.source)
    const added = db.run(
      'INSERT OR IGNORE INTO branches (rid, name, commit_id, hidden) VALUES (?, ?, ?, ?)',
      rid,
      request.name,
      commitId,
      request.hidden ? 1 : 0,
    )
    if (added === 0) throw new EngineError('branch-exists', `branch ${request.name} exists already`)
    return { name: request.name, commitId, hidden: request.hidden }
  })
}

export function getBranch({ db }: EngineContext, repository: string, name: string): Branch {
  return toBranch(requireBranch(db, requireStored(db, repository).rid, name))
}

export function listBranches(
  { db }: EngineContext,
  repository: string,
  page: PageRequest & { readonly showHidden: boolean },
): Page<Branch> {
  const { rid } = requireStored(db, repository)
  const query = {
    sql: `SELECT ${BRANCH_COLUMNS} FROM branches WHERE rid = ? AND hidden <= ?`,
    values: [rid, page.showHidden ? 1 : 0],
    toItem: (row: BranchRow) => toBranch(branchFromRow(row)),
  }
  return pageByName(db, query, page)
}

/** Uncommitted changes are deleted with the branch; their rows are removed later. */
export async function deleteBranch(
  { db, writes, startSweep }: EngineContext,
  repository: string,
  name: string,
): Promise<void> {
  await writes.run(() => {
    const { rid, defaultBranch } = requireWritable(db, repository)
    const { bid } = requireBranch(db, rid, name)
    if (name === defaultBranch)
      throw new EngineError('default-branch', `branch ${name} is the default branch`)
    db.run('DELETE FROM branches WHERE bid = ?', bid)
    db.run('INSERT INTO dropped_stagings (bid) VALUES (?)', bid)
  })
  startSweep()
}

/** The ref is resolved at the moment of the write. */
export function hardReset(
  { db, writes }: EngineContext,
  request: { repository: string; branch: string; ref: string },
): Promise<void> {
  return writes.run(() => {
    const repository = requireWritable(db, request.repository)
    refuseProtected(repository, request.branch, 'reset')
    const branch = requireBranch(db, repository.rid, request.branch)
    // Resolved here and not before: an expression on the branch itself means the head that is being replaced.
    const commitId = resolveCommitId(db, repository.rid, request.ref)
    setHead(db, branch, commitId)
  })
}

export function resetUncommitted(
  { db, writes, staging }: EngineContext,
  repository: string,
  branch: string,
  what: ResetRequest,
): Promise<void> {
  return writes.run(() => {
    const stored = requireWritable(db, repository)
    refuseProtected(stored, branch, 'write to')
    const { bid } = requireBranch(db, stored.rid, branch)
    // A commit under way may have read what is discarded here: the new epoch makes it start again.
    db.run('UPDATE branches SET epoch = epoch + 1 WHERE bid = ?', bid)
    switch (what.type) {
      case 'reset':
        staging.clear(bid, staging.lastNumber)
        break
      case 'object':
        checkPath(what.path)
        staging.drop(bid, toByteKey(what.path))
        break
      case 'common_prefix':
        staging.dropPrefix(bid, toByteKey(what.path))
        break
    }
  })
}

function toBranch({ name, commitId, hidden }: StoredBranch): Branch {
  return { name, commitId, hidden }
}
