/**
 * Garbage collection, while no server runs: it holds the directory's lock itself.
 *
 * It keeps everything that a commit of an existing repository, reachable or abandoned, or a staged change of an existing
 * branch names, and bytes stored recently at a reserved address that may still be linked. When in doubt it keeps. Tree
 * nodes are removed before the bytes they name, so an interrupted run leaves nothing that names missing bytes.
 */

import { opendir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock, type Clock } from '../../../base/clock.ts'
import { EMBEDDED_GC_ROWS, EMBEDDED_STAGING_ADDRESS_MS } from '../../limits.ts'
import { fileLeftBlobs } from './blob-journal.ts'
import { sweepTempFiles } from './disk-blob-store.ts'
import { commitFromRow, treeOf } from './commits.ts'
import { openDataDir } from './data-dir.ts'
import { physicalAddressOf } from './entry-codec.ts'
import type { MetadataDb } from './metadata-db.ts'
import { checkRow, summedColumns, type RawRow } from './row-sums.ts'
import { eachRow } from './row-walk.ts'
import { SqliteNodeStore } from './sqlite-node-store.ts'
import { sweepStep } from './sweeper.ts'
import type { NodeStore } from './tree/node-store.ts'
import { EMPTY_TREE, isLeaf, type NodeId } from './tree/tree-node.ts'

export interface GarbageReport {
  readonly dryRun: boolean
  /** Tree nodes that no tree needs. */
  readonly nodesRemoved: number
  readonly nodeBytesRemoved: number
  readonly nodesKept: number
  /** Objects' bytes that no entry names. */
  readonly objectsRemoved: number
  readonly objectBytesRemoved: number
  readonly objectsKept: number
  /** Reserved addresses with bytes that were not linked in time. */
  readonly addressesRemoved: number
}

/**
 * With `dryRun` nothing is removed, and the report says what would be.
 *
 * ```ts
 * const report = await collectGarbage('.perago/lakefs', { dryRun: true })
 * ```
 */
export async function collectGarbage(
  dataDir: string,
  options: { readonly dryRun?: boolean; readonly clock?: Clock } = {},
): Promise<GarbageReport> {
  const dir = await openDataDir(dataDir, { mustExist: true })
  try {
    const { db } = dir
    await fileLeftBlobs(dir)
    const dryRun = options.dryRun ?? false
    const nowMs = (options.clock ?? systemClock).now().getTime()
    if (!dryRun) {
      sweepDeleted(db)
      await sweepTempFiles(dir.tempDir)
    }
    const oldestKept = Math.floor((nowMs - EMBEDDED_STAGING_ADDRESS_MS) / 1000)
    db.transaction(() => markKept(db, oldestKept))
    const nodes = sweepNodes(db, dryRun)
    const addressesRemoved = sweepAddresses(db, dryRun)
    const objects = await sweepObjects(db, dir.objectsDir, dryRun)
    return { dryRun, ...nodes, ...objects, addressesRemoved }
  } finally {
    dir.close()
  }
}

/** What was deleted before and is not removed yet. */
function sweepDeleted(db: MetadataDb): void {
  for (let isMore = true; isMore;) isMore = db.transaction(() => sweepStep(db))
}

/** Marks go to temporary tables and not to memory: a repository may have millions of objects. */
function markKept(db: MetadataDb, oldestKept: number): void {
  db.exec('CREATE TEMP TABLE kept_nodes (id BLOB PRIMARY KEY) WITHOUT ROWID')
  db.exec('CREATE TEMP TABLE kept_names (name TEXT PRIMARY KEY) WITHOUT ROWID')
  const nodes = new SqliteNodeStore(db)
  const existing = 'rid IN (SELECT rid FROM repositories WHERE deleted = 0)'
  eachRow<RawRow & { seq: number }>(db, {
    sql: `SELECT seq, ${summedColumns('commits')} FROM commits WHERE seq > ? AND ${existing} ORDER BY seq LIMIT ?`,
    start: [0],
    position: (row) => [row.seq],
    visit: (row) => markTree(db, nodes, treeOf(commitFromRow(db, row))),
  })
  eachRow<RawRow & { bid: number; key: Buffer }>(db, {
    sql: `SELECT ${summedColumns('staged')} FROM staged WHERE (bid, key) > (?, ?) AND bid IN (SELECT bid FROM branches WHERE ${existing}) ORDER BY bid, key LIMIT ?`,
    start: [0, Buffer.alloc(0)],
    position: (row) => [row.bid, row.key],
    visit: (row) => {
      const { value } = checkRow<{ value: Buffer | null }>(db, 'staged', row)
      if (value !== null) markAddress(db, physicalAddressOf(value))
    },
  })
  db.run(
    `INSERT OR IGNORE INTO kept_names SELECT address FROM addresses WHERE stored_at >= ? AND ${existing}`,
    oldestKept,
  )
  db.run(
    'INSERT OR IGNORE INTO kept_names SELECT sha256 FROM addresses WHERE address IN (SELECT name FROM kept_names)',
  )
}

