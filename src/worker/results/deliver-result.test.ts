// Goal: a result counts exactly when its hand-out is still the one the queue waits for, and it is known which.
import { describe, expect, test } from 'vitest'
import { recordOf } from '../../../test/support/worker/world.ts'
import { InvalidError, RefusedError, UnavailableError, UncertainError } from '../../base/errors.ts'
import { RESULT_FENCE_AGE_MAX_MS, RESULT_POST_ATTEMPTS } from '../limits.ts'
import { silentLogger } from '../../base/logger.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { deliverResult, type Delivery } from './deliver-result.ts'
import type { ResultStatus, TaskQueue, TaskRecord, TaskResult, TaskStatus } from '../ports.ts'

const gone = Symbol('gone')
type Reading = Partial<TaskRecord> | typeof gone | Error
type Answer = boolean | Error

interface Told {
  readonly delivery: Promise<Delivery>
  readonly calls: string[]
  /** How long each post might wait to be sent. */
  readonly sendWithinMs: (number | undefined)[]
}

/** Delivers against a queue that shows these readings, one after the other, and answers posts so. */
function deliver(
  readings: readonly Reading[],
  options: {
    status?: ResultStatus
    answers?: readonly Answer[]
    beforePost?: Promise<unknown>
    /** How long the copy takes. */
    copyMs?: number
    postsMax?: number
    fencedMsAgo?: number
  } = {},
): Told {
  const { status = 'COMPLETED', answers = [], fencedMsAgo, copyMs, ...rest } = options
  const calls: string[] = []
  const sendWithinMs: (number | undefined)[] = []
  const queue: Pick<TaskQueue, 'readTask' | 'postResult'> = {
    readTask: () => {
      const reading = readings[Math.min(calls.filter((call) => call === 'read').length, readings.length - 1)]
      calls.push('read')
      if (reading instanceof Error) return Promise.reject(reading)
      return Promise.resolve(reading === gone ? undefined : recordOf(reading as Partial<TaskRecord>))
    },
    postResult: (_, given = {}) => {
      sendWithinMs.push(given.sendWithinMs)
      const answer = answers[calls.filter((call) => call === 'post').length] ?? true
      calls.push('post')
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
    },
  }
  const { taskId, workflowId, workerId } = recordOf()
  const result: TaskResult = { taskId, workflowId, workerId, status, output: {} }
  const clock = new ManualClock()
  const delivery = clock.run(
    deliverResult({
      queue: queue,
      attempt: recordOf(),
      result,
      clock,
      logger: silentLogger,
      currentAtMs: fencedMsAgo === undefined ? undefined : clock.monotonicMs() - fencedMsAgo,
      ...(copyMs !== undefined && { beforePost: clock.sleep(copyMs) }),
      ...rest,
    }),
  )
  return { delivery, calls, sendWithinMs }
}

const open: Reading = { status: 'IN_PROGRESS' }
const done = (status: TaskStatus = 'COMPLETED'): Reading => ({ status })
const unavailable = new UnavailableError('conductor/unreachable', 'not now')
const uncertain = new UncertainError('conductor/lost', 'no answer', { read: 'the task' })

