import { expect, test, vi } from 'vitest'
import type { LastPoll, WorkflowTask } from '../runtime/workflows.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { UNPOLLED_AFTER_MS } from './limits.ts'
import { openUnpolled } from './unpolled.ts'

const SCHEDULED_MS = Date.parse('2026-01-15T12:00:00Z')

const waiting = (more: Partial<Record<keyof WorkflowTask, unknown>> = {}): WorkflowTask =>
  ({
    ...{ taskId: 'a', taskType: 'orders.clean', status: 'SCHEDULED', domain: undefined },
    ...{ scheduledTimeMs: SCHEDULED_MS, ...more },
  }) as unknown as WorkflowTask

const poll = (atMs: number, domain?: string): LastPoll => ({ atMs, domain })

/** What is said about these tasks until well after the time. */
async function sayings(
  tasks: readonly WorkflowTask[],
  readLastPolls: (taskType: string) => Promise<readonly LastPoll[]>,
): Promise<readonly string[]> {
  const clock = new ManualClock()
  const find = openUnpolled({ readLastPolls, next: 'Start a worker.', clock })
  const said: string[] = []
  for (let looks = 0; looks < 10; looks++) {
    said.push(...(await find({ tasks })))
    if (looks < 2) expect(said).toEqual([])
    await clock.advance(UNPOLLED_AFTER_MS / 2)
  }
  return said
}

test('CL-65 a task that no worker ever asked for is told once, with the next step', async () => {
  const tasks = [waiting(), waiting({ taskId: 'b' })]
  const said = await sayings(tasks, () => Promise.resolve([]))
  expect(said).toEqual(['nobody works on "orders.clean": no worker has ever asked for it. Start a worker.'])
})

test('CL-65 so is one that a worker asked for before it was scheduled only', async () => {
  const said = await sayings([waiting()], () => Promise.resolve([poll(SCHEDULED_MS - 60_000)]))
  expect(said).toEqual([
    'nobody takes "orders.clean": the last time that a worker asked for it was 2026-01-15T11:59:00.000Z; none runs any more, or all are busy. Start a worker.',
  ])
})

test('CL-65 workers of another domain do not count', async () => {
  const other = [poll(SCHEDULED_MS + 1000), poll(SCHEDULED_MS + 1000, 'blue')]
  const said = await sayings([waiting({ domain: 'green' })], () => Promise.resolve(other))
  expect(said).toEqual([expect.stringContaining('in the domain "green"')])
  expect(await sayings([waiting({ domain: 'blue' })], () => Promise.resolve(other))).toEqual([])
})

test.each([
  ['a task that workers ask for', waiting(), () => Promise.resolve([poll(SCHEDULED_MS)])],
  ['a task that runs', waiting({ status: 'IN_PROGRESS' }), () => Promise.resolve([])],
  ['a task of the server itself', waiting({ taskType: 'JSON_JQ_TRANSFORM' }), () => Promise.resolve([])],
  ['a server that does not tell', waiting(), () => Promise.reject(new Error('no such route'))],
])('CL-65 nothing is said of %s, and it is asked once at most', async (_, task, answer) => {
  const readLastPolls = vi.fn(answer)
  expect(await sayings([task], readLastPolls)).toEqual([])
  expect(readLastPolls.mock.calls.length).toBeLessThanOrEqual(1)
})
