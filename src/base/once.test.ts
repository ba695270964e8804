import { expect, test } from 'vitest'
import { once } from './once.ts'

test('BA-101 every caller gets the result of the first call', async () => {
  let calls = 0
  const close = once(async (report: string) => {
    calls++
    return Promise.resolve(report)
  })
  const first = close('first')
  expect(close('second')).toBe(first)
  expect(await first).toBe('first')
  expect(calls).toBe(1)
})
