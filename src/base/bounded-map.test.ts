import { expect, test } from 'vitest'
import { BoundedMap } from './bounded-map.ts'

test('BA-100 a full map evicts the entry that was not used for the longest time', () => {
  const map = new BoundedMap<string, number>({ max: 2, evict: 'least-recently-used' })
  map.set('a', 1)
  map.set('b', 2)
  expect(map.get('a')).toBe(1)
  map.set('c', 3)
  expect([map.has('a'), map.has('b'), map.has('c')]).toEqual([true, false, true])
})

test('BA-100 a full map that evicts the oldest does not care what was read', () => {
  const map = new BoundedMap<string, number>({ max: 2, evict: 'oldest' })
  map.set('a', 1)
  map.set('b', 2)
  expect(map.get('a')).toBe(1)
  map.set('c', 3)
  expect([map.has('a'), map.has('b'), map.has('c')]).toEqual([false, true, true])
})

test('BA-100 entries can count by what they weigh', () => {
  const map = new BoundedMap<string, string>({ max: 5, evict: 'oldest', weigh: (value) => value.length })
  map.set('a', 'xx')
  map.set('b', 'xx')
  map.set('a', 'x')
  map.set('c', 'xx')
  expect(map.size).toBe(3)
  map.delete('c')
  map.set('d', 'xxxx')
  expect([map.get('a'), map.get('b'), map.get('d')]).toEqual(['x', undefined, 'xxxx'])
  map.set('e', 'too heavy')
  expect(map.size).toBe(0)
})

test('BA-100 a missing entry is made once and found afterwards', () => {
  const map = new BoundedMap<string, object>({ max: 2, evict: 'least-recently-used' })
  const first = map.getOrAdd('a', () => ({}))
  expect(map.getOrAdd('a', () => ({}))).toBe(first)
})
