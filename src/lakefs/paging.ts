/** Pages as one row of items. The next page is asked for only when somebody wants more. */

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

/** `readPage` is asked for one page after the other, each beginning behind the last. */
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
    // Names only go up, ids of a log at least change: a page that leads to itself would be asked for without end.
    if (page.next === after || page.items.length === 0) {
      throw new DefectError('lakefs/endless-pages', `${options.what}: the server repeats a page`, {
        details: { after },
      })
    }
    after = page.next
  }
}
