/**
 * Posts a result until it is known what became of it. The server answers "accepted" to stale results and may lose an
 * accepted one to a renewal in flight, so only reading the task tells.
 *
 * | the task, read back | then |
 * |---|---|
 * | in the status that was posted, by this worker | delivered |
 * | in progress, and still this hand-out | post again |
 * | anything else, or gone | superseded: somebody else decided, nothing is posted any more |
 */

import type { Clock } from '../base/clock.ts'
import { UnavailableError, isPeragoError } from '../base/errors.ts'
import { RESULT_POST_ATTEMPTS, RESULT_POST_DELAY_MAX_MS, RESULT_POST_DELAY_MS } from '../base/limits.ts'
import type { Logger } from '../base/logger.ts'
import { judgeAttempt, type AttemptPolicy } from '../fences/attempt-fence.ts'
import type { AttemptSnapshot, TaskStatus } from '../fences/attempt-snapshot.ts'
import type { TaskQueue, TaskRecord, TaskResult } from './ports.ts'

export type Delivery =
  | { readonly delivered: true; readonly posts: number }
  /** Whatever the queue holds now was not decided by this result. */
  | { readonly delivered: false; readonly status: TaskStatus | 'gone' }

export interface DeliverOptions {
  readonly queue: TaskQueue
  readonly attempt: AttemptSnapshot
  readonly result: TaskResult
  readonly clock: Clock
  readonly logger: Logger
  readonly signal?: AbortSignal
}

/** Throws `worker/result-undelivered` when the queue could not be asked often enough; the outbox keeps it then. */
export async function deliverResult(options: DeliverOptions): Promise<Delivery> {
  const { queue, attempt, result, clock, logger, signal } = options
  const call = signal === undefined ? {} : { signal }
  let last: unknown
  for (let round = 0; round < RESULT_POST_ATTEMPTS; round++) {
    if (round > 0) {
      await clock.sleep(Math.min(RESULT_POST_DELAY_MS * 2 ** (round - 1), RESULT_POST_DELAY_MAX_MS), signal)
    }
    try {
      if (!(await queue.postResult(result, call))) return { delivered: false, status: 'gone' }
    } catch (error) {
      if (!isPeragoError(error) || (error.kind !== 'unavailable' && error.kind !== 'uncertain')) throw error
      // Sent or not, the task says what became of it.
      last = error
    }
    try {
      const verdict = judgeDelivery(attempt, result, await queue.readTask(attempt.taskId, call))
      if (verdict !== 'post-again')
        return verdict === 'delivered' ? { delivered: true, posts: round + 1 } : verdict
      logger.warn('a result was answered and did not count; it is posted again', { round })
    } catch (error) {
      if (!isPeragoError(error) || error.kind !== 'unavailable') throw error
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

// Whether the workflow may go on is not the question here: a paused one still takes results.
const ANY_WORKFLOW: AttemptPolicy = { whilePaused: 'go-on' }

function judgeDelivery(
  attempt: AttemptSnapshot,
  result: TaskResult,
  task: TaskRecord | undefined,
): 'delivered' | 'post-again' | Extract<Delivery, { delivered: false }> {
  if (task === undefined) return { delivered: false, status: 'gone' }
  if (judgeAttempt(attempt, { task, workflow: 'RUNNING' }, ANY_WORKFLOW).current) return 'post-again'
  if (task.status === expectedStatus(result) && task.workerId === result.workerId) return 'delivered'
  return { delivered: false, status: task.status }
}

/** A task that is handed back waits in the queue again. */
function expectedStatus(result: TaskResult): TaskStatus {
  return result.status === 'IN_PROGRESS' ? 'SCHEDULED' : result.status
}
