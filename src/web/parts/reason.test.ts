import { expect, test } from 'vitest'
import { readReason } from './reason.ts'

test('WB-55 the reason of a failure is taken apart into what happened, its code and the next step', () => {
  expect(readReason('the body failed: no order [task/failed]. Look at tasks.mjs:19.')).toEqual({
    what: 'the body failed: no order',
    code: 'task/failed',
    next: 'Look at tasks.mjs:19.',
  })
  const wrapped = "Task 17-a failed with status: FAILED and reason: 'no order [task/failed]. Look at a.ts:1.'"
  expect(readReason(wrapped)).toEqual({ what: 'no order', code: 'task/failed', next: 'Look at a.ts:1.' })
  expect(readReason('stopped [worker/stale-attempt]')).toEqual({
    what: 'stopped',
    code: 'worker/stale-attempt',
    next: undefined,
  })
  expect(readReason('a [b] c')).toEqual({ what: 'a [b] c', code: undefined, next: undefined })
})
