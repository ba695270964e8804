/** Reading a whole range, one page at a time. Between two pages others have their turn. */

import { nextTurn } from '../base/turns.ts'
import type { RangePage, RangeRequest, Store, StoreCallOptions, StoreEntry } from './ports.ts'

/** `first` is the size of the first page, where a few entries usually tell enough. */
type PagesRequest = RangeRequest & { readonly first?: number | undefined }

export async function* readPages(
  store: Store,
  request: PagesRequest,
  options: StoreCallOptions = {},
): AsyncGenerator<readonly StoreEntry[], void, undefined> {
  for await (const { entries } of readRangePages(store, request, options)) yield entries
}

/** The same with each page's `next`, for readers that stop before the end. */
export async function* readRangePages(
  store: Store,
  request: PagesRequest,
  options: StoreCallOptions = {},
): AsyncGenerator<RangePage, void, undefined> {
  let { first: limit = request.limit, after } = request
  for (;;) {
    const { prefix, order } = request
    const page = await store.range({ prefix, order, limit, after }, options)
    yield page
    if (page.next === undefined) return
    limit = request.limit
    after = page.next
    await nextTurn()
  }
}
