/**
 * Renews the lease of one attempt at the task queue, and notices when the attempt is no longer current.
 *
 * - LEASE-1 At most one renewal is in flight.
 * - LEASE-2 After `release()` has resolved no renewal is in flight and none begins: only then may a result be posted,
 *   because a renewal that overlaps a completion can undo it. One whose response was lost may still arrive, so it waits.
 * - LEASE-3 Each round reads the task and its workflow before it renews, so a terminated, restarted, removed or re-run
 *   workflow is noticed within one period. A renewal alone proves nothing: the server accepts renewals of others.
 * - LEASE-4 If nothing was renewed for the whole response timeout, the lease is lost, even while a renewal hangs: another
 *   worker may have the task. A renewal counts from its sending.
 */

import { followSignals, isAborted } from '../../base/abort-signals.ts'
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
  /** Called for each renewal that the queue confirmed, with how long ago it was sent. */
  readonly onRenewed?: (sentMsAgo: number) => void
}

export interface Lease {
  /** Aborted when the lease is lost; the reason is an error. */
  readonly lost: AbortSignal
  /** When the queue last confirmed the lease, on the clock's monotonic scale. */
  readonly renewedAtMs: number
  /** Resolves when no renewal is in flight; none starts afterwards. May be called twice. */
  release(): Promise<void>
}

/** Renews leases, from this thread or from a separate one. */
export interface LeaseKeeper {
  hold(request: LeaseRequest): Lease
  close(): Promise<void>
}

/** The lease could not be renewed in time. It is not known whether another worker has the task, so nothing is published. */
class LeaseLostError extends RefusedError {
  constructor(attempt: AttemptSnapshot, silentMs: number, cause: unknown) {
    super(
      'worker/lease-lost',
      `renew the lease of task ${attempt.taskId}: nothing was confirmed for ${Math.round(silentMs / 1000)} s`,
      {
        details: { taskId: attempt.taskId, workflowId: attempt.workflowId, silentMs },
        next: 'Check that the task queue answers; the task is handed out again when its response timeout is noticed.',
        cause,
      },
    )
  }
}

/** The calls of a task queue that renewing a lease needs. */
export type LeaseCalls = Pick<TaskQueue, 'readTask' | 'readWorkflowStatus' | 'renewLease'>

interface LeaseSurroundings {
  readonly queue: LeaseCalls
  readonly clock: Clock
  readonly logger: Logger
}

export function openLocalLeases(options: LeaseSurroundings): LeaseKeeper {
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

interface HoldOptions extends LeaseSurroundings {
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

  const isReleased = (): boolean => isAborted(released.signal)
  const isLost = (): boolean => isAborted(lost.signal)
  let lastError: unknown
  /** Until when a renewal whose response was lost may still arrive. */
  let settledAtMs = -Infinity

  const renew = async (): Promise<void> => {
    // Reading changes nothing, so a release aborts it.
    const followed = followSignals(released.signal, AbortSignal.timeout(Math.max(1, timeoutMs)))
    const fresh = await readFreshAttempt(queue, attempt, { signal: followed.signal }).finally(() =>
      followed.release(),
    )
    if (isReleased()) return
    assertCurrentAttemptSnapshot(attempt, fresh, policy)
    // Not aborted by `release`: an aborted renewal might still arrive after the result.
    const sentAtMs = clock.monotonicMs()
    if (await renewOnce()) {
      renewedAtMs = sentAtMs
      request.onRenewed?.(clock.monotonicMs() - sentAtMs)
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
        lastError = error
        const silentMs = clock.monotonicMs() - renewedAtMs
        logger.warn('a lease renewal failed and is tried again', { error, silentMs })
        // What was certainly not done is tried again soon, anything else in the next round.
        if (errorKindOf(error) === 'unavailable') waitMs = periodMs / LEASE_ROUNDS_PER_TIMEOUT
      }
    }
  }

  /** Separate from the renewals, because one of them may hang. */
  const watch = async (): Promise<void> => {
    for (;;) {
      const leftMs = renewedAtMs + timeoutMs - clock.monotonicMs()
      if (leftMs <= 0) {
        lost.abort(new LeaseLostError(attempt, timeoutMs - leftMs, lastError))
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
