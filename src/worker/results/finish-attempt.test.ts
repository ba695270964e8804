// Goal: the place of an attempt is free as soon as the queue has answered its result, and nothing before that.
import { describe, expect, test } from 'vitest'
import { recordOf } from '../../../test/support/worker/world.ts'
import { UncertainError } from '../../base/errors.ts'
import { silentLogger } from '../../base/logger.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import type { AttemptOutcome } from '../attempt/run-attempt.ts'
import type { TaskQueue } from '../ports.ts'
import { finishAttempt } from './finish-attempt.ts'
import { openMemoryOutbox } from '../executors/memory-outbox.ts'

interface Finished {
  readonly calls: string[]
  readonly delivery: Promise<string>
}

function finish(answers: readonly (true | Error)[]): Finished {
  const calls: string[] = []
  const clock = new ManualClock()
  const { taskId, workflowId, workerId } = recordOf()
  let posts = 0
  const queue: Pick<TaskQueue, 'readTask' | 'postResult'> = {
    readTask: async () => {
      calls.push('read')
      await clock.sleep(5)
      calls.push('read answered')
      return recordOf(posts === 0 || answers[posts - 1] instanceof Error ? {} : { status: 'COMPLETED' })
    },
    postResult: () => {
      calls.push('post')
      const answer = answers[posts++] ?? true
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
    },
  }
  const outcome: Pick<AttemptOutcome, 'result' | 'cleanUp' | 'currentAtMs' | 'error'> = {
    result: { taskId, workflowId, workerId, status: 'COMPLETED', output: {} },
    error: undefined,
    currentAtMs: clock.monotonicMs(),
    cleanUp: () => {
      calls.push('clean up')
      return Promise.resolve()
    },
  }
  const delivery = finishAttempt(
    {
      attempt: recordOf(),
      outcome: outcome as AttemptOutcome,
      lease: {
        release: () => {
          calls.push('release the lease')
          return Promise.resolve()
        },
      },
      onDecided: () => {
        if (!calls.includes('free')) calls.push('free')
      },
    },
    {
      queue: queue as TaskQueue,
      outbox: openMemoryOutbox({ now: () => clock.now(), logger: silentLogger }),
      clock,
      logger: silentLogger,
    },
  )
  return { calls, delivery: clock.run(delivery) }
}

describe('the place of an attempt', () => {
  test('WK-355 is free when the post is answered, while the task is read back', async () => {
    const { calls, delivery } = finish([true])
    expect(await delivery).toBe('delivered')
    expect(calls).toEqual(['release the lease', 'post', 'free', 'clean up', 'read', 'read answered'])
  })

  test('WK-355 is not free while nobody knows whether the post arrived', async () => {
    const { calls, delivery } = finish([
      new UncertainError('conductor/lost', 'no answer', { read: 'the task' }),
    ])
    expect(await delivery).toBe('delivered')
    expect(calls.indexOf('free')).toBeGreaterThan(calls.lastIndexOf('post'))
    expect(calls.filter((call) => call === 'post')).toHaveLength(2)
    expect(calls.slice(0, 4)).toEqual(['release the lease', 'post', 'read', 'read answered'])
  })
})