describe('the table of deliveries', () => {
  test('WK-56 the task is read while the copy is written, and nothing is posted before it is', async () => {
    const kept: string[] = []
    const { delivery, calls } = deliver([open, done()], {
      beforePost: new Promise((resolve) => setImmediate(resolve)).then(() => kept.push(...calls)),
    })
    expect(await delivery).toEqual({ delivered: true, posts: 1 })
    expect([kept, calls]).toEqual([['read'], ['read', 'post', 'read']])
  })

  test('WK-40 still this hand-out: posted once, read back, delivered', async () => {
    const { delivery, calls } = deliver([open, done()])
    expect(await delivery).toEqual({ delivered: true, posts: 1 })
    expect(calls).toEqual(['read', 'post', 'read'])
  })

  const others: readonly [string, Reading, TaskStatus | 'gone'][] = [
    ['timed out', { status: 'TIMED_OUT' }, 'TIMED_OUT'],
    ['cancelled', { status: 'CANCELED' }, 'CANCELED'],
    ['gone', gone, 'gone'],
    [
      'rerun, and scheduled under the same id',
      { status: 'SCHEDULED', startTimeMs: 0, pollCount: 0 },
      'SCHEDULED',
    ],
    ['rerun, and run by another worker', { startTimeMs: 7, workerId: 'other' }, 'IN_PROGRESS'],
    ['handed out once more', { pollCount: 2, workerId: 'other' }, 'IN_PROGRESS'],
    ['completed by another worker', { status: 'COMPLETED', workerId: 'other' }, 'COMPLETED'],
    ['failed by itself', { status: 'FAILED' }, 'FAILED'],
  ]
  test.each(others)('WK-41 %s: nothing is posted', async (_, reading, status) => {
    const { delivery, calls } = deliver([reading])
    expect(await delivery).toEqual({ delivered: false, status })
    expect(calls).toEqual(['read'])
  })

  test('WK-300 completed under a later claim of the same worker name: not by this result', async () => {
    for (const claim of [{ startTimeMs: 7 }, { pollCount: 2 }]) {
      const { delivery } = deliver([{ status: 'COMPLETED', ...claim }])
      expect(await delivery).toEqual({ delivered: false, status: 'COMPLETED' })
    }
  })

  test('WK-41 what the attempt fence has only just read is posted at once; what is older is read again', async () => {
    const fresh = deliver([done()], { fencedMsAgo: RESULT_FENCE_AGE_MAX_MS })
    expect(await fresh.delivery).toEqual({ delivered: true, posts: 1 })
    expect(fresh.calls).toEqual(['post', 'read'])
    const old = deliver([gone], { fencedMsAgo: RESULT_FENCE_AGE_MAX_MS + 1 })
    expect(await old.delivery).toEqual({ delivered: false, status: 'gone' })
    expect(old.calls).toEqual(['read'])
  })

  test('WK-43 after a post that failed the task is read, however fresh the fence', async () => {
    const { delivery, calls } = deliver([gone], { fencedMsAgo: 0, answers: [uncertain] })
    expect(await delivery).toEqual({ delivered: false, status: 'gone' })
    expect(calls).toEqual(['post', 'read'])
  })

  test('WK-42 answered and undone by a renewal: posted again until it counts', async () => {
    const { delivery, calls } = deliver([open, open, open, done()])
    expect(await delivery).toEqual({ delivered: true, posts: 3 })
    expect(calls).toEqual(['read', 'post', 'read', 'post', 'read', 'post', 'read'])
  })

  test.each([
    ['unavailable', unavailable],
    ['uncertain', uncertain],
  ])('WK-43 a post that ends %s: the task says what became of it', async (_, error) => {
    expect(await deliver([open, done()], { answers: [error] }).delivery).toEqual({
      delivered: true,
      posts: 1,
    })
    expect(await deliver([open, open, done()], { answers: [error] }).delivery).toEqual({
      delivered: true,
      posts: 2,
    })
    expect(await deliver([open, gone], { answers: [error] }).delivery).toEqual({
      delivered: false,
      status: 'gone',
    })
  })

  test('WK-43 a reading that fails is no answer: nothing is posted before the task was read', async () => {
    const { delivery, calls } = deliver([unavailable, unavailable, open, done()])
    expect(await delivery).toEqual({ delivered: true, posts: 1 })
    expect(calls).toEqual(['read', 'read', 'read', 'post', 'read'])
  })

  test.each([
    ['not of this queue', new InvalidError('conductor/not-conductor', 'a page')],
    ['unavailable', unavailable],
  ])(
    'WK-210 a reading that is answered %s refuses no result, before the post or after it',
    async (_, error) => {
      const before = deliver([error, error, open, done()])
      expect(await before.delivery).toEqual({ delivered: true, posts: 1 })
      const after = deliver([open, error, error, done()])
      expect(await after.delivery).toEqual({ delivered: true, posts: 1 })
      const meanwhile = deliver([open, error, { startTimeMs: 7, workerId: 'other' }], {
        answers: [uncertain],
      })
      expect(await meanwhile.delivery).toEqual({ delivered: false, status: 'IN_PROGRESS' })
      expect(meanwhile.calls).toEqual(['read', 'post', 'read', 'read'])
      await expect(deliver([error]).delivery).rejects.toMatchObject({ code: 'worker/result-undelivered' })
    },
  )

  test('WK-211 a reading is good for a bounded time: what the copy outlasts is read again', async () => {
    const { delivery, calls } = deliver([open, gone], { copyMs: RESULT_FENCE_AGE_MAX_MS + 1 })
    expect(await delivery).toEqual({ delivered: false, status: 'gone' })
    expect(calls).toEqual(['read', 'read'])
    const fenced = deliver([gone], { fencedMsAgo: 0, copyMs: RESULT_FENCE_AGE_MAX_MS + 1 })
    expect(await fenced.delivery).toEqual({ delivered: false, status: 'gone' })
    const quick = deliver([open, done()], { copyMs: RESULT_FENCE_AGE_MAX_MS - 10 })
    await quick.delivery
    expect([quick.calls, quick.sendWithinMs]).toEqual([['read', 'post', 'read'], [RESULT_FENCE_AGE_MAX_MS]])
  })

  test('WK-44 never confirmed: an error, after a bounded number of posts', async () => {
    const { delivery, calls } = deliver([open])
    await expect(delivery).rejects.toMatchObject({ code: 'worker/result-undelivered', kind: 'unavailable' })
    expect(calls.filter((call) => call === 'post')).toHaveLength(RESULT_POST_ATTEMPTS)
  })

  test('WK-44 a task that is gone when posted is superseded', async () => {
    expect(await deliver([open], { answers: [false] }).delivery).toEqual({ delivered: false, status: 'gone' })
  })

  test('WK-45 refused as invalid: told as a value, never sent again', async () => {
    const error = new InvalidError('conductor/payload-too-large', 'too large')
    const { delivery, calls } = deliver([open], { answers: [error] })
    expect(await delivery).toEqual({ delivered: false, status: 'refused', error })
    expect(calls).toEqual(['read', 'post'])
  })

  test('WK-45 refused credentials are an error: they may be mended', async () => {
    const error = new RefusedError('conductor/unauthorized', 'no')
    await expect(deliver([open], { answers: [error] }).delivery).rejects.toBe(error)
    await expect(deliver([error]).delivery).rejects.toBe(error)
  })

  test.each(['FAILED', 'FAILED_WITH_TERMINAL_ERROR'] as const)(
    'WK-40 %s is delivered the same way',
    async (status) => {
      expect(await deliver([open, done(status)], { status }).delivery).toEqual({ delivered: true, posts: 1 })
    },
  )

  test.each([
    ['waiting in the queue again', { status: 'SCHEDULED' }],
    ['claimed by somebody already', { pollCount: 2, workerId: 'other' }],
  ] as const)('WK-46 handed back, and %s: delivered', async (_, after) => {
    const { delivery, calls } = deliver([open, after], { status: 'IN_PROGRESS' })
    expect(await delivery).toEqual({ delivered: true, posts: 1 })
    expect(calls).toEqual(['read', 'post', 'read'])
  })

  test('WK-46 a task that another has is not handed back', async () => {
    const { delivery, calls } = deliver([{ pollCount: 2, workerId: 'other' }], { status: 'IN_PROGRESS' })
    expect(await delivery).toEqual({ delivered: false, status: 'IN_PROGRESS' })
    expect(calls).toEqual(['read'])
  })
})
