/**
 * A sum over the columns of each row that says what branches, tags, commits and staged changes are. SQLite has none: it gives
 * back a changed value as it stands in the file. Tree nodes need no sum, their id is one.
 */

import { crc32 } from 'node:zlib'
import type { SqlValue } from '../../../base/sqlite-connection.ts'
import type { MetadataDb } from './metadata-db.ts'
import { corrupt } from './storage-errors.ts'

/** What each sum covers. A number that SQLite gives out itself stands in an index as well, which is compared at the start. */
const SUMMED_COLUMNS = {
  meta: ['name', 'value'],
  repositories: [
    'rid',
    'name',
    'storage_namespace',
    'default_branch',
    'created_at',
    'read_only',
    'deleted',
    'protection',
  ],
  namespaces: ['namespace'],
  branches: ['bid', 'rid', 'name', 'commit_id', 'hidden', 'epoch'],
  tags: ['rid', 'name', 'commit_id'],
  commits: ['rid', 'id', 'record'],
  staged: ['bid', 'key', 'seq', 'value'],
  sealed: ['bid', 'key', 'seq', 'value'],
  dropped_stagings: ['bid'],
  addresses: ['rid', 'address', 'sha256', 'size_bytes', 'stored_at'],
} as const

export type SummedTable = keyof typeof SUMMED_COLUMNS
export type SummedRow = Readonly<Record<string, SqlValue | undefined>>

export const SUMMED_TABLES = Object.keys(SUMMED_COLUMNS) as SummedTable[]

/** For `SELECT`: what `checkRow` needs. */
export function summedColumns(table: SummedTable): string {
  return [...SUMMED_COLUMNS[table], 'sum'].join(', ')
}

export function sumOf(table: SummedTable, row: SummedRow): number {
  // Sealed rows are copies of staged ones.
  let sum = crc32(table === 'sealed' ? 'staged' : table)
  for (const column of SUMMED_COLUMNS[table]) {
    const value = row[column] ?? null
    const bytes = typeof value === 'number' || typeof value === 'bigint' ? String(value) : value
    const length = bytes === null ? 0 : bytes.length
    // The type and length in between, so that no two rows have the same bytes.
    sum = crc32(`${value === null ? 'null' : typeof value} ${length} `, sum)
    if (bytes !== null) sum = crc32(bytes, sum)
  }
  return sum
}

export function insertSummed(
  db: MetadataDb,
  table: SummedTable,
  row: SummedRow,
  conflict: 'FAIL' | 'IGNORE' | 'REPLACE' = 'FAIL',
): number {
  const names = SUMMED_COLUMNS[table]
  const values = names.map((name) => row[name] ?? null)
  const verb = conflict === 'FAIL' ? 'INSERT' : `INSERT OR ${conflict}`
  return db.run(
    `${verb} INTO ${table} (${names.join(', ')}, sum) VALUES (${names.map(() => '?').join(', ')}, ?)`,
    ...values,
    sumOf(table, row),
  )
}

/** After other columns of one row were changed. */
export function sumAgain(
  db: MetadataDb,
  table: 'meta' | 'repositories' | 'branches',
  where: string,
  ...values: readonly SqlValue[]
): void {
  const [key] = SUMMED_COLUMNS[table]
  const sql = `SELECT ${summedColumns(table)} FROM ${table} WHERE ${where}`
  const row = db.get<Record<string, SqlValue>>(sql, ...values)
  if (row === undefined) return
  db.run(`UPDATE ${table} SET sum = ? WHERE ${key} = ?`, sumOf(table, row), row[key] ?? null)
}

/** Gives the row back, or refuses it with its table and key. */
export function checkRow<Row extends object>(db: MetadataDb, table: SummedTable, row: Row): Row {
  const columns = row as unknown as SummedRow
  if (columns['sum'] === sumOf(table, columns)) return row
  throw corrupt(db.file, `the row ${describeRow(table, columns)} is damaged`)
}

function describeRow(table: SummedTable, row: SummedRow): string {
  const shown = SUMMED_COLUMNS[table]
    .filter((column) => column !== 'record' && column !== 'value')
    .map((column) => `${column}=${show(row[column])}`)
  return `${table} ${shown.join(' ')}`
}

function show(value: SqlValue | undefined): string {
  return (Buffer.isBuffer(value) ? JSON.stringify(value.toString('utf8')) : String(value)).slice(0, 200)
}
