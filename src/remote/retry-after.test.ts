import { expect, test } from 'vitest'
import { RETRY_AFTER_MAX_MS } from './limits.ts'
import { parseRetryAfter } from './retry-after.ts'

const now = new Date('1994-11-06T08:49:30Z')

test.each([
  ['seconds', '2', 2000],
  ['zero', '0', 0],
  ['spaces around', ' 120 ', 120_000],
  ['the usual date', 'Sun, 06 Nov 1994 08:49:37 GMT', 7000],
  ['the RFC 850 date', 'Sunday, 06-Nov-94 08:49:37 GMT', 7000],
  ['the asctime date', 'Sun Nov  6 08:49:37 1994', 7000],
  ['a date in the past', 'Sun, 06 Nov 1994 08:49:00 GMT', 0],
  ['a date far off', 'Sun, 06 Nov 2094 08:49:00 GMT', RETRY_AFTER_MAX_MS],
  ['far too many seconds', '99999999999999999999', RETRY_AFTER_MAX_MS],
])('BA-06 Retry-After reads %s', (_name, header, expected) => {
  expect(parseRetryAfter(header, now)).toBe(expected)
})

test.each([['-1'], ['1.5'], ['soon'], [''], ['   '], ['Sunday'], ['1e3'], [null], [undefined]])(
  'BA-06 Retry-After %j says nothing',
  (header) => {
    expect(parseRetryAfter(header, now)).toBeUndefined()
  },
)
