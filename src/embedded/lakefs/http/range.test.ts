import { expect, test } from 'vitest'

import { readRange } from './range.ts'

test.each([
  ['bytes=0-3', { start: 0, end: 3 }],
  ['bytes=4-', { start: 4, end: 9 }],
  ['bytes=-3', { start: 7, end: 9 }],
  ['bytes=-100', { start: 0, end: 9 }],
  ['bytes=5-100', { start: 5, end: 9 }],
  ['bytes=0-0', { start: 0, end: 0 }],
])('ES-30 %s of ten bytes', (header, range) => {
  expect(readRange(header, 10)).toEqual({ kind: 'part', range })
})

test.each([
  ['bytes=20-30', true],
  ['bytes=10-10', true],
  ['bytes=-0', true],
  ['bytes=3-1', false],
  ['bytes=0-1,3-4', false],
  ['bytes=0-3,', false],
  ['bytes=-', false],
])('ES-31 %s of ten bytes is unsatisfiable, the size told: %s', (header, tellSize) => {
  expect(readRange(header, 10)).toEqual({ kind: 'unsatisfiable', tellSize })
})

test('ES-31 no range of an empty object can be satisfied', () => {
  expect(readRange('bytes=0-1', 0)).toEqual({ kind: 'unsatisfiable', tellSize: true })
})

test.each(['lines=1-2', 'bytes=,0-3', 'bytes= 0-3', 'bytes=a-b', 'bytes='])(
  'ES-32 %s is malformed',
  (header) => {
    expect(() => readRange(header, 10)).toThrow(expect.objectContaining({ status: 400 }) as Error)
  },
)

test('ES-32 a long hostile header is judged at once', () => {
  const header = `bytes=${'1-'.repeat(30_000)}x`
  expect(() => readRange(header, 10)).toThrow(expect.objectContaining({ status: 400 }) as Error)
})

test('ES-31 the size is not told of a range that is wrong in itself, wherever it would begin', () => {
  const unsatisfiable = (tellSize: boolean) => ({ kind: 'unsatisfiable', tellSize })
  for (const size of [0, 1]) {
    for (const wrong of ['bytes=5-2', 'bytes=0-1,2-3', 'bytes=-'])
      expect(readRange(wrong, size)).toEqual(unsatisfiable(false))
    expect(readRange('bytes=5-9', size)).toEqual(unsatisfiable(true))
  }
})
