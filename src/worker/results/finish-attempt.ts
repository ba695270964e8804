/**
 * How an attempt ends when its outcome is decided, always in this order:
 *
 *   release the lease (no renewal in flight) → put the result into the outbox (durable), and meanwhile read the task,
 *     unless the claim or the attempt fence has just done so → post → free the slot → read back, and meanwhile clean up →
 *     settle or refuse the copy in the outbox
 *
 * A crash between any two of them loses nothing: before the outbox has the result, the next worker sends the fallback and
 * the task is retried; afterwards it sends the result.
 */

import type { Clock } from '../../base/clock.ts'
import { isPeragoError, messageOf } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import { once } from '../../base/once.ts'
import type { AttemptSnapshot } from '../../fences/attempt-snapshot.ts'
import { deliverResult, type DeliverOptions, type Delivery } from './deliver-result.ts'
import type { AttemptSummary } from '../events.ts'
import type { Lease } from '../leases/lease.ts'
import type { Fallback, Outbox, OutboxItem } from './outbox.ts'
import type { TaskQueue } from '../ports.ts'
import type { AttemptOutcome } from '../attempt/run-attempt.ts'

export interface DeliverySurroundings {
  readonly queue: TaskQueue
  readonly outbox: Outbox
  readonly clock: Clock
  readonly logger: Logger
  /** Ends the tries; what is not delivered stays in the outbox. */
  readonly signal?: AbortSignal
}

export interface FinishRequest {
  readonly attempt: AttemptSnapshot
  readonly outcome: AttemptOutcome
  /** None for a task that was not begun. */
  readonly lease: Pick<Lease, 'release'> | undefined
  /** What the next process would send if this one ended. */
  readonly fallback?: Fallback | undefined
  /**
   * Called when the queue has answered the result, or it was left to the outbox: the reading back and the clean-up need no
   * slot. May be called twice.
   */
  readonly onDecided?: () => void
  /** Runs one step and reports it. */
  readonly step?: <T>(name: 'release-lease' | 'deliver' | 'clean-up', work: () => Promise<T>) => Promise<T>
}

/** Never throws. */
export async function finishAttempt(
  request: FinishRequest,
  surroundings: DeliverySurroundings,
): Promise<AttemptSummary['delivery']> {
  const { outcome, lease, step = (_, work) => work() } = request
  const { logger } = surroundings
  const cleanUp = once(() => step('clean-up', () => outcome.cleanUp()))
  const onDecided = (): void => {
    request.onDecided?.()
    // Awaited below, whatever becomes of the delivery.
    cleanUp().catch(() => undefined)
  }
  try {
    if (lease !== undefined) await step('release-lease', () => lease.release())
    // The process that replaces this one decides about the task.
    if (isPeragoError(outcome.error) && outcome.error.code === 'worker/abandoned') return 'superseded'
    return await step('deliver', () => deliver({ ...request, onDecided }, surroundings))
  } catch (error) {
    logger.error('a result could not be delivered; it is lost when this worker ends', { error })
    return 'kept'
  } finally {
    onDecided()
    await cleanUp()
  }
}

async function deliver(
  { attempt, outcome, fallback, onDecided }: FinishRequest,
  surroundings: DeliverySurroundings,
): Promise<AttemptSummary['delivery']> {
  const { outbox, logger } = surroundings
  const { result } = outcome
  let item: OutboxItem | undefined
  const put = async (): Promise<void> => {
    try {
      item = await outbox.put(attempt, result)
      await fallback?.remove()
    } catch (error) {
      // A result without a copy is better than none.
      logger.error('a result could not be written to the outbox; it is sent from memory', { error })
    }
  }
  const beforePost = put()
  const copy = async (): Promise<OutboxItem | undefined> => {
    await beforePost
    return item
  }
  const delivery = await deliverItem(
    {
      attempt,
      result,
      settle: async () => (await copy())?.settle(),
      refuse: async (why) => (await copy())?.refuse(why),
      // Below, once the copy is written.
      release: () => undefined,
    },
    { ...surroundings, beforePost, currentAtMs: outcome.currentAtMs, onAnswered: onDecided },
  )
  await beforePost
  if (delivery === 'kept') item?.release()
  if (item === undefined) await fallback?.remove()
  return delivery
}

/** Sends one result, and removes, refuses or releases its copy. */
export async function deliverItem(
  item: Omit<OutboxItem, 'writtenAt'>,
  options: DeliverySurroundings &
    Pick<DeliverOptions, 'beforePost' | 'currentAtMs' | 'onAnswered' | 'postsMax'>,
): Promise<AttemptSummary['delivery']> {
  const { attempt, result } = item
  const { logger } = options
  let delivery: Delivery
  try {
    delivery = await deliverResult({ ...options, attempt, result })
  } catch (error) {
    item.release()
    logger.warn('a result is not delivered yet; the outbox keeps it', { error, status: result.status })
    return 'kept'
  }
  try {
    return await conclude(item, delivery, logger)
  } catch (error) {
    // The task says the same when it is read again.
    item.release()
    logger.error('a result is decided, but its copy could not be removed from the outbox', { error })
    return 'kept'
  }
}

/** Removes the copy of a result that is decided, or sets it aside for an operator. */
async function conclude(
  item: Omit<OutboxItem, 'writtenAt'>,
  delivery: Delivery,
  logger: Logger,
): Promise<AttemptSummary['delivery']> {
  const { result } = item
  if (delivery.delivered) {
    await item.settle()
    return 'delivered'
  }
  if (delivery.status === 'refused') {
    logger.error('the task queue refused a result', { error: delivery.error, status: result.status })
    await item.refuse(messageOf(delivery.error))
    return 'refused'
  }
  logger.warn('a result came too late: the task was decided without it', {
    status: result.status,
    now: delivery.status,
  })
  // Something may have been published that the queue does not know of: an operator should see it.
  if (result.status === 'COMPLETED') await item.refuse(`superseded: the task is ${delivery.status}`)
  else await item.settle()
  return 'superseded'
}
