import { expect, test } from 'vitest'
import { ManualClock } from '../testing/manual-clock.ts'
import {
  DefectError,
  InvalidError,
  MissingError,
  RefusedError,
  UnavailableError,
  UncertainError,
} from './errors.ts'
import { DEFAULT_RETRY_POLICY, retry, retryDelay, type RetryNotice } from './retry.ts'

const away = (retryAfterMs?: number): UnavailableError =>
  new UnavailableError(
    'base/away',
    'read the thing: away',
    retryAfterMs === undefined ? {} : { retryAfterMs },
  )
const half = { next: () => 0.5 }

test('BA-07 an unavailable operation is tried again until it succeeds, waiting longer each time', async () => {
  const clock = new ManualClock()
  const notices: RetryNotice[] = []
  const answer = await clock.run(
    retry((attempt) => (attempt < 4 ? Promise.reject(away()) : Promise.resolve(`try ${attempt}`)), {
      clock,
      random: half,
      policy: { firstDelayMs: 100, maxDelayMs: 250 },
      onRetry: (notice) => notices.push(notice),
    }),
  )
  expect(answer).toBe('try 4')
  expect(notices.map(({ attempt, delayMs }) => [attempt, delayMs])).toEqual([
    [1, 50],
    [2, 100],
    [3, 125],
  ])
  expect(clock.monotonicMs()).toBe(275)
})

test.each([
  new InvalidError('base/x', 'x'),
  new MissingError('base/x', 'x'),
  new RefusedError('base/x', 'x'),
  new UncertainError('base/x', 'x', { read: 'the head' }),
  new DefectError('base/x', 'x'),
  new TypeError('not ours'),
])('BA-08 $name is not tried again', async (error) => {
  let tries = 0
  const outcome = retry(() => {
    tries++
    return Promise.reject(error)
  })
  await expect(outcome).rejects.toBe(error)
  expect(tries).toBe(1)
})

test('BA-08 a predicate of the caller decides instead', async () => {
  const clock = new ManualClock()
  const lost = new UncertainError('base/lost', 'x', { read: 'the head' })
  const outcome = retry((attempt) => (attempt === 1 ? Promise.reject(lost) : Promise.resolve('done')), {
    clock,
    shouldRetry: (error) => error === lost,
  })
  await expect(clock.run(outcome)).resolves.toBe('done')
})

test('BA-09 the last error is thrown as it is when the tries are used up', async () => {
  const clock = new ManualClock()
  const errors: Error[] = []
  const outcome = retry(
    () => {
      const error = away()
      errors.push(error)
      return Promise.reject(error)
    },
    { clock, policy: { maxAttempts: 3 } },
  )
  const thrown: unknown = await clock.run(outcome).catch((error: unknown) => error)
  expect(errors).toHaveLength(3)
  expect(thrown).toBe(errors[2])
})

test('BA-10 what the server asks for is waited for, with jitter on top', () => {
  const policy = DEFAULT_RETRY_POLICY
  const delay = (jitter: number): number =>
    retryDelay({ attempt: 1, error: away(5000), policy, random: { next: () => jitter } })
  expect(delay(0)).toBe(5000)
  expect(delay(0.9)).toBeGreaterThan(5000)
  expect(delay(0.9)).toBeLessThan(5000 + policy.firstDelayMs)
})

test('BA-10 a wish that goes beyond the time budget ends the trying at once', async () => {
  const clock = new ManualClock()
  let tries = 0
  const outcome = retry(
    () => {
      tries++
      return Promise.reject(away(60_001))
    },
    { clock, policy: { maxElapsedMs: 60_000 } },
  )
  await expect(clock.run(outcome)).rejects.toThrow('away')
  expect(tries).toBe(1)
  expect(clock.monotonicMs()).toBe(0)
})

test('BA-11 an abort ends the wait with its reason', async () => {
  const clock = new ManualClock()
  const controller = new AbortController()
  const outcome = retry(() => Promise.reject(away()), { clock, signal: controller.signal, random: half })
  const settled = outcome.catch((error: unknown) => error)
  await clock.advance(1)
  expect(clock.sleeping).toBe(1)
  const reason = new Error('stop now')
  controller.abort(reason)
  expect(await settled).toBe(reason)
  expect(clock.sleeping).toBe(0)
})

test('BA-11 nothing is begun under a signal that is aborted already', async () => {
  let tries = 0
  const outcome = retry(() => Promise.resolve(tries++), { signal: AbortSignal.abort(new Error('too late')) })
  await expect(outcome).rejects.toThrow('too late')
  expect(tries).toBe(0)
})

test('BA-12 an answer that arrived is kept although the signal was aborted meanwhile', async () => {
  const controller = new AbortController()
  const answer = await retry(
    () => {
      controller.abort(new Error('too late to matter'))
      return Promise.resolve('the commit is made')
    },
    { signal: controller.signal },
  )
  expect(answer).toBe('the commit is made')
})
