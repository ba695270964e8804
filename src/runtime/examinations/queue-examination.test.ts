import { expect, test } from 'vitest'
import type { ConductorClient } from '../../conductor/client.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { QUEUE_POLLED_WITHIN_MS } from '../limits.ts'
import { examineQueues } from './queue-examination.ts'

test('CL-160 what waits is told with when a worker asked for it last, and what nobody polls is named', async () => {
  const clock = new ManualClock()
  const nowMs = clock.now().getTime()
  const polls: Record<string, object[]> = {
    busy: [{ queueName: 'busy', lastPollTime: nowMs - 1_000 }],
    left: [{ queueName: 'left', lastPollTime: nowMs - QUEUE_POLLED_WITHIN_MS - 1 }],
    far: [{ queueName: 'far', lastPollTime: nowMs, domain: null }],
  }
  const client = {
    call: (
      { operation, query }: { operation: string; query?: { taskType: string } },
      read: (body: unknown) => unknown,
    ) =>
      Promise.resolve(
        read(
          operation === 'getQueueSizes'
            ? { _deciderQueue: 7, SUB_WORKFLOW: 1, busy: 2, left: 1, never: 3, 'blue:far': 1, idle: 0 }
            : (polls[query?.taskType ?? ''] ?? []),
        ),
      ),
  } as unknown as ConductorClient
  const { signal } = new AbortController()
  const { queues, leftOut } = await examineQueues(client, { taskTypes: ['busy', 'idle'], signal, clock })
  expect(leftOut).toBe(0)
  expect(queues).toEqual([
    expect.objectContaining({ taskType: 'busy', waiting: 2, isOfModule: true, isUnpolled: false }),
    expect.objectContaining({ taskType: 'left', waiting: 1, isOfModule: false, isUnpolled: true }),
    expect.objectContaining({ taskType: 'never', waiting: 3, lastPollAt: null, isUnpolled: true }),
    expect.objectContaining({ taskType: 'far', domain: 'blue', lastPollAt: null, isUnpolled: true }),
    expect.objectContaining({ taskType: 'idle', waiting: 0, isOfModule: true, isUnpolled: false }),
  ])
})
