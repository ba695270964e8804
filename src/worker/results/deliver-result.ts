/**
 * Posts a result until it is known what became of it. The server takes whatever it is sent for an open task, from
 * whomever, answers "accepted" to stale results, and may lose an accepted one to a renewal in flight. So the task is
 * read before each post, and again afterwards; what the attempt fence has only just read is not read once more.
 *
 * | the task, as it is read | then |
 * |---|---|
 * | in progress, and still this hand-out | post, and read again |
 * | in the status that was posted, by this worker | delivered |
 * | handed back by this post, and whatever followed | delivered |
 * | anything else, or gone | superseded: somebody else decided, nothing is posted any more |
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
  /** Whatever the queue holds now was not decided by this result. */
  | { readonly delivered: false; readonly status: TaskStatus | 'gone' }
  /** The queue will never take it. */
  | { readonly delivered: false; readonly status: 'refused'; readonly error: unknown }

export interface DeliverOptions {
  readonly queue: TaskQueue
  readonly attempt: AttemptSnapshot
  readonly result: TaskResult
  readonly clock: Clock
  readonly logger: Logger
  /** When the task was last read and found to be this hand-out's, on the clock's monotonic scale. */
  readonly currentAtMs?: number | undefined
  /** Awaited before the first post; what is to be done by then goes on while the task is read. Must not reject. */
  readonly beforePost?: Promise<unknown>
  readonly signal?: AbortSignal
}

/** Throws `worker/result-undelivered` when the queue could not be asked often enough; the outbox keeps it then. */
export async function deliverResult(options: DeliverOptions): Promise<Delivery> {
  const { queue, attempt, result, clock, logger, beforePost, signal } = options
  const call = signal === undefined ? {} : { signal }
  let posts = 0
  let last: unknown
  // One reading more than posts: the last post is looked at, too.
  for (let round = 0; round <= RESULT_POST_ATTEMPTS; round++) {
    // The reading that follows the first post comes at once; whatever else repeats itself waits.
    if (round > 1 || last !== undefined) await clock.sleep(delayBefore(round), signal)
    try {
      if (round > 0 || !isFresh(options)) {
        const task = await queue.readTask(attempt.taskId, call)
        const verdict = judgeDelivery({ attempt, result, task, posts })
        if (verdict !== 'post') return verdict
      }
      if (posts > 0) logger.warn('a result was posted and did not count; it is posted again', { posts })
      if (round === RESULT_POST_ATTEMPTS) break
      await beforePost
      posts++
      if (!(await queue.postResult(result, call))) return { delivered: false, status: 'gone' }
    } catch (error) {
      if (isPeragoError(error) && error.kind === 'invalid')
        return { delivered: false, status: 'refused', error }
      // Sent or not, the task says what became of it.
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

/** The attempt fence has just read what would be read now. */
function isFresh({ clock, currentAtMs }: DeliverOptions): boolean {
  return currentAtMs !== undefined && clock.monotonicMs() - currentAtMs <= RESULT_FENCE_AGE_MAX_MS
}

function delayBefore(round: number): number {
  return Math.min(RESULT_POST_DELAY_MS * 2 ** Math.max(0, round - 1), RESULT_POST_DELAY_MAX_MS)
}

// Whether the workflow may go on is not the question here: a paused one still takes results.
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
  // A task that is handed back waits in the queue again, or somebody has it already.
  const isHandedBack = result.status === 'IN_PROGRESS' && (posts > 0 || task.status === 'SCHEDULED')
  const isOurs = task.status === result.status && task.workerId === result.workerId
  if (isHandedBack || (isOurs && result.status !== 'IN_PROGRESS')) return { delivered: true, posts }
  return { delivered: false, status: task.status }
}