function markTree(db: MetadataDb, nodes: NodeStore, root: NodeId): void {
  const waiting = [root]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (id === EMPTY_TREE) continue
    const isNew = db.run('INSERT OR IGNORE INTO kept_nodes (id) VALUES (?)', Buffer.from(id, 'hex')) > 0
    if (!isNew) continue
    // A missing node stops everything here, before anything is removed.
    const node = nodes.load(id)
    if (isLeaf(node)) for (const value of node.values) markAddress(db, physicalAddressOf(value))
    else waiting.push(...node.children)
  }
}

/** By content or by a reserved address; of any namespace, since an entry may name another repository's bytes. */
function markAddress(db: MetadataDb, address: string): void {
  const byContent = /\/data\/([0-9a-f]{64})$/.exec(address)?.[1]
  db.run('INSERT OR IGNORE INTO kept_names (name) VALUES (?)', byContent ?? address)
}

function sweepNodes(
  db: MetadataDb,
  dryRun: boolean,
): Pick<GarbageReport, 'nodesRemoved' | 'nodeBytesRemoved' | 'nodesKept'> {
  const unneeded = 'FROM nodes WHERE id NOT IN (SELECT id FROM kept_nodes)'
  const found = db.get<{ nodes: number; bytes: number | null }>(
    `SELECT count(*) AS nodes, sum(length(bytes)) AS bytes ${unneeded}`,
  )
  const kept = db.get<{ nodes: number }>('SELECT count(*) AS nodes FROM kept_nodes')
  if (!dryRun) removeInBatches(db, 'nodes', 'number', `SELECT number ${unneeded} LIMIT ?`)
  return {
    nodesRemoved: found?.nodes ?? 0,
    nodeBytesRemoved: found?.bytes ?? 0,
    nodesKept: kept?.nodes ?? 0,
  }
}

function sweepAddresses(db: MetadataDb, dryRun: boolean): number {
  const unneeded = 'FROM addresses WHERE address NOT IN (SELECT name FROM kept_names)'
  const found = db.get<{ addresses: number }>(`SELECT count(*) AS addresses ${unneeded}`)
  if (!dryRun) removeInBatches(db, 'addresses', 'address', `SELECT address ${unneeded} LIMIT ?`)
  return found?.addresses ?? 0
}

function removeInBatches(db: MetadataDb, table: string, key: string, selection: string): void {
  const sql = `DELETE FROM ${table} WHERE ${key} IN (${selection})`
  for (let removed = 1; removed > 0;) removed = db.transaction(() => db.run(sql, EMBEDDED_GC_ROWS))
}

async function sweepObjects(
  db: MetadataDb,
  objectsDir: string,
  dryRun: boolean,
): Promise<Pick<GarbageReport, 'objectsRemoved' | 'objectBytesRemoved' | 'objectsKept'>> {
  const sums = { objectsRemoved: 0, objectBytesRemoved: 0, objectsKept: 0 }
  for await (const { name } of await opendir(objectsDir)) {
    // A file with another name is not ours.
    if (!/^[0-9a-f]{64}$/.test(name)) continue
    if (db.get('SELECT 1 AS found FROM kept_names WHERE name = ?', name) !== undefined) {
      sums.objectsKept += 1
      continue
    }
    const file = join(objectsDir, name)
    sums.objectsRemoved += 1
    sums.objectBytesRemoved += (await stat(file)).size
    if (!dryRun) await unlink(file)
  }
  return sums
}
