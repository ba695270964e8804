import { expect, test } from 'vitest'
import { isLate, isThere } from './worker-signs.ts'

test('WB-69 only what a worker that is there wrote is taken for the present', () => {
  const states = ['running', 'stopping', 'stopped', 'silent', 'gone'] as const
  expect(states.filter(isThere)).toEqual(['running', 'stopping'])
})

test('WB-69 a lease that was over when the worker wrote is late, whatever the clock of the reader', () => {
  const attempt = { renewed_at: new Date(0).toISOString(), lease_ms: 30_000 }
  const at = (ms: number) => ({ written_at: new Date(ms).toISOString() })
  expect(isLate(attempt, at(30_000))).toBe(false)
  expect(isLate(attempt, at(30_001))).toBe(true)
})
