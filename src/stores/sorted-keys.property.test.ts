import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareKeys, endOfPrefix } from './key-order.ts'
import { SortedKeys } from './sorted-keys.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 6 })
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

test('ST-04 the order of keys in memory is that of their bytes', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(compareKeys(a, b))).toBe(Math.sign(byBytes(a, b)))
    }),
  )
})

test('ST-10 what begins with a prefix lies from it on and below its end, and nothing else does', () => {
  const near = fc.constantFrom('', 'a', 'a:', '\ud7ff', '\ue000', '\u{10ffff}', 'a\u{10ffff}')
  fc.assert(
    fc.property(near, fc.oneof(text, near), near, (prefix, other, tail) => {
      const end = endOfPrefix(prefix)
      for (const key of [other, prefix + other, prefix + tail]) {
        const isInside = byBytes(key, prefix) >= 0 && (end === undefined || byBytes(key, end) < 0)
        expect(isInside).toBe(key.startsWith(prefix))
      }
    }),
  )
})

test('ST-04 the ordered set in memory is an ordered set', () => {
  const step = fc.record({ add: fc.boolean(), key: fc.integer({ min: 0, max: 2000 }).map(String) })
  fc.assert(
    fc.property(
      fc.array(step, { size: '+2' }),
      fc.integer({ min: 0, max: 2000 }).map(String),
      (steps, place) => {
        const keys = new SortedKeys()
        const model = new Set<string>()
        for (const { add, key } of steps) {
          expect(add ? keys.add(key) : keys.delete(key)).toBe(add ? !model.has(key) : model.delete(key))
          if (add) model.add(key)
        }
        const sorted = [...model].sort(byBytes)
        expect(keys.size).toBe(sorted.length)
        expect([...keys.ascending('')]).toEqual(sorted)
        expect([...keys.ascending(place)]).toEqual(sorted.filter((key) => byBytes(key, place) >= 0))
        expect([...keys.descending(undefined)]).toEqual([...sorted].reverse())
        expect([...keys.descending(place)]).toEqual(sorted.filter((key) => byBytes(key, place) < 0).reverse())
      },
    ),
  )
})

test('ST-04 a set of many thousand keys stays in order', () => {
  const keys = new SortedKeys()
  for (let at = 0; at < 20_000; at += 1) keys.add(String((at * 7919) % 20_011))
  const all = [...keys.ascending('')]
  expect(all).toHaveLength(20_000)
  expect([...all].sort(byBytes)).toEqual(all)
  for (const key of all.filter((_, at) => at % 3 !== 0)) expect(keys.delete(key)).toBe(true)
  expect([...keys.descending(undefined)].reverse()).toEqual(all.filter((_, at) => at % 3 === 0))
})
