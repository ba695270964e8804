import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatTraceparent, isInSample, makeTraceId, parseTraceparent, spanIdOf } from './trace-context.ts'

const HEX = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f']
const hex = (length: number): fc.Arbitrary<string> =>
  fc
    .string({ unit: fc.constantFrom(...HEX), minLength: length, maxLength: length })
    .filter((digits) => !/^0+$/.test(digits))

test('EN-900 a trace context that was written is read again', () => {
  fc.assert(
    fc.property(hex(32), hex(16), fc.boolean(), (traceId, spanId, isSampled) => {
      const context = { traceId, spanId, isSampled }
      expect(parseTraceparent(formatTraceparent(context))).toEqual(context)
    }),
  )
})

const GOOD = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

test.each([
  ['nothing', undefined],
  ['no header', null],
  ['capitals', GOOD.toUpperCase()],
  ['a trace of zeros', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
  ['a span of zeros', `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`],
  ['the forbidden version', `ff${GOOD.slice(2)}`],
  ['more than its version has', `${GOOD}-more`],
  ['too little', GOOD.slice(0, -3)],
])('EN-900 %s is ignored', (_, header) => {
  expect(parseTraceparent(header)).toBeUndefined()
})

test('EN-900 a later version may have more parts, and flags that are not known', () => {
  expect(parseTraceparent(`01${GOOD.slice(2, -2)}ff-more`)).toMatchObject({ isSampled: true })
  expect(parseTraceparent(`${GOOD.slice(0, -2)}02`)).toMatchObject({ isSampled: false })
})

test('X-161 one trace in ten is in a sample of 0.1, all in one of 1, none in one of 0', () => {
  const ids = Array.from({ length: 10_000 }, makeTraceId)
  const sampled = ids.filter((id) => isInSample(id, 0.1))
  // More than 6 standard deviations to both sides.
  expect(sampled.length).toBeGreaterThan(800)
  expect(sampled.length).toBeLessThan(1_200)
  expect(ids.every((id) => isInSample(id, 1))).toBe(true)
  expect(ids.some((id) => isInSample(id, 0))).toBe(false)
  // A larger share holds the smaller one.
  expect(sampled.every((id) => isInSample(id, 0.2))).toBe(true)
})

test('EN-900 a name has one span, other names have others', () => {
  expect(spanIdOf('a')).toMatch(/^[0-9a-f]{16}$/)
  expect(spanIdOf('a')).toBe(spanIdOf('a'))
  expect(new Set(Array.from({ length: 1_000 }, (_, at) => spanIdOf(String(at)))).size).toBe(1_000)
})
