import { expect, test } from 'vitest'
import { ManualClock } from '../testing/manual-clock.ts'
import { systemClock } from './clock.ts'

test('BA-01 a sleep ends with the reason of its signal as soon as it is aborted', async () => {
  const controller = new AbortController()
  const reason = new Error('enough')
  const sleep = systemClock.sleep(3_600_000, controller.signal)
  controller.abort(reason)
  await expect(sleep).rejects.toBe(reason)
  await expect(systemClock.sleep(3_600_000, controller.signal)).rejects.toBe(reason)
})

test('BA-01 a reason that is no error becomes one', async () => {
  await expect(systemClock.sleep(3_600_000, AbortSignal.abort())).rejects.toThrow(DOMException)
  const controller = new AbortController()
  const sleep = systemClock.sleep(3_600_000, controller.signal)
  controller.abort('just a word')
  await expect(sleep).rejects.toThrow('just a word')
})

test('BA-02 a sleep lasts at least as long as it was asked to', async () => {
  const startMs = systemClock.monotonicMs()
  await systemClock.sleep(5)
  expect(systemClock.monotonicMs() - startMs).toBeGreaterThanOrEqual(5)
})

test('BA-02 a sleep longer than the longest timer does not end at once', async () => {
  const controller = new AbortController()
  let ended = false
  const sleep = systemClock.sleep(2 ** 31 + 1000, controller.signal).then(() => {
    ended = true
  })
  await systemClock.sleep(10)
  expect(ended).toBe(false)
  controller.abort(new Error('test over'))
  await expect(sleep).rejects.toThrow('test over')
})

test('BA-03 the manual clock wakes sleepers in the order in which they are due', async () => {
  const clock = new ManualClock()
  const woken: string[] = []
  const late = clock.sleep(300).then(() => woken.push(`late at ${clock.monotonicMs()}`))
  const early = clock.sleep(100).then(() => woken.push(`early at ${clock.monotonicMs()}`))
  await clock.advance(299)
  expect(woken).toEqual(['early at 100'])
  await clock.advance(1)
  await Promise.all([late, early])
  expect(woken).toEqual(['early at 100', 'late at 300'])
  expect(clock.sleeping).toBe(0)
})
