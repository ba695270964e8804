/**
 * Posts a result until it is known whether it counted. The server accepts a result of any worker for an open task, answers
 * "accepted" to stale results, and may lose an accepted one to a renewal in flight. So the task is read before each post
 * and after it, except what the attempt fence has just read.
 *
 * | the task as read | then |
 * |---|---|
 * | in progress, still this claim | post, and read again |
 * | in the status that was posted, by this worker and claim | delivered |
 * | handed back by this post, and anything after that | delivered |
 * | anything else, or missing | superseded: another result decided; nothing is posted any more |
 *
 * A reading is good for a bounded time, also while the post waits for a connection. Only the answer to a post can refuse a
 * result; whatever else is answered in the queue's place, to a reading above all, means: not known yet.
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
  readonly queue: Pick<TaskQueue, 'readTask' | 'postResult'>
  readonly attempt: AttemptSnapshot
  readonly result: TaskResult
  readonly clock: Clock
  readonly logger: Logger
  /** When the task was last read and still was this claim, on the clock's monotonic scale. */
  readonly currentAtMs?: number | undefined
  /** How often it is posted before it is left to the outbox; `RESULT_POST_ATTEMPTS` by default. */
  readonly postsMax?: number
  /** Awaited before the first post, while the task is read. Must not reject. */
  readonly beforePost?: Promise<unknown>
  /** Called when a post was answered for the first time: the task is the queue's again, as far as it says. */
  readonly onAnswered?: (() => void) | undefined
  readonly signal?: AbortSignal
}

/** Throws `worker/result-undelivered` while it is not known whether the result counted; the outbox keeps it then. */
export async function deliverResult(options: DeliverOptions): Promise<Delivery> {
  const { clock, logger, postsMax = RESULT_POST_ATTEMPTS, signal } = options
  let posts = 0
  let last: unknown
  // One read more than posts, because the last post is checked as well.
  for (let round = 0; round <= postsMax; round++) {
    // The read after the first post comes at once; other repetitions wait.
    if (round > 1 || last !== undefined) await clock.sleep(delayBefore(round), signal)
    try {
      const decided = await findDecided(options, posts, round === 0)
      if (decided !== undefined) return decided
      if (posts > 0) logger.warn('a result was posted and did not count; it is posted again', { posts })
      if (round === postsMax) break
      posts++
      const refusal = await post(options)
      if (refusal !== undefined) return refusal
    } catch (error) {
      // Credentials can be corrected, but not by trying again soon.
      if (!isPeragoError(error) || error.kind === 'refused' || error.kind === 'defect') throw error
      // Whether it was sent or not, the task shows what happened.
      last = error
    }
  }
  throw undelivered(options, last)
}

/** `undefined`: it was answered as if it had arrived. */
async function post({ queue, result, signal, onAnswered }: DeliverOptions): Promise<Delivery | undefined> {
  try {
    const isThere = await queue.postResult(result, { signal, sendWithinMs: RESULT_FENCE_AGE_MAX_MS })
    onAnswered?.()
    return isThere ? undefined : { delivered: false, status: 'gone' }
  } catch (error) {
    if (isPeragoError(error) && error.kind === 'invalid')
      return { delivered: false, status: 'refused', error }
    throw error
  }
}

/** What decided the task; `undefined` if a reading of the last moment shows this claim. */
async function findDecided(
  options: DeliverOptions,
  posts: number,
  isFirst: boolean,
): Promise<Delivery | undefined> {
  const { queue, attempt, result, clock, currentAtMs = -Infinity, beforePost, signal } = options
  const isStale = (readAtMs: number): boolean => clock.monotonicMs() - readAtMs > RESULT_FENCE_AGE_MAX_MS
  let readAtMs = isFirst ? currentAtMs : -Infinity
  // At most twice: what `beforePost` takes may outlast the first reading.
  for (let reads = 0; reads < 2; reads++) {
    if (isStale(readAtMs)) {
      const task = await queue.readTask(attempt.taskId, { signal })
      readAtMs = clock.monotonicMs()
      const verdict = judgeDelivery({ attempt, result, task, posts })
      if (verdict !== 'post') return verdict
    }
    await beforePost
  }
  return undefined
}

function undelivered({ attempt, result }: DeliverOptions, cause: unknown): UnavailableError {
  return new UnavailableError(
    'worker/result-undelivered',
    `post the result of task ${attempt.taskId}: it is not confirmed yet`,
    {
      details: { taskId: attempt.taskId, status: result.status },
      cause,
      next: 'The outbox keeps it and sends it again.',
    },
  )
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
  // Workers of other loops share a name, and a task that is rerun keeps its id.
  const isSameClaim = task.pollCount === attempt.pollCount && task.startTimeMs === attempt.startTimeMs
  const isOurs = isSameClaim && task.status === result.status && task.workerId === result.workerId
  if (isHandedBack || (isOurs && result.status !== 'IN_PROGRESS')) return { delivered: true, posts }
  return { delivered: false, status: task.status }
}
