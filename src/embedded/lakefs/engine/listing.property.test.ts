// Goal: pages put together are the whole listing, with and without a delimiter. Method: a naive listing over an array.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readPage } from './listing.ts'
import { fromByteKey, toByteKey, type ByteKey } from './tree/byte-key.ts'
import type { SortedStream } from './tree/sorted-stream.ts'

const text = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b', '/', '-', 'ä', '😀'), maxLength })
const keys = fc
  .uniqueArray(
    text(6).filter((key) => key !== ''),
    { maxLength: 60 },
  )
  .map((list) => {
    return list.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  })
const shape = {
  item: (item: { key: ByteKey }) => fromByteKey(item.key),
  prefix: (path: string) => `${path} *`,
}

function streamOf(list: readonly string[]): SortedStream<{ key: ByteKey }> {
  const all = list.map(toByteKey)
  let at = 0
  return {
    next() {
      const key = all[at]
      at += 1
      return key === undefined ? undefined : { key }
    },
    seek(to) {
      while (at < all.length && all[at]! < to) at += 1
    },
  }
}

function naive(list: readonly string[], prefix: string, delimiter: string): string[] {
  const shown = list
    .filter((key) => key.startsWith(prefix))
    .map((key) => {
      const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length)
      return at < 0 ? key : `${key.slice(0, at + delimiter.length)} *`
    })
  return [...new Set(shown)]
}

test('EE-10 pages, each begun behind the last entry of the one before, make up the whole listing', () => {
  fc.assert(
    fc.property(
      keys,
      text(2),
      fc.constantFrom('', '/', '-', 'a/'),
      fc.integer({ min: 1, max: 5 }),
      (list, prefix, delimiter, amount) => {
        const found: string[] = []
        for (let after = ''; ;) {
          const page = readPage(streamOf(list), { prefix, delimiter, after, amount }, shape)
          found.push(...page.items)
          expect(page.items.length).toBeLessThanOrEqual(amount)
          if (!page.hasMore) break
          expect(page.items.length).toBe(amount)
          after = page.items.at(-1)!.replace(/ \*$/, '')
        }
        expect(found).toEqual(naive(list, prefix, delimiter))
      },
    ),
  )
})

test('EE-10 the position need not exist, and is left out when it does', () => {
  const list = ['a', 'c', 'e']
  expect(readPage(streamOf(list), { after: 'b', amount: 10 }, shape).items).toEqual(['c', 'e'])
  expect(readPage(streamOf(list), { after: 'c', amount: 10 }, shape).items).toEqual(['e'])
  expect(readPage(streamOf(list), { after: 'e', amount: 10 }, shape)).toEqual({ items: [], hasMore: false })
})

test('EE-10 there is more only when something would be shown', () => {
  const list = ['p/1', 'p/2', 'q']
  expect(readPage(streamOf(list), { prefix: 'p/', amount: 2 }, shape)).toEqual({
    items: ['p/1', 'p/2'],
    hasMore: false,
  })
  expect(readPage(streamOf(list), { delimiter: '/', amount: 1 }, shape)).toEqual({
    items: ['p/ *'],
    hasMore: true,
  })
  expect(readPage(streamOf(list), { delimiter: '/', after: 'p/', amount: 1 }, shape)).toEqual({
    items: ['q'],
    hasMore: false,
  })
})
