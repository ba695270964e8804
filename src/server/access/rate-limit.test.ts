import { expect, test } from 'vitest'
import { ManualClock } from '../../testing/manual-clock.ts'
import { RateLimiter } from './rate-limit.ts'

test('DO-09 a caller may send a row at once and then so many a second; others are not held up by it', async () => {
  const clock = new ManualClock()
  const limiter = new RateLimiter({ atOnce: 3, perSecond: 2 }, clock)
  for (let count = 0; count < 3; count++) limiter.take('a')
  expect(() => limiter.take('a')).toThrow(
    expect.objectContaining({ code: 'api/too-many-requests', retryAfterMs: 500 }),
  )
  limiter.take('b')
  await clock.advance(499)
  expect(() => limiter.take('a')).toThrow(expect.objectContaining({ retryAfterMs: 1 }))
  await clock.advance(1)
  limiter.take('a')
  expect(() => limiter.take('a')).toThrow()
  // However long it was silent, no more than a row.
  await clock.advance(3_600_000)
  for (let count = 0; count < 3; count++) limiter.take('a')
  expect(() => limiter.take('a')).toThrow()
})

test('DO-09 looking counts nothing', () => {
  const limiter = new RateLimiter({ atOnce: 1, perSecond: 1 }, new ManualClock())
  limiter.check('a')
  limiter.check('a')
  limiter.take('a')
  expect(() => limiter.check('a')).toThrow()
})
