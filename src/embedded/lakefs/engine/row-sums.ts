/**
 * A sum over the columns of each row that says what branches, tags, commits and staged changes are. SQLite has none: it gives
 * back a changed value as it stands in the file. Tree nodes need no sum, their id is one.
 */

import { crc32 } from 'node:zlib'
import type { SqliteConnection as MetadataDb, SqlValue } from '../../../base/sqlite-connection.ts'
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
/** A row as it stands in the file: text in bytes, under the name with `raw_`. */
export type RawRow = Readonly<Record<string, SqlValue | undefined>>

export const SUMMED_TABLES = Object.keys(SUMMED_COLUMNS) as SummedTable[]

/** Bytes that are no text end the whole process when they are read as text (libsql 0.5.29). */
const TEXT_COLUMNS: ReadonlySet<string> = new Set([
  'name',
  'storage_namespace',
  'default_branch',
  'protection',
  'namespace',
  'commit_id',
  'id',
  'record',
  'address',
  'sha256',
])

export function isTextColumn(column: string): boolean {
  return TEXT_COLUMNS.has(column)
}

/** For `SELECT`: what `checkRow` needs. */
export function summedColumns(table: SummedTable): string {
  return [
    ...SUMMED_COLUMNS[table].map((column) =>
      isTextColumn(column) ? `CAST(${column} AS BLOB) AS raw_${column}` : column,
    ),
    'sum',
  ].join(', ')
}

function valueOf(row: RawRow, column: string): SqlValue {
  return row[column] ?? row[`raw_${column}`] ?? null
}

export function sumOf(table: SummedTable, row: RawRow): number {
  // Sealed rows are copies of staged ones.
  let sum = crc32(table === 'sealed' ? 'staged' : table)
  for (const column of SUMMED_COLUMNS[table]) {
    const value = valueOf(row, column)
    const isNumber = typeof value === 'number' || typeof value === 'bigint'
    const bytes = isNumber ? String(value) : value
    // The kind and length in between, so that no two rows have the same bytes.
    const kind = value === null ? 'null' : isNumber ? 'number' : 'bytes'
    sum = crc32(`${kind} ${String(bytes === null ? 0 : Buffer.byteLength(bytes))} `, sum)
    if (bytes !== null) sum = crc32(bytes, sum)
  }
  return sum
}

export function insertSummed(
  db: MetadataDb,
  table: SummedTable,
  row: RawRow,
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
  const sql = `SELECT ${summedColumns(table)} FROM ${table} WHERE ${where}`
  const row = db.get<RawRow>(sql, ...values)
  if (row === undefined) return
  db.run(`UPDATE ${table} SET sum = ? WHERE ${where}`, sumOf(table, row), ...values)
}

/** Gives the row with its texts as text, or refuses it with its table and key. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- names the columns where they are asked for
export function checkRow<Row>(db: MetadataDb, table: SummedTable, row: RawRow): Row {
  if (row['sum'] !== sumOf(table, row)) {
    throw corrupt(db.file, `the row ${describeRow(table, row)} is damaged`)
  }
  const checked: Record<string, SqlValue | undefined> = { ...row }
  for (const column of SUMMED_COLUMNS[table]) {
    if (!isTextColumn(column)) continue
    const value = valueOf(row, column)
    checked[column] = Buffer.isBuffer(value) ? value.toString('utf8') : value
  }
  return checked as Row
}

/** With what makes the row out, not with all of its content. */
function describeRow(table: SummedTable, row: RawRow): string {
  const shown = SUMMED_COLUMNS[table]
    .filter((column) => column !== 'record' && column !== 'value')
    .map((column) => `${column}=${show(valueOf(row, column))}`)
  return `${table} ${shown.join(' ')}`
}

function show(value: SqlValue): string {
  return (Buffer.isBuffer(value) ? JSON.stringify(value.toString('utf8')) : String(value)).slice(0, 200)
}
