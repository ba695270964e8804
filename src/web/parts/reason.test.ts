import { expect, test } from 'vitest'
import { readReason, shortenIds, splitIds } from './reason.ts'

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

test('WB-89 long ids of commits in a text are shown by their first digits, and anything else as it is', () => {
  const [one, other] = ['3f'.repeat(32), 'a0'.repeat(20)]
  expect(splitIds(`from ${one}: head ${other}, x`)).toEqual([
    { text: 'from ' },
    { text: '3f3f3f3f', id: one },
    { text: ': head ' },
    { text: 'a0a0a0a0', id: other },
    { text: ', x' },
  ])
  expect(shortenIds(`from ${one}`)).toBe('from 3f3f3f3f')
  for (const text of ['', 'no id', `${one}0`, 'x'.repeat(64), '3206e28d', `perago-${one}x`])
    expect(splitIds(text)).toEqual(text === '' ? [] : [{ text }])
})
