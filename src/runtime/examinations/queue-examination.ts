/** Which tasks wait on a Conductor, and when a worker asked for them last. Changes nothing in it. */

import { systemClock, type Clock } from '../../base/clock.ts'
import type { ConductorClient } from '../../conductor/client.ts'
import { createWorkflowOperator } from '../../conductor/workflows.ts'
import { QUEUE_POLLED_WITHIN_MS, QUEUES_EXAMINED_MAX } from '../limits.ts'

export interface ExaminedQueue {
  readonly taskType: string
  readonly domain?: string
  /** Tasks that wait; delayed ones among them. */
  readonly waiting: number
  /** `null`: never. */
  readonly lastPollAt: string | null
  /** Whether the module declares the task, or has a workflow with it. */
  readonly isOfModule: boolean
  /** Tasks wait, and nobody asks for them. */
  readonly isUnpolled: boolean
}

export interface QueueExamination {
  readonly queues: readonly ExaminedQueue[]
  /** Beyond those that were looked at. */
  readonly leftOut: number
}

export interface QueueOptions {
  /** Those of a module, which are looked at even if none of them waits. */
  readonly taskTypes: readonly string[]
  readonly signal: AbortSignal
  readonly clock?: Clock
}

export async function examineQueues(
  client: ConductorClient,
  { taskTypes, signal, clock = systemClock }: QueueOptions,
): Promise<QueueExamination> {
  const operator = createWorkflowOperator(client)
  const sizes = await operator.readQueueSizes({ signal })
  const waiting = [...sizes]
    .map(([name, size]) => ({ ...parseQueue(name), waiting: size }))
    .filter(({ taskType }) => !isOfServer(taskType))
  const idle = taskTypes
    .filter((type) => !waiting.some(({ taskType }) => taskType === type))
    .map((taskType) => ({ taskType, domain: undefined, waiting: 0 }))
  const all = [...waiting, ...idle]
  const queues: ExaminedQueue[] = []
  for (const { taskType, domain, waiting: count } of all.slice(0, QUEUES_EXAMINED_MAX)) {
    const polls = await operator.readLastPolls(taskType, { signal })
    // Where nothing waits, a worker of any domain will do.
    const ours = polls.filter((poll) => count === 0 || poll.domain === domain)
    const lastMs = Math.max(-Infinity, ...ours.map(({ atMs }) => atMs))
    queues.push({
      taskType,
      ...(domain === undefined ? {} : { domain }),
      waiting: count,
      lastPollAt: lastMs > 0 ? new Date(lastMs).toISOString() : null,
      isOfModule: taskTypes.includes(taskType),
      isUnpolled: count > 0 && clock.now().getTime() - lastMs > QUEUE_POLLED_WITHIN_MS,
    })
  }
  return { queues, leftOut: all.length - queues.length }
}

/** `domain:taskType`; what follows an `@` says where a task is isolated. */
export function parseQueue(name: string): { readonly taskType: string; readonly domain: string | undefined } {
  const [queue = ''] = name.split('@')
  const at = queue.indexOf(':')
  return { taskType: queue.slice(at + 1), domain: at < 0 ? undefined : queue.slice(0, at) }
}

/** Its own queues begin with an underscore; tasks that it runs itself are in capitals. */
export function isOfServer(taskType: string): boolean {
  return /^(?:_.*|[A-Z][A-Z0-9_]*)$/.test(taskType)
}
