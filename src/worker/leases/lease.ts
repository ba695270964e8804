/**
 * Keeps one attempt alive at the task queue, and notices when it no longer is ours.
 *
 * - LEASE-1 At most one renewal is in flight.
 * - LEASE-2 After `release()` has resolved no renewal is in flight and none begins: only then may a result be posted,
 *   because a renewal that overlaps a completion can undo it. One whose answer was lost may still be: it is given time.
 * - LEASE-3 Each round reads the task and its workflow before it renews, so a terminated, restarted, removed or re-run
 *   workflow is noticed within one period. A renewal alone proves nothing: the server accepts those of strangers.
 * - LEASE-4 When nothing has been renewed for the whole response timeout the lease is lost, even while a renewal hangs:
 *   somebody else may have it.
 */

import { followSignals } from '../../base/abort-signals.ts'
import type { Clock } from '../../base/clock.ts'
import { RefusedError, errorKindOf, isPeragoError } from '../../base/errors.ts'
import { LEASE_FIRST_RENEWAL_MS, LEASE_LOST_ANSWER_WAIT_MS, LEASE_ROUNDS_PER_TIMEOUT } from '../limits.ts'
import type { Logger } from '../../base/logger.ts'
import { once } from '../../base/once.ts'
import { assertCurrentAttemptSnapshot, type AttemptPolicy } from '../../fences/attempt-fence.ts'
import type { AttemptSnapshot } from '../../fences/attempt-snapshot.ts'
import type { TaskQueue } from '../ports.ts'
import { readFreshAttempt } from '../attempt/read-fresh-attempt.ts'

export interface LeaseRequest {
  readonly attempt: AttemptSnapshot
  readonly responseTimeoutSeconds: number
  readonly policy: AttemptPolicy
  /** Told of each renewal that the queue confirmed. */
  readonly onRenewed?: () => void
}

export interface Lease {
  /** Aborted when the lease is lost; the reason is the error that says why. */
  readonly lost: AbortSignal
  /** When the queue last confirmed the lease, on the clock's monotonic scale. */
  readonly renewedAtMs: number
  /** Resolves when no renewal is in flight; none begins afterwards. May be called again. */
  release(): Promise<void>
}

/** Holds leases; in this thread, or in one of its own that no body can starve. */
export interface LeaseKeeper {
  hold(request: LeaseRequest): Lease
  close(): Promise<void>
}

/** The lease could not be renewed in time. Whether somebody else has the task is not known, so nothing is done. */
export class LeaseLostError extends RefusedError {
  constructor(attempt: AttemptSnapshot, silentMs: number, cause: unknown) {
    super(
      'worker/lease-lost',
      `renew the lease of task ${attempt.taskId}: nothing was confirmed for ${Math.round(silentMs / 1000)} s`,
      {
        details: { taskId: attempt.taskId, workflowId: attempt.workflowId, silentMs },
        next: 'See that the task queue answers; the task is handed out again when its response timeout is noticed.',
        cause,
      },
    )
  }
}

/** The part of a task queue that holding a lease takes. */
export type LeaseCalls = Pick<TaskQueue, 'readTask' | 'readWorkflowStatus' | 'renewLease'>

export function openLocalLeases(options: {
  readonly queue: LeaseCalls
  readonly clock: Clock
  readonly logger: Logger
}): LeaseKeeper {
  const held = new Set<Lease>()
  return {
    hold(request) {
      const lease = holdLease({ ...options, request, onReleased: () => held.delete(lease) })
      held.add(lease)
      return lease
    },
    async close() {
      await Promise.all([...held].map((lease) => lease.release()))
    },
  }
}

interface HoldOptions {
  readonly queue: LeaseCalls
  readonly clock: Clock
  readonly logger: Logger
  readonly request: LeaseRequest
  readonly onReleased: () => void
}

function holdLease({ queue, clock, logger, request, onReleased }: HoldOptions): Lease {
  const { attempt, responseTimeoutSeconds, policy } = request
  const timeoutMs = responseTimeoutSeconds * 1_000
  const periodMs = timeoutMs / LEASE_ROUNDS_PER_TIMEOUT
  const lost = new AbortController()
  const released = new AbortController()
  let renewedAtMs = clock.monotonicMs()

  // Functions, because signals change while the loops await, which control-flow analysis cannot know.
  const isReleased = (): boolean => released.signal.aborted
  const isLost = (): boolean => lost.signal.aborted
  let lastTrouble: unknown
  /** Until when a renewal whose answer was lost may still arrive. */
  let settledAtMs = -Infinity

  const renew = async (): Promise<void> => {
    // A reading changes nothing, so the release does not wait for it.
    const followed = followSignals(released.signal, AbortSignal.timeout(Math.max(1, timeoutMs)))
    const fresh = await readFreshAttempt(queue, attempt, { signal: followed.signal }).finally(() =>
      followed.release(),
    )
    if (isReleased()) return
    assertCurrentAttemptSnapshot(attempt, fresh, policy)
    // Not cut short by `release`: a renewal whose fate is unknown might still arrive after the result.
    const sentAtMs = clock.monotonicMs()
    if (await renewOnce()) {
      renewedAtMs = sentAtMs
      request.onRenewed?.()
    } else assertCurrentAttemptSnapshot(attempt, { ...fresh, task: undefined }, policy)
  }

  const renewOnce = async (): Promise<boolean> => {
    try {
      return await queue.renewLease(attempt)
    } catch (error) {
      if (errorKindOf(error) === 'uncertain') settledAtMs = clock.monotonicMs() + LEASE_LOST_ANSWER_WAIT_MS
      throw error
    }
  }

  const run = async (): Promise<void> => {
    let waitMs = Math.min(periodMs, LEASE_FIRST_RENEWAL_MS)
    while (!isReleased() && !isLost()) {
      await clock.sleep(waitMs, released.signal).catch(() => undefined)
      if (isReleased() || isLost()) return
      waitMs = periodMs
      try {
        await renew()
      } catch (error) {
        if (isPeragoError(error) && error.code === 'fences/stale-attempt') {
          lost.abort(error)
          return
        }
        if (isReleased()) return
        lastTrouble = error
        const silentMs = clock.monotonicMs() - renewedAtMs
        logger.warn('a lease renewal did not go through and is tried again', { error, silentMs })
        // What is surely not done is tried again soon; whatever else waits for its turn.
        if (errorKindOf(error) === 'unavailable') waitMs = periodMs / LEASE_ROUNDS_PER_TIMEOUT
      }
    }
  }

  /** Apart from the renewals, for one of them may hang. */
  const watch = async (): Promise<void> => {
    for (;;) {
      const leftMs = renewedAtMs + timeoutMs - clock.monotonicMs()
      if (leftMs <= 0) {
        lost.abort(new LeaseLostError(attempt, timeoutMs - leftMs, lastTrouble))
        return
      }
      await clock.sleep(leftMs, released.signal).catch(() => undefined)
      if (isReleased() || isLost()) return
    }
  }
  const watched = watch()
  const ended = Promise.all([
    watched,
    run().catch((error: unknown) => {
      lost.abort(error)
    }),
  ])
  return {
    lost: lost.signal,
    get renewedAtMs() {
      return renewedAtMs
    },
    release: once(async () => {
      released.abort()
      await ended
      const leftMs = settledAtMs - clock.monotonicMs()
      if (leftMs > 0) await clock.sleep(leftMs)
      onReleased()
    }),
  }
}
