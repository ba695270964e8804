/**
 * Posts a result until it is known whether it counted. The server accepts a result of any worker for an open task, answers
 * "accepted" to stale results, and may lose an accepted one to a renewal in flight. So the task is read before each post
 * and after it, except what the attempt fence has just read.
 *
 * | the task as read | then |
 * |---|---|
 * | in progress, still this claim | post, and read again |
 * | in the status that was posted, by this worker | delivered |
 * | handed back by this post, and anything after that | delivered |
 * | anything else, or missing | superseded: another result decided; nothing is posted any more |
 */

import type { Clock } from '../../base/clock.ts'
import { UnavailableError, isPeragoError } from '../../base/errors.ts'
import {
  RESULT_FENCE_AGE_MAX_MS,
  RESULT_POST_ATTEMPTS,
  RESULT_POST_DELAY_MAX_MS,
  RESULT_POST_DELAY_MS,
} from '../limits.ts'
import type { Logger } from '../../base/logger.ts'
import { judgeAttempt, type AttemptPolicy } from '../../fences/attempt-fence.ts'
import type { AttemptSnapshot, TaskStatus } from '../../fences/attempt-snapshot.ts'
import type { TaskQueue, TaskRecord, TaskResult } from '../ports.ts'

export type Delivery =
  | { readonly delivered: true; readonly posts: number }
  /** The task was not decided by this result. */
  | { readonly delivered: false; readonly status: TaskStatus | 'gone' }
  /** The queue will never accept it. */
  | { readonly delivered: false; readonly status: 'refused'; readonly error: unknown }

export interface DeliverOptions {
  readonly queue: TaskQueue
  readonly attempt: AttemptSnapshot
  readonly result: TaskResult
  readonly clock: Clock
  readonly logger: Logger
  /** When the task was last read and still was this claim, on the clock's monotonic scale. */
  readonly currentAtMs?: number | undefined
  /** Awaited before the first post, while the task is read. Must not reject. */
  readonly beforePost?: Promise<unknown>
  readonly signal?: AbortSignal
}

/** Throws `worker/result-undelivered` if the queue could not be reached; the outbox keeps the result then. */
export async function deliverResult(options: DeliverOptions): Promise<Delivery> {
  const { queue, attempt, result, clock, logger, beforePost, signal } = options
  let posts = 0
  let last: unknown
  // One read more than posts, because the last post is checked as well.
  for (let round = 0; round <= RESULT_POST_ATTEMPTS; round++) {
    // The read after the first post comes at once; other repetitions wait.
    if (round > 1 || last !== undefined) await clock.sleep(delayBefore(round), signal)
    try {
      if (round > 0 || !isFresh(options)) {
        const task = await queue.readTask(attempt.taskId, { signal })
        const verdict = judgeDelivery({ attempt, result, task, posts })
        if (verdict !== 'post') return verdict
      }
      if (posts > 0) logger.warn('a result was posted and did not count; it is posted again', { posts })
      if (round === RESULT_POST_ATTEMPTS) break
      await beforePost
      posts++
      if (!(await queue.postResult(result, { signal }))) return { delivered: false, status: 'gone' }
    } catch (error) {
      if (isPeragoError(error) && error.kind === 'invalid')
        return { delivered: false, status: 'refused', error }
      // Whether it was sent or not, the task shows what happened.
      if (!isPeragoError(error) || (error.kind !== 'unavailable' && error.kind !== 'uncertain')) throw error
      last = error
    }
  }
  throw new UnavailableError(
    'worker/result-undelivered',
    `post the result of task ${attempt.taskId}: not confirmed after ${RESULT_POST_ATTEMPTS} tries`,
    {
      details: { taskId: attempt.taskId, status: result.status },
      cause: last,
      next: 'The outbox keeps it and sends it again.',
    },
  )
}

/** Whether the attempt fence has just read the task. */
function isFresh({ clock, currentAtMs }: DeliverOptions): boolean {
  return currentAtMs !== undefined && clock.monotonicMs() - currentAtMs <= RESULT_FENCE_AGE_MAX_MS
}

function delayBefore(round: number): number {
  return Math.min(RESULT_POST_DELAY_MS * 2 ** Math.max(0, round - 1), RESULT_POST_DELAY_MAX_MS)
}

// A paused workflow still accepts results.
const ANY_WORKFLOW: AttemptPolicy = { whilePaused: 'go-on' }

function judgeDelivery(of: {
  readonly attempt: AttemptSnapshot
  readonly result: TaskResult
  readonly task: TaskRecord | undefined
  readonly posts: number
}): 'post' | Delivery {
  const { attempt, result, task, posts } = of
  if (task === undefined) return { delivered: false, status: 'gone' }
  if (judgeAttempt(attempt, { task, workflow: 'RUNNING' }, ANY_WORKFLOW).current) return 'post'
  // A task that was handed back is in the queue again, or another worker has it.
  const isHandedBack = result.status === 'IN_PROGRESS' && (posts > 0 || task.status === 'SCHEDULED')
  const isOurs = task.status === result.status && task.workerId === result.workerId
  if (isHandedBack || (isOurs && result.status !== 'IN_PROGRESS')) return { delivered: true, posts }
  return { delivered: false, status: task.status }
}
