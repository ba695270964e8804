import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Store } from '../../core/ports.ts'
import { openMemoryStore } from '../memory/memory-store.ts'
import { resealStore, sealStore } from './sealed-store.ts'

const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
const withFirst = { encryption: { keys: { first }, use: 'first' } }
const withBoth = { encryption: { keys: { first, second }, use: 'second' } }
const withSecond = { encryption: { keys: { second }, use: 'second' } }

async function put(store: Store, key: string, value: Uint8Array): Promise<void> {
  expect(await store.commit({ operations: [{ do: 'put', key, value }] })).toMatchObject({ committed: true })
}

async function read(store: Store, key: string): Promise<Buffer> {
  return Buffer.from((await store.get(key))?.value ?? [])
}

test('ST-91 nothing of a value is seen below, and equal values look different', async () => {
  const below = openMemoryStore()
  const store = sealStore(below, withFirst)
  const value = Buffer.from('a secret that repeats itself: a secret that repeats itself')
  await put(store, 'a', value)
  await put(store, 'b', value)
  expect((await read(store, 'a')).equals(value)).toBe(true)
  const [a, b] = [await read(below, 'a'), await read(below, 'b')]
  expect(a.includes('secret')).toBe(false)
  expect(a.equals(b)).toBe(false)
  expect(store.peek).toBeUndefined()
})

test('ST-92 a value that was changed in any byte, cut, or moved to another key does not open', async () => {
  const below = openMemoryStore()
  const store = sealStore(below, withFirst)
  await put(store, 'a', Buffer.from('value'))
  const sealed = await read(below, 'a')
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed)
    changed[at] = (changed[at] ?? 0) ^ 4
    await put(below, 'a', changed)
    await expect(store.get('a'), `byte ${at}`).rejects.toMatchObject({ kind: 'invalid' })
  }
  for (const length of [0, 1, 5, sealed.length - 1]) {
    await put(below, 'a', sealed.subarray(0, length))
    await expect(store.get('a'), `first ${length}`).rejects.toMatchObject({ kind: 'invalid' })
  }
  await put(below, 'b', sealed)
  await expect(store.get('b')).rejects.toMatchObject({ code: 'stores/damaged' })
})

test('ST-93 after a change of keys old values are read, and written anew they need the old key no more', async () => {
  const below = openMemoryStore()
  await put(sealStore(below, withFirst), 'old', Buffer.from('1'))
  await put(sealStore(below), 'clear', Buffer.from('2'))
  const store = sealStore(below, withBoth)
  await put(store, 'new', Buffer.from('3'))
  expect(await Promise.all(['old', 'clear', 'new'].map((key) => read(store, key)))).toEqual(
    ['1', '2', '3'].map((text) => Buffer.from(text)),
  )
  const alone = sealStore(below, withSecond)
  await expect(alone.get('old')).rejects.toMatchObject({ code: 'stores/unknown-key' })
  expect(await resealStore(below, withBoth)).toBe(2)
  expect((await read(alone, 'old')).toString()).toBe('1')
  expect(await resealStore(below, withBoth)).toBe(0)
})

test('ST-94 large values are compressed where it helps', async () => {
  const below = openMemoryStore()
  const store = sealStore(below, { compressFromBytes: 1000 })
  const values = { small: Buffer.alloc(999, 7), large: Buffer.alloc(100_000, 7), noise: randomBytes(5000) }
  for (const [key, value] of Object.entries(values)) {
    await put(store, key, value)
    expect((await read(store, key)).equals(value)).toBe(true)
  }
  expect((await read(below, 'small')).length).toBe(1000)
  expect((await read(below, 'large')).length).toBeLessThan(1000)
  expect((await read(below, 'noise')).length).toBe(5001)
})

test('ST-95 what was not sealed, and keys that do not fit, are refused', async () => {
  const below = openMemoryStore()
  await put(below, 'a', Buffer.from('{"json":true}'))
  await put(below, 'empty', Buffer.alloc(0))
  for (const key of ['a', 'empty']) {
    await expect(sealStore(below, withFirst).get(key)).rejects.toMatchObject({ code: 'stores/not-sealed' })
  }
  const code = 'stores/bad-encryption-key'
  expect(() => sealStore(below, { encryption: { keys: { first: Buffer.alloc(16) }, use: 'first' } })).toThrow(
    expect.objectContaining({ code }),
  )
  expect(() => sealStore(below, { encryption: { keys: { first }, use: 'other' } })).toThrow(
    expect.objectContaining({ code }),
  )
})
