/**
 * Trying again, within a budget of tries and of time.
 *
 * Only errors of kind `unavailable` are tried again by default: those were surely not done. An `uncertain` one is not,
 * whoever meets it must look first.
 */

import pRetry from 'p-retry'
import { abortReason, systemClock, type Clock } from './clock.ts'
import { errorKindOf, isPeragoError, type UnavailableError } from './errors.ts'
import {
  RETRY_FIRST_DELAY_MS,
  RETRY_MAX_ATTEMPTS,
  RETRY_MAX_DELAY_MS,
  RETRY_MAX_ELAPSED_MS,
} from './limits.ts'
import { systemRandom, type Random } from './random.ts'

export interface RetryPolicy {
  /** Tries in all, the first included. */
  readonly maxAttempts: number
  /** No further try is begun later than this after the first began. */
  readonly maxElapsedMs: number
  readonly firstDelayMs: number
  readonly maxDelayMs: number
}

export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  maxAttempts: RETRY_MAX_ATTEMPTS,
  maxElapsedMs: RETRY_MAX_ELAPSED_MS,
  firstDelayMs: RETRY_FIRST_DELAY_MS,
  maxDelayMs: RETRY_MAX_DELAY_MS,
}

/** What an operation is told about the try it makes. */
export interface RetryAttempt {
  /** 1 for the first try. */
  readonly attempt: number
}

/** What happened, and what follows: for the log. */
export interface RetryNotice extends RetryAttempt {
  readonly error: unknown
  readonly delayMs: number
}

export interface RetryOptions {
  readonly policy?: Partial<RetryPolicy>
  readonly clock?: Clock
  readonly random?: Random
  /** Stops waiting and begins no further try; a try under way is the operation's own to stop. */
  readonly signal?: AbortSignal
  /** Which failures may be tried again; `isRetryable` unless told. */
  readonly shouldRetry?: (error: unknown) => boolean
  /** Called before each wait. */
  readonly onRetry?: (notice: RetryNotice) => void
}

/**
 * Runs `operation` until it succeeds, fails for good, or the budget is used up; the last error is then thrown as it is.
 *
 * ```ts
 * const head = await retry(() => readHead(branch), { signal, policy: { maxAttempts: 3 } })
 * ```
 */
export async function retry<T>(
  operation: (attempt: RetryAttempt) => Promise<T>,
  options: RetryOptions = {},
): Promise<T> {
  const policy = { ...DEFAULT_RETRY_POLICY, ...options.policy }
  const { clock = systemClock, random = systemRandom, shouldRetry = isRetryable, signal } = options
  const startMs = clock.monotonicMs()
  if (signal?.aborted === true) throw abortReason(signal)

  return pRetry((attempt) => operation({ attempt }), {
    retries: policy.maxAttempts - 1,
    // The waiting is ours, on our clock: p-retry would use the machine's timers and Math.random. The signal is ours too:
    // p-retry asks it once more after a success, and would throw away an answer that did arrive.
    minTimeout: 0,
    maxTimeout: 0,
    shouldRetry: async ({ error, attemptNumber: attempt }) => {
      if (!shouldRetry(error)) return false
      const delayMs = retryDelay({ attempt, error, policy, random })
      if (clock.monotonicMs() - startMs + delayMs > policy.maxElapsedMs) return false
      if (signal?.aborted === true) throw abortReason(signal)
      options.onRetry?.({ attempt, error, delayMs })
      await clock.sleep(delayMs, signal)
      return true
    },
  })
}

/** Surely not done, so that doing it again is safe. */
export function isRetryable(error: unknown): boolean {
  return errorKindOf(error) === 'unavailable'
}

/**
 * How long to wait after failed try number `attempt`: anything from zero to the back-off (full jitter). Where the server
 * named a time, never less than that, with the jitter on top so that not everybody comes back at the same instant.
 */
export function retryDelay(request: {
  readonly attempt: number
  readonly error: unknown
  readonly policy: RetryPolicy
  readonly random: Random
}): number {
  const { attempt, error, policy, random } = request
  const backOffMs = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (attempt - 1))
  const askedMs = isPeragoError(error) ? ((error as Partial<UnavailableError>).retryAfterMs ?? 0) : 0
  const jitterMs = askedMs > 0 ? Math.min(backOffMs, policy.firstDelayMs) : backOffMs
  return askedMs + random.next() * jitterMs
}
