/** Pages as one sequence of items. The next page is asked for only when it is needed. */

import { DefectError } from '../base/errors.ts'
import { LAKEFS_PAGE_MAX } from './limits.ts'

export interface Page<Item> {
  readonly items: readonly Item[]
  /** Where the next page begins; `undefined` at the end. */
  readonly next: string | undefined
}

export interface PageQuery {
  readonly after?: string
  readonly amount: number
}

/** `readPage` is called for one page after the other, each starting after the last. */
export async function* paged<Item>(
  readPage: (query: PageQuery) => Promise<Page<Item>>,
  options: {
    readonly after?: string | undefined
    readonly pageSize?: number | undefined
    readonly what: string
  },
): AsyncGenerator<Item, void, undefined> {
  const amount = Math.min(Math.max(1, options.pageSize ?? LAKEFS_PAGE_MAX), LAKEFS_PAGE_MAX)
  let after = options.after
  for (;;) {
    const page = await readPage(after === undefined ? { amount } : { after, amount })
    yield* page.items
    if (page.next === undefined) return
    // Names only grow, and ids of a log at least change: a page that leads to itself would be read for ever.
    if (page.next === after || page.items.length === 0) {
      throw new DefectError('lakefs/endless-pages', `${options.what}: the server repeats a page`, {
        details: { after },
      })
    }
    after = page.next
  }
}
