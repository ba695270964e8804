/** Reading a whole range, one page at a time. */

import type { RangeRequest, Store, StoreCallOptions, StoreEntry } from './ports.ts'

/** `first` is the size of the first page, where a few entries usually tell enough. */
export async function* readPages(
  store: Store,
  request: RangeRequest & { readonly first?: number },
  options: StoreCallOptions = {},
): AsyncGenerator<readonly StoreEntry[], void, undefined> {
  let { first: limit = request.limit, after } = request
  do {
    const { prefix, order } = request
    const page = await store.range({ prefix, order, limit, after }, options)
    yield page.entries
    limit = request.limit
    after = page.next
  } while (after !== undefined)
}
