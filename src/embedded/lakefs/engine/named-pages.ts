/** Pages over rows that are ordered by a name: repositories, branches, tags. SQLite's own text order is byte order. */

import type { Page, PageRequest } from './engine.ts'
import { fromByteKey, successorOfPrefix, toByteKey } from './tree/byte-key.ts'

export interface NameRange {
  readonly from: string
  readonly after: string
  /** Null when there is no end. */
  readonly before: string | null
}

export function rangeOf({ prefix = '', after = '' }: PageRequest): NameRange {
  const end = successorOfPrefix(toByteKey(prefix))
  // Names are ASCII, so the successor of a prefix that matches any is ASCII as well; others match nothing anyway.
  return { from: prefix, after, before: end === undefined ? null : fromByteKey(end) }
}

/** `rows` holds one more than `amount` when there are more. */
export function pageOfRows<Row, Item>(
  rows: readonly Row[],
  amount: number,
  toItem: (row: Row) => Item,
): Page<Item> {
  return { items: rows.slice(0, amount).map(toItem), hasMore: rows.length > amount }
}
