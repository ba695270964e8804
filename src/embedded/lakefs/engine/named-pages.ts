/** Pages of rows that are ordered by a name: repositories, branches, tags. SQLite's own text order is byte order. */

import type { SqlValue } from '../../../base/sqlite-connection.ts'
import type { Page, PageRequest } from './engine.ts'
import type { MetadataDb } from './metadata-db.ts'
import { fromByteKey, successorOfPrefix, toByteKey } from './tree/byte-key.ts'

/** `sql` ends in its `WHERE` clause; its rows have a column `name`. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- names the columns where they are asked for
export function pageByName<Row, Item>(
  db: MetadataDb,
  query: { readonly sql: string; readonly values: readonly SqlValue[]; readonly toItem: (row: Row) => Item },
  { prefix = '', after = '', amount }: PageRequest,
): Page<Item> {
  const end = successorOfPrefix(toByteKey(prefix))
  // Names are ASCII, so the successor of a prefix that matches any is ASCII as well; others match nothing anyway.
  const before = end === undefined ? null : fromByteKey(end)
  const rows = db.all<Row>(
    `${query.sql} AND name >= ? AND name > ? AND (? IS NULL OR name < ?) ORDER BY name LIMIT ?`,
    ...query.values,
    prefix,
    after,
    before,
    before,
    amount + 1,
  )
  return { items: rows.slice(0, amount).map(query.toItem), hasMore: rows.length > amount }
}
