import type { SqliteConnection as MetadataDb, SqlValue } from '../../../base/sqlite-connection.ts'
import { EMBEDDED_GC_ROWS } from '../../limits.ts'

/** Page by page after the last row, so that no statement stays open during writes. The last parameter of `sql` is the page's size. */
export function eachRow<Row>(
  db: MetadataDb,
  walk: {
    readonly sql: string
    readonly start: readonly SqlValue[]
    position(row: Row): readonly SqlValue[]
    visit(row: Row): void
  },
): void {
  for (let at = walk.start; ;) {
    const rows = db.all<Row>(walk.sql, ...at, EMBEDDED_GC_ROWS)
    for (const row of rows) walk.visit(row)
    const last = rows.at(-1)
    if (last === undefined || rows.length < EMBEDDED_GC_ROWS) return
    at = walk.position(last)
  }
}
