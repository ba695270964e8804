import { expect, test } from 'vitest'
import { LAKEFS_PAGE_MAX } from './limits.ts'
import { paged, type PageQuery } from './paging.ts'

function pagesOf(names: readonly string[]): {
  readonly asked: PageQuery[]
  readonly read: (query: PageQuery) => Promise<{ items: readonly string[]; next: string | undefined }>
} {
  const asked: PageQuery[] = []
  return {
    asked,
    read: (query) => {
      asked.push(query)
      const rest = names.filter((name) => query.after === undefined || name > query.after)
      const items = rest.slice(0, query.amount)
      return Promise.resolve({ items, next: rest.length > items.length ? items.at(-1) : undefined })
    },
  }
}

test('LC-18 pages are asked for one by one, and only while somebody wants more', async () => {
  const pages = pagesOf(['a', 'b', 'c', 'd', 'e'])
  const found: string[] = []
  for await (const name of paged(pages.read, { pageSize: 2, what: 'test' })) {
    found.push(name)
    if (name === 'c') break
  }
  expect(found).toEqual(['a', 'b', 'c'])
  expect(pages.asked).toEqual([{ amount: 2 }, { amount: 2, after: 'b' }])
  const rest: string[] = []
  for await (const name of paged(pages.read, { pageSize: 5000, after: 'c', what: 'test' })) rest.push(name)
  expect(rest).toEqual(['d', 'e'])
  expect(pages.asked.at(-1)).toEqual({ amount: LAKEFS_PAGE_MAX, after: 'c' })
})

test.each([
  ['leads to itself', { items: ['a'], next: 'x' }],
  ['is empty and promises more', { items: [], next: 'y' }],
])('LC-19 a page that %s is an error, not an endless loop', async (_, page) => {
  const items = paged(() => Promise.resolve(page), { after: 'x', what: 'test' })
  const drain = async (): Promise<void> => {
    for await (const item of items) expect(item).toBe('a')
  }
  await expect(drain()).rejects.toMatchObject({ code: 'lakefs/endless-pages' })
})
