/** Which tasks wait for a worker, and who asked for them last. */

import type { Clock } from '../../base/clock.ts'
import type { QueuePoll, WorkflowOperator } from '../../conductor/workflows.ts'
import { POLLERS_SHOWN_MAX, POLLERS_SHOWN_WITHIN_MS, QUEUE_POLLED_WITHIN_MS } from '../limits.ts'
import { isOfServer, parseQueue } from '../examinations/queue-examination.ts'

export interface Poller {
  readonly taskType: string
  readonly domain: string | undefined
  /** Tasks that wait; delayed ones among them. */
  readonly waiting: number
  readonly polls: readonly QueuePoll[]
  /** Tasks wait, and nobody asks for them. */
  readonly isUnpolled: boolean
}

export interface Pollers {
  /** Those with tasks that wait first, then those that were polled lately. */
  readonly pollers: readonly Poller[]
  /** False when there are more. */
  readonly isWhole: boolean
}

export async function readPollers(
  operator: Pick<WorkflowOperator, 'readAllPolls' | 'readQueueSizes'>,
  { signal, clock }: { readonly signal?: AbortSignal | undefined; readonly clock: Clock },
): Promise<Pollers> {
  const [sizes, polls] = await Promise.all([
    operator.readQueueSizes({ signal }),
    operator.readAllPolls({ signal }),
  ])
  const nowMs = clock.now().getTime()
  const waiting = [...sizes].map(([name, size]) => ({ ...parseQueue(name), waiting: size }))
  const isWaiting = (poll: QueuePoll): boolean =>
    waiting.some(({ taskType, domain }) => taskType === poll.taskType && domain === poll.domain)
  const idle = polls
    .filter((poll) => nowMs - poll.atMs <= POLLERS_SHOWN_WITHIN_MS && !isWaiting(poll))
    .sort((one, other) => other.atMs - one.atMs)
    .map(({ taskType, domain }) => ({ taskType, domain, waiting: 0 }))
  const all = [...waiting, ...idle].filter(({ taskType }) => !isOfServer(taskType))
  const pollers = all.slice(0, POLLERS_SHOWN_MAX).map((queue) => {
    const own = polls.filter(({ taskType, domain }) => taskType === queue.taskType && domain === queue.domain)
    const lastMs = Math.max(-Infinity, ...own.map(({ atMs }) => atMs))
    return { ...queue, polls: own, isUnpolled: queue.waiting > 0 && nowMs - lastMs > QUEUE_POLLED_WITHIN_MS }
  })
  return { pollers, isWhole: pollers.length === all.length }
}
