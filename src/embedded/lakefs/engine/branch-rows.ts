/** Rows of branches, read and moved. */

import { EngineError, type Branch } from './engine.ts'
import type { MetadataDb } from './metadata-db.ts'
import { checkRow, summedColumns, sumAgain, type RawRow } from './row-sums.ts'

/**
 * A branch with the number of its staged changes. `epoch` rises whenever the head is moved or staged changes are
 * discarded, so an update planned on an older state is noticed even when the head is the same again.
 */
export interface StoredBranch extends Branch {
  readonly bid: number
  readonly epoch: number
}

interface BranchRow {
  bid: number
  name: string
  commit_id: string
  hidden: number
  epoch: number
}

export const BRANCH_COLUMNS = summedColumns('branches')

/** Whether the name was free. */
export function insertBranch(
  db: MetadataDb,
  branch: {
    readonly rid: number
    readonly name: string
    readonly commitId: string
    readonly hidden: boolean
  },
): boolean {
  const added = db.run(
    'INSERT OR IGNORE INTO branches (rid, name, commit_id, hidden) VALUES (?, ?, ?, ?)',
    branch.rid,
    branch.name,
    branch.commitId,
    branch.hidden ? 1 : 0,
  )
  if (added > 0) sumAgain(db, 'branches', 'rid = ? AND name = ?', branch.rid, branch.name)
  return added > 0
}

export function setHead(db: MetadataDb, branch: StoredBranch, commitId: string): void {
  db.run('UPDATE branches SET commit_id = ?, epoch = epoch + 1 WHERE bid = ?', commitId, branch.bid)
  sumAgain(db, 'branches', 'bid = ?', branch.bid)
}

/** An update that was planned before is noticed by it. */
export function raiseEpoch(db: MetadataDb, bid: number): void {
  db.run('UPDATE branches SET epoch = epoch + 1 WHERE bid = ?', bid)
  sumAgain(db, 'branches', 'bid = ?', bid)
}

export function findBranch(db: MetadataDb, rid: number, name: string): StoredBranch | undefined {
  const row = db.get<RawRow>(`SELECT ${BRANCH_COLUMNS} FROM branches WHERE rid = ? AND name = ?`, rid, name)
  return row && branchFromRow(db, row)
}

export function requireBranch(db: MetadataDb, rid: number, name: string): StoredBranch {
  const branch = findBranch(db, rid, name)
  if (branch === undefined)
    throw new EngineError('branch-not-found', `branch ${JSON.stringify(name)} not found`)
  return branch
}

/** Refuses a damaged row. */
export function branchFromRow(db: MetadataDb, raw: RawRow): StoredBranch {
  const row = checkRow<BranchRow>(db, 'branches', raw)
  return { bid: row.bid, name: row.name, commitId: row.commit_id, hidden: row.hidden !== 0, epoch: row.epoch }
}
