import { expect } from 'vitest'
import {
  STORE_BATCH_MAX_OPERATIONS,
  STORE_KEY_MAX_BYTES,
  STORE_PAGE_MAX_BYTES,
  STORE_VALUE_MAX_BYTES,
} from '../../../src/core/limits.ts'
import type { StoreOperation } from '../../../src/core/ports.ts'
import { executionId, executionKeys } from '../../../src/core/keys.ts'
import {
  fill,
  keysOf,
  numbered,
  put,
  readPages,
  remove,
  text,
  write,
  writeIf,
  type StoreCase,
} from './scene.ts'

/** From every place where orders of texts differ: bytes, UTF-16 units, and what a dictionary would do. */
const ORDERED = [
  'A',
  'B',
  'a',
  'a b',
  'a!',
  'a%',
  'a-',
  'a.',
  'aB',
  'aa',
  'a_',
  'b',
  'z',
  'é',
  'ß',
  '€',
  'ﬀ',
  '𝒳',
  '😀',
]

export const ENTRY_CASES: Readonly<Record<string, StoreCase>> = {
  'ST-01 what was put is read back byte for byte': async ({ store }) => {
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte)
    await write(
      store,
      { do: 'put', key: 'all', value: all },
      { do: 'put', key: 'none', value: new Uint8Array() },
    )
    expect(Buffer.from((await store.get('all'))?.value ?? []).equals(Buffer.from(all))).toBe(true)
    expect((await store.get('none'))?.value.byteLength).toBe(0)
  },

  'ST-01 where a store answers at once, it answers what it answers otherwise': async ({ store }) => {
    if (store.peek === undefined) return
    await write(store, put('k', 'first'))
    await write(store, put('k', 'second', 60_000), put('l', 'gone'))
    await write(store, remove('l'))
    for (const key of ['k', 'l', 'never']) {
      const [entry, peeked] = [await store.get(key), store.peek(key)]
      expect(peeked === undefined).toBe(entry === undefined)
      if (entry !== undefined) expect(peeked).toMatchObject(entry)
    }
    await store.close()
    expect(() => store.peek?.('k')).toThrow(/the store is closed/)
  },

  'ST-01 the caller’s bytes and the store’s are not the same bytes': async ({ store }) => {
    const mine = Uint8Array.from([1, 2, 3])
    await write(store, { do: 'put', key: 'k', value: mine })
    mine.fill(9)
    const read = await store.get('k')
    expect([...(read?.value ?? [])]).toEqual([1, 2, 3])
    read?.value.fill(7)
    expect([...((await store.get('k'))?.value ?? [])]).toEqual([1, 2, 3])
  },

  'ST-02 a key that was never put or was deleted is absent': async ({ store }) => {
    expect(await store.get('k')).toBeUndefined()
    await write(store, put('k'))
    expect(await store.get('k')).toMatchObject({ key: 'k' })
    await write(store, remove('k'))
    expect(await store.get('k')).toBeUndefined()
    await write(store, remove('k'))
    expect(await store.get('k')).toBeUndefined()
  },

  'ST-03 each writing of a key has a higher revision, also after a deletion': async ({ store }) => {
    const revisions: number[] = []
    for (const operation of [put('k', '1'), put('k', '1'), remove('k'), put('k', '1')]) {
      const revision = await write(store, operation)
      if (operation.do === 'delete') continue
      revisions.push(revision)
      expect((await store.get('k'))?.revision).toBe(revision)
    }
    expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b))
  },

  'ST-03 writing one key leaves the revision of another': async ({ store }) => {
    const revision = await write(store, put('a'))
    await write(store, put('b'))
    expect((await store.get('a'))?.revision).toBe(revision)
  },

  'ST-04 keys are ordered by their UTF-8 bytes': async ({ store }) => {
    const expected = [...ORDERED].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    await fill(store, ORDERED)
    expect(await keysOf(store, '')).toEqual(expected)
    const { entries } = await store.range({ prefix: '', order: 'descending' })
    expect(entries.map(({ key }) => key)).toEqual(expected.reverse())
  },

  'ST-05 a key of the greatest length is kept, a longer one and an illegal one are refused': async ({
    store,
  }) => {
    const longest = 'k'.repeat(STORE_KEY_MAX_BYTES)
    await write(store, put(longest, 'long'))
    expect(text(await store.get(longest))).toBe('long')
    for (const key of [`${longest}k`, '', 'a\u0000b', 'a\nb', 'a\ud800', '€'.repeat(400)]) {
      await expect(store.get(key)).rejects.toMatchObject({ code: 'stores/bad-key', kind: 'invalid' })
      await expect(store.commit({ operations: [put(key)] })).rejects.toMatchObject({ code: 'stores/bad-key' })
    }
    expect(await keysOf(store, '')).toEqual([longest])
  },

  'ST-06 a value of the greatest size is kept, a larger one is refused': async ({ store }) => {
    const value = Buffer.alloc(STORE_VALUE_MAX_BYTES, 'perago')
    await write(store, { do: 'put', key: 'large', value })
    expect(Buffer.from((await store.get('large'))?.value ?? []).equals(value)).toBe(true)
    const larger = { do: 'put', key: 'larger', value: Buffer.alloc(STORE_VALUE_MAX_BYTES + 1) } as const
    await expect(store.commit({ operations: [larger] })).rejects.toMatchObject({ code: 'stores/too-large' })
  },

  'ST-10 a range has the keys of its prefix, in both directions, and no others': async ({ store }) => {
    await fill(store, [
      'a',
      'a:',
      'a:1',
      'a:2',
      'a;',
      'a:1:x',
      'a%',
      'a_1',
      'b:1',
      '\u{10ffff}',
      '\u{10ffff}x',
    ])
    const [up] = await readPages(store, { prefix: 'a:' })
    expect(up).toEqual(['a:', 'a:1', 'a:1:x', 'a:2'])
    const [down] = await readPages(store, { prefix: 'a:', order: 'descending' })
    expect(down).toEqual(['a:2', 'a:1:x', 'a:1', 'a:'])
    expect(await readPages(store, { prefix: 'a%' })).toEqual([['a%']])
    expect(await readPages(store, { prefix: 'a_' })).toEqual([['a_1']])
    expect(await readPages(store, { prefix: '\u{10ffff}' })).toEqual([['\u{10ffff}', '\u{10ffff}x']])
    expect(await readPages(store, { prefix: 'c' })).toEqual([[]])
  },

  'ST-10 a range gives what the keys hold': async ({ store }) => {
    const revision = await write(store, put('a:1', 'one'), put('a:2', 'two'))
    const { entries } = await store.range({ prefix: 'a:' })
    expect(entries.map((entry) => [entry.key, text(entry), entry.revision])).toEqual([
      ['a:1', 'one', revision],
      ['a:2', 'two', revision],
    ])
  },

  'ST-11 pages follow each other without a key lost or repeated': async ({ store }) => {
    const keys = numbered('k:', 23)
    await fill(store, ['j', ...keys, 'l'])
    for (const limit of [1, 7, 22, 23, 24]) {
      const pages = await readPages(store, { prefix: 'k:', limit })
      expect(pages.flat()).toEqual(keys)
      expect(pages.length).toBe(Math.ceil(23 / limit))
      const down = await readPages(store, { prefix: 'k:', limit, order: 'descending' })
      expect(down.flat()).toEqual([...keys].reverse())
    }
  },

  'ST-12 a range goes on behind any place, whether a key stands there or not': async ({ store }) => {
    await fill(store, ['k:1', 'k:3', 'k:5'])
    const from = (after: string, order: 'ascending' | 'descending'): Promise<string[][]> =>
      readPages(store, { prefix: 'k:', after, order })
    expect(await from('k:2', 'ascending')).toEqual([['k:3', 'k:5']])
    expect(await from('k:3', 'ascending')).toEqual([['k:5']])
    expect(await from('k:4', 'descending')).toEqual([['k:3', 'k:1']])
    expect(await from('k:3', 'descending')).toEqual([['k:1']])
    expect(await from('a', 'ascending')).toEqual([['k:1', 'k:3', 'k:5']])
    expect(await from('z', 'ascending')).toEqual([[]])
    expect(await from('a', 'descending')).toEqual([[]])
    expect(await from('z', 'descending')).toEqual([['k:5', 'k:3', 'k:1']])
    expect(await from('k:', 'ascending')).toEqual([['k:1', 'k:3', 'k:5']])
  },

  'ST-13 a page of large values ends early and the next one goes on': async ({ store }) => {
    const keys = numbered('big:', 7)
    const value = Buffer.alloc(STORE_VALUE_MAX_BYTES, 1)
    for (const key of keys) await write(store, { do: 'put', key, value })
    for (const order of ['ascending', 'descending'] as const) {
      const pages = await readPages(store, { prefix: 'big:', order })
      expect(pages.flat().sort()).toEqual(keys)
      const most = STORE_PAGE_MAX_BYTES / STORE_VALUE_MAX_BYTES
      expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(most)
    }
  },

  'ST-14 a page of no or too many entries is refused': async ({ store }) => {
    for (const limit of [0, -1, 1.5, 1001]) {
      await expect(store.range({ prefix: 'a', limit })).rejects.toMatchObject({ code: 'stores/bad-range' })
    }
  },

  'ST-40 delete by prefix removes exactly its keys, however many, and counts them': async ({ store }) => {
    const keys = numbered('d:', 2301)
    await fill(store, [...keys, 'd', 'd;', 'c:1', 'e:1'])
    expect(await store.clear('d:')).toBe(2301)
    expect(await keysOf(store, '')).toEqual(['c:1', 'd', 'd;', 'e:1'])
    expect(await store.clear('d:')).toBe(0)
  },

  'ST-122 delete by several prefixes removes exactly their keys, however many, and counts those of each':
    async ({ store }) => {
      if (store.clearEach === undefined) return
      await fill(store, [
        ...numbered('a:', 300),
        ...numbered('b:', 1204),
        ...numbered('d:', 7),
        'a',
        'c:1',
        'd;',
      ])
      expect(await store.clearEach(['d:', 'none:', 'b:', 'a:'])).toEqual([7, 0, 1204, 300])
      expect(await keysOf(store, '')).toEqual(['a', 'c:1', 'd;'])
      expect(await store.clearEach(['d:', 'b:'])).toEqual([0, 0])
      expect(await store.clearEach([])).toEqual([])
      await expect(store.clearEach(['c:', ''])).rejects.toMatchObject({ code: 'stores/bad-prefix' })
      expect(await keysOf(store, '')).toEqual(['a', 'c:1', 'd;'])
    },

  'ST-41 delete by the empty prefix is refused': async ({ store }) => {
    await write(store, put('k'))
    await expect(store.clear('')).rejects.toMatchObject({ code: 'stores/bad-prefix', kind: 'invalid' })
    expect(await keysOf(store, '')).toEqual(['k'])
  },

  'ST-42 N-44 clearing one execution leaves another whose id begins with the same letters': async ({
    store,
  }) => {
    const [first, ...others] = ['exec_1', 'exec_10', 'exec_1x', 'exec_'].map((id) =>
      executionKeys({ execution: executionId(id) }),
    )
    for (const keys of [first!, ...others])
      await write(store, put(keys.event('a.b')), put(keys.variable('c.d')))
    expect(await store.clear(first!.events)).toBe(1)
    expect(await store.clear(first!.variables)).toBe(1)
    expect(await keysOf(store, '')).toEqual([
      'events:exec_10:a.b',
      'events:exec_1x:a.b',
      'events:exec_:a.b',
      'variables:exec_10:c.d',
      'variables:exec_1x:c.d',
      'variables:exec_:c.d',
    ])
  },

  'ST-23 a batch that is too long, too large or names a key twice is refused': async ({ store }) => {
    const refused = async (operations: readonly StoreOperation[], code: string): Promise<void> => {
      await expect(store.commit({ operations })).rejects.toMatchObject({ code, kind: 'invalid' })
    }
    await refused(
      numbered('k', STORE_BATCH_MAX_OPERATIONS + 1).map((key) => put(key)),
      'stores/bad-batch',
    )
    await refused([put('k'), remove('k')], 'stores/bad-batch')
    await refused([put('k', 'x', 0)], 'stores/bad-batch')
    const half = { do: 'put', value: Buffer.alloc(STORE_VALUE_MAX_BYTES * 0.7) } as const
    await refused(
      [
        { ...half, key: 'a' },
        { ...half, key: 'b' },
      ],
      'stores/too-large',
    )
    expect(await keysOf(store, '')).toEqual([])
    const most = numbered('m', STORE_BATCH_MAX_OPERATIONS)
    const conditions = most.map((key) => ({ key, is: 'absent' }) as const)
    expect(await writeIf(store, conditions, ...most.map((key) => put(key)))).toMatchObject({
      committed: true,
    })
    expect(await keysOf(store, 'm')).toEqual(most)
  },

  'ST-20 a batch of puts and deletes happens as one': async ({ store }) => {
    await write(store, put('a', '1'), put('b', '1'))
    const revision = await write(store, put('a', '2'), remove('b'), put('c', '2'), remove('d'))
    const { entries } = await store.range({ prefix: '' })
    expect(entries.map((entry) => [entry.key, text(entry), entry.revision])).toEqual([
      ['a', '2', revision],
      ['c', '2', revision],
    ])
  },

  'ST-20 a batch without operations checks its conditions and writes nothing': async ({ store }) => {
    await write(store, put('a'))
    expect(await store.commit({ conditions: [{ key: 'a', is: 'present' }], operations: [] })).toMatchObject({
      committed: true,
    })
    expect(await store.commit({ conditions: [{ key: 'a', is: 'absent' }], operations: [] })).toMatchObject({
      committed: false,
    })
  },

  'ST-21 a batch happens only if every condition holds': async ({ store }) => {
    const revision = await write(store, put('there', 'old'))
    const at = (key: string, number: number) => ({ key, is: 'at', revision: number }) as const
    const tried = async (...conditions: Parameters<typeof writeIf>[1]): Promise<boolean> => {
      const { committed } = await writeIf(store, conditions, put('mark'))
      const isMarked = (await store.get('mark')) !== undefined
      expect(isMarked).toBe(committed)
      await write(store, remove('mark'))
      return committed
    }
    expect(await tried({ key: 'there', is: 'present' })).toBe(true)
    expect(await tried({ key: 'there', is: 'absent' })).toBe(false)
    expect(await tried({ key: 'not', is: 'absent' })).toBe(true)
    expect(await tried({ key: 'not', is: 'present' })).toBe(false)
    expect(await tried(at('there', revision))).toBe(true)
    expect(await tried(at('there', revision + 1))).toBe(false)
    expect(await tried(at('not', revision))).toBe(false)
    expect(await tried(at('not', 0))).toBe(false)
    expect(await tried({ key: 'there', is: 'present' }, { key: 'not', is: 'present' })).toBe(false)
    expect(await tried({ key: 'there', is: 'present' }, { key: 'not', is: 'absent' })).toBe(true)
    expect(text(await store.get('there'))).toBe('old')
  },

  'ST-22 a refused batch says which conditions did not hold, and what was there': async ({ store }) => {
    const revision = await write(store, put('a'))
    expect(
      await writeIf(
        store,
        [
          { key: 'z', is: 'present' },
          { key: 'q', is: 'absent' },
          { key: 'a', is: 'at', revision: revision + 7 },
        ],
        put('a', 'new'),
      ),
    ).toEqual({
      committed: false,
      unmet: [
        { key: 'z', revision: undefined },
        { key: 'a', revision },
      ],
    })
    expect(text(await store.get('a'))).toBe('x')
  },
}
