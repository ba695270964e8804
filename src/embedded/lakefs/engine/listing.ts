/** One page of any sorted stream: prefix, position, delimiter and amount mean the same in listings and in diffs. */

import type { DelimitedPageRequest, Page } from './engine.ts'
import { fromByteKey, successorOfPrefix, toByteKey, type ByteKey } from './tree/byte-key.ts'
import type { SortedStream } from './tree/sorted-stream.ts'

export interface PageShape<Item, Shown> {
  /** With a delimiter, everything that starts with `after` is behind it, as in the differences of lakeFS. */
  readonly skipsAfterAsPrefix?: boolean
  item(item: Item): Shown
  /** Represents everything that shares the path up to and including the delimiter. */
  prefix(path: string): Shown
}

export function readPage<Item extends { readonly key: ByteKey }, Shown>(
  stream: SortedStream<Item>,
  request: DelimitedPageRequest,
  shape: PageShape<Item, Shown>,
): Page<Shown> {
  const prefix = toByteKey(request.prefix ?? '')
  const after = toByteKey(request.after ?? '')
  const delimiter = toByteKey(request.delimiter ?? '')
  const isSkipped = shape.skipsAfterAsPrefix === true && delimiter !== '' && after >= prefix
  const start = isSkipped ? (successorOfPrefix(after) ?? after) : after
  stream.seek(start > prefix ? start : prefix)
  const items: Shown[] = []
  for (let item = stream.next(); item?.key.startsWith(prefix) === true; item = stream.next()) {
    const group = groupOf(item.key, prefix, delimiter)
    if (group !== undefined) {
      const behind = successorOfPrefix(group)
      if (behind !== undefined) stream.seek(behind)
    }
    // `after` may itself name a group: then the page continues after all of it.
    if ((group ?? item.key) === after) continue
    if (items.length === request.amount) return { items, hasMore: true }
    items.push(group === undefined ? shape.item(item) : shape.prefix(fromByteKey(group)))
  }
  return { items, hasMore: false }
}

/** The prefix that represents `key` in a listing with a delimiter; undefined when the key is listed itself. */
function groupOf(key: ByteKey, prefix: ByteKey, delimiter: ByteKey): ByteKey | undefined {
  if (delimiter === '') return undefined
  const at = key.indexOf(delimiter, prefix.length)
  return at < 0 ? undefined : (key.slice(0, at + delimiter.length) as ByteKey)
}
