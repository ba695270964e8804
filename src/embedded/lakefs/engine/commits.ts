/** Commit objects: written once, never changed, never removed while their repository exists. */

import { computeCommitId } from './commit-id.ts'
import { EngineError, type Commit } from './engine.ts'
import type { MetadataDb } from './metadata-db.ts'
import { checkRow, insertSummed, summedColumns, type RawRow } from './row-sums.ts'
import type { NodeStore } from './tree/node-store.ts'
import { EMPTY_TREE, type NodeId } from './tree/tree-node.ts'

export interface StoredCommit {
  readonly commit: Commit
  /** Rises with every commit stored. */
  readonly seq: number
}

export function makeCommit(content: Omit<Commit, 'id' | 'version'>): Commit {
  return { id: computeCommitId(content), version: 1, ...content }
}

/** Equal content is the same commit: storing it again does nothing. Returns whether it was new. */
export function insertCommit(db: MetadataDb, rid: number, commit: Commit): boolean {
  const { id, ...record } = commit
  return insertSummed(db, 'commits', { rid, id, record: JSON.stringify(record) }, 'IGNORE') > 0
}

function findStoredCommit(db: MetadataDb, rid: number, id: string): StoredCommit | undefined {
  const sql = `SELECT seq, ${summedColumns('commits')} FROM commits WHERE rid = ? AND id = ?`
  const row = db.get<RawRow & { seq: number }>(sql, rid, id)
  return row && { seq: row.seq, commit: commitFromRow(db, row) }
}

/** Refuses a damaged row. */
export function commitFromRow(db: MetadataDb, row: RawRow): Commit {
  const { id, record } = checkRow<{ id: string; record: string }>(db, 'commits', row)
  return { id, ...(JSON.parse(record) as Omit<Commit, 'id'>) }
}

export function findCommit(db: MetadataDb, rid: number, id: string): Commit | undefined {
  return findStoredCommit(db, rid, id)?.commit
}

export function requireStoredCommit(db: MetadataDb, rid: number, id: string): StoredCommit {
  const stored = findStoredCommit(db, rid, id)
  if (stored === undefined) throw new EngineError('ref-not-found', `commit ${id} not found`)
  return stored
}

export function requireCommit(db: MetadataDb, rid: number, id: string): Commit {
  return requireStoredCommit(db, rid, id).commit
}

/** Ids of commits with this prefix, two at most: enough to know whether there is exactly one. */
export function findCommitIdsByPrefix(db: MetadataDb, rid: number, prefix: string): string[] {
  const sql = 'SELECT id FROM commits WHERE rid = ? AND id >= ? AND id < ? LIMIT 2'
  return db.all<{ id: string }>(sql, rid, prefix, `${prefix}g`).map((row) => row.id)
}

/** The first commit of a repository names no tree: its tree is the empty one. */
export function treeOf(commit: Pick<Commit, 'metaRangeId'>): NodeId {
  return treeOfMetaRange(commit.metaRangeId)
}

function treeOfMetaRange(metaRangeId: string): NodeId {
  return metaRangeId === '' ? EMPTY_TREE : (metaRangeId as NodeId)
}

export function requireTree(nodes: NodeStore, metaRangeId: string): NodeId {
  const isId = metaRangeId === '' || /^[0-9a-f]{64}$/.test(metaRangeId)
  const tree = treeOfMetaRange(metaRangeId)
  if (!isId || !nodes.has(tree)) {
    throw new EngineError('meta-range-not-found', `meta range ${JSON.stringify(metaRangeId)} not found`)
  }
  return tree
}
