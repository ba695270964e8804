import {
  BRANCH_COLUMNS,
  branchFromRow,
  insertBranch,
  raiseEpoch,
  requireBranch,
  setHead,
  type StoredBranch,
} from './branch-rows.ts'
import { findCommit, requireCommit, treeOf } from './commits.ts'
import type { EngineContext } from './engine-context.ts'
import { EngineError, type Branch, type Page, type PageRequest, type ResetRequest } from './engine.ts'
import { pageByName } from './named-pages.ts'
import { checkBranchName, checkPath } from './names.ts'
import { refuseProtected } from './protection.ts'
import { resolveCommitId } from './refs.ts'
import { requireStored, requireWritable } from './repositories.ts'
import { insertSummed, type RawRow } from './row-sums.ts'
import { isRealChange, type StagedChange } from './staging.ts'
import { toByteKey, type ByteKey } from './tree/byte-key.ts'
import { lookUp } from './tree/node-store.ts'
import type { NodeId } from './tree/tree-node.ts'
import { refuseDirty } from './update-branch.ts'

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
    const added = insertBranch(db, { rid, name: request.name, commitId, hidden: request.hidden })
    if (!added) throw new EngineError('branch-exists', `branch ${request.name} exists already`)
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
    toItem: (row: RawRow) => toBranch(branchFromRow(db, row)),
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
    insertSummed(db, 'dropped_stagings', { bid })
  })
  startSweep()
}

/** The ref is resolved at the moment of the write. */
export function hardReset(
  context: EngineContext,
  request: { repository: string; branch: string; ref: string },
): Promise<void> {
  const { db, writes } = context
  return writes.run(() => {
    const repository = requireWritable(db, request.repository)
    refuseProtected(repository, request.branch, 'reset')
    const branch = requireBranch(db, repository.rid, request.branch)
    // What is only staged survives on the new head; what an update has sealed belongs to the old one.
    refuseDirty(context, { branch, head: requireCommit(db, repository.rid, branch.commitId) }, 'sealed')
    // Resolved here and not before: an expression on the branch itself means the head that is being replaced.
    const commitId = resolveCommitId(db, repository.rid, request.ref)
    setHead(db, branch, commitId)
  })
}

export function resetUncommitted(
  context: EngineContext,
  repository: string,
  branch: string,
  what: ResetRequest,
): Promise<void> {
  const { db, writes, staging } = context
  return writes.run(() => {
    if (what.type === 'object') checkPath(what.path)
    const stored = requireWritable(db, repository)
    refuseProtected(stored, branch, 'write to')
    const { bid, commitId } = requireBranch(db, stored.rid, branch)
    // A commit under way may have read what is discarded here: the new epoch makes it start again.
    raiseEpoch(db, bid)
    const head = treeOf(requireCommit(db, stored.rid, commitId))
    switch (what.type) {
      case 'reset':
        staging.drop(bid)
        break
      case 'object': {
        const change = staging.find(bid, toByteKey(what.path))
        if (change !== undefined) stageCommitted(context, { bid, head, change })
        break
      }
      case 'common_prefix': {
        const where = { bid, head, prefix: toByteKey(what.path) }
        // Measured: what was added is gone before all is sealed, what was changed or removed is not.
        resetPrefix(context, { ...where, only: 'added' })
        staging.seal(bid)
        resetPrefix(context, { ...where, only: 'committed' })
        break
      }
    }
  })
}

function resetPrefix(
  context: EngineContext,
  {
    bid,
    head,
    prefix,
    only,
  }: {
    readonly bid: number
    readonly head: NodeId
    readonly prefix: ByteKey
    readonly only: 'added' | 'committed'
  },
): void {
  const staged = context.staging.stream(bid)
  staged.seek(prefix)
  for (let change = staged.next(); change?.key.startsWith(prefix) === true; change = staged.next()) {
    const isAdded = lookUp(context.nodes, head, change.key) === undefined
    if (isAdded === (only === 'added')) stageCommitted(context, { bid, head, change })
  }
}

/** As lakeFS resets: what the head holds is staged over the change. It shows when the branch is moved to another commit. */
function stageCommitted(
  { nodes, staging }: EngineContext,
  where: { readonly bid: number; readonly head: NodeId; readonly change: StagedChange },
): void {
  const committed = lookUp(nodes, where.head, where.change.key)
  if (isRealChange(where.change, committed)) staging.put(where.bid, where.change.key, committed)
}

function toBranch({ name, commitId, hidden }: StoredBranch): Branch {
  return { name, commitId, hidden }
}
