/**
 * Whether the metadata are as they were written, as far as every start looks: the structure of the database, its schema, and
 * the rows of the small tables. Commits, staged changes and tree nodes are checked when they are read.
 */

import { crc32 } from 'node:zlib'
import type { SqliteConnection as MetadataDb } from '../../../base/sqlite-connection.ts'
import { EMBEDDED_FULL_CHECK_MAX_BYTES } from '../../limits.ts'
import {
  checkRow,
  insertSummed,
  isTextColumn,
  summedColumns,
  sumOf,
  SUMMED_TABLES,
  type RawRow,
  type SummedTable,
} from './row-sums.ts'
import { eachRow } from './row-walk.ts'
import { corrupt } from './storage-errors.ts'

const PRIMARY_KEYS: Readonly<Record<SummedTable, readonly string[]>> = {
  meta: ['name'],
  repositories: ['rid'],
  namespaces: ['namespace'],
  branches: ['bid'],
  tags: ['rid', 'name'],
  commits: ['seq'],
  staged: ['bid', 'key'],
  sealed: ['bid', 'key'],
  dropped_stagings: ['bid'],
  addresses: ['rid', 'address'],
}

/** May have very many rows, and a damaged one concerns one branch or commit only. */
const CHECKED_WHEN_READ: readonly SummedTable[] = ['commits', 'staged', 'sealed']

/** Refuses the first thing that is wrong. Indexes are compared with their tables, so no row is lost between them. */
export function checkStructure(db: MetadataDb, bytes: number): void {
  // Reading every page takes too long on a large repository; nodes are checked against their id when they are read.
  const names = bytes <= EMBEDDED_FULL_CHECK_MAX_BYTES ? [undefined] : tablesOf(db)
  for (const name of names) {
    const [problem] = listStructureProblems(db, name)
    if (problem !== undefined) throw corrupt(db.file, problem)
  }
}

/** What SQLite finds wrong in the whole file, or in one table and its indexes. */
export function listStructureProblems(db: MetadataDb, table?: string): string[] {
  const found = db.all<{ integrity_check: string }>(
    `PRAGMA integrity_check${table === undefined ? '' : `(${table})`}`,
  )
  return found.map((row) => row.integrity_check).filter((text) => text !== 'ok')
}

function tablesOf(db: MetadataDb): string[] {
  const tables = db.all<{ name: string }>(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
  return tables.map(({ name }) => name).filter((name) => name !== 'nodes')
}

/** Before anything that shows names from it: bytes that are no text would end the process. */
export function checkSchema(db: MetadataDb): void {
  const recorded = db.get<{ value: number }>(`SELECT value FROM meta WHERE name = 'schema'`)?.value
  if (recorded !== sumOfSchema(db)) throw corrupt(db.file, 'its schema is damaged')
}

export function checkSmallTables(db: MetadataDb): void {
  for (const table of SUMMED_TABLES) {
    if (CHECKED_WHEN_READ.includes(table)) continue
    eachSummedRow(db, table, (row) => void checkRow(db, table, row))
  }
}

/** All rows of a table, as `checkRow` needs them. */
export function eachSummedRow(db: MetadataDb, table: SummedTable, visit: (row: RawRow) => void): void {
  const keys = PRIMARY_KEYS[table]
  const inSum = summedColumns(table)
  // The number of a commit is not in its sum.
  const columns = table === 'commits' ? `seq, ${inSum}` : inSum
  const bound = keys.map((key) => (isTextColumn(key) ? 'CAST(? AS TEXT)' : '?')).join(', ')
  eachRow<RawRow>(db, {
    sql: `SELECT ${columns} FROM ${table} WHERE (${keys.join(', ')}) > (${bound}) ORDER BY ${keys.join(', ')} LIMIT ?`,
    // Before every text, key or number.
    start: keys.map((key) => (isTextColumn(key) || key === 'key' ? Buffer.alloc(0) : -1)),
    position: (row) => keys.map((key) => row[key] ?? row[`raw_${key}`] ?? null),
    visit,
  })
}

/** Directories of earlier versions have no sums: they get them once, from the rows as they are. */
export function addSums(db: MetadataDb, version: number): void {
  db.transaction(() => {
    db.exec(
      `CREATE TABLE IF NOT EXISTS sealed (bid INTEGER NOT NULL, key BLOB NOT NULL, value BLOB, PRIMARY KEY (bid, key)) WITHOUT ROWID;
       ALTER TABLE sealed ADD COLUMN seq INTEGER NOT NULL DEFAULT 0`,
    )
    for (const table of SUMMED_TABLES) {
      db.exec(`ALTER TABLE ${table} ADD COLUMN sum INTEGER`)
      const keys = PRIMARY_KEYS[table]
      const same = keys.map((key) => `${key} = ${isTextColumn(key) ? 'CAST(? AS TEXT)' : '?'}`)
      const sql = `UPDATE ${table} SET sum = ? WHERE ${same.join(' AND ')}`
      eachSummedRow(db, table, (row) => {
        db.run(sql, sumOf(table, row), ...keys.map((key) => row[key] ?? row[`raw_${key}`] ?? null))
      })
    }
    db.exec(`PRAGMA user_version = ${version}`)
    recordSchema(db)
  })
}

export function recordSchema(db: MetadataDb): void {
  insertSummed(db, 'meta', { name: 'schema', value: sumOfSchema(db) }, 'REPLACE')
}

/** With the pages where tables and indexes begin: one that began elsewhere would lack rows. */
function sumOfSchema(db: MetadataDb): number {
  const rows = db.all<{ rootpage: number; text: Buffer }>(
    `SELECT rootpage, CAST(type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, '') AS BLOB) AS text
     FROM sqlite_schema ORDER BY type, name`,
  )
  return rows.reduce((sum, { rootpage, text }) => crc32(text, crc32(`${String(rootpage)} `, sum)), 0)
}
