/** The schema and the first rows of a Parquet file, of which only the needed parts are read. */

import { cachedAsyncBuffer, parquetMetadataAsync, parquetReadObjects, parquetSchema, toJson } from 'hyparquet'
import type { Table } from './table-diff.ts'

export const PARQUET_ROWS = 200
/** Of one file. A group of rows may be large, and comes whole. */
const READ_MAX_BYTES = 24 * 1_048_576
const CELL_MAX = 500

export interface ParquetFile {
  readonly schema: Table
  readonly rowCount: number
  readonly groups: number
  readonly writer: string | undefined
  /** Its first rows; or why they cannot be read. */
  readonly head: Table | { readonly why: string }
}

export interface RangedFile {
  readonly sizeBytes: number
  readonly read: (start: number, length: number) => Promise<ArrayBuffer>
}

export async function readParquet({ sizeBytes, read }: RangedFile): Promise<ParquetFile> {
  let readBytes = 0
  const file = cachedAsyncBuffer({
    byteLength: sizeBytes,
    slice: async (start, end = sizeBytes) => {
      readBytes += end - start
      if (readBytes > READ_MAX_BYTES)
        throw new Error('they take more bytes than are read for looking at them.')
      return read(start, end - start)
    },
  })
  const metadata = await parquetMetadataAsync(file)
  const { children } = parquetSchema(metadata)
  const schema: Table = {
    columns: ['column', 'type', 'may be absent'],
    rows: children.map(({ element, children: inner }) => [
      element.name,
      inner.length > 0 ? `group of ${String(inner.length)}` : typeOf(element),
      element.repetition_type === 'REQUIRED'
        ? 'no'
        : element.repetition_type === 'REPEATED'
          ? 'repeated'
          : 'yes',
    ]),
  }
  const columns = children.map(({ element }) => element.name)
  const head = await parquetReadObjects({ file, metadata, rowStart: 0, rowEnd: PARQUET_ROWS }).then(
    (rows) => ({ columns, rows: rows.map((row) => columns.map((name) => showCell(row[name]))) }),
    (error: unknown) => ({ why: sayWhy(error, metadata.row_groups[0]?.columns[0]?.meta_data?.codec) }),
  )
  return {
    ...{ schema, head, rowCount: Number(metadata.num_rows), groups: metadata.row_groups.length },
    writer: metadata.created_by,
  }
}

function sayWhy(error: unknown, codec: string | undefined): string {
  const reason = error instanceof Error ? error.message : 'they cannot be read'
  return reason.includes('compression codec')
    ? `they are compressed with ${codec ?? 'something'}, which is not read here. Download the file to see them.`
    : reason
}

type Element = ReturnType<typeof parquetSchema>['element']

function typeOf({ type, logical_type: logical, converted_type: converted }: Element): string {
  const meant = logical?.type ?? converted
  return meant === undefined ? (type ?? '') : `${meant.toLowerCase()} (${type ?? ''})`
}

function showCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value.slice(0, CELL_MAX)
  // As a number it would lose its last digits.
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'no date' : value.toISOString()
  if (value instanceof Uint8Array) return [...value.subarray(0, 32)].map(hex).join('')
  return JSON.stringify(toJson(value)).slice(0, CELL_MAX)
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0')
}
