/**
 * Retries within a budget of tries and of time.
 *
 * By default only errors of kind `unavailable` are retried: nothing was done. After an `uncertain` one the caller must
 * read the state first.
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
  /** All tries, the first one included. */
  readonly maxAttempts: number
  /** No try starts later than this after the start of the first. */
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

/** What failed, and how long the wait before the next try is: for the log. */
export interface RetryNotice {
  /** 1 for the first try. */
  readonly attempt: number
  readonly error: unknown
  readonly delayMs: number
}

export interface RetryOptions {
  readonly policy?: Partial<RetryPolicy> | undefined
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
  /** Ends a wait, and no further try starts. A running try is the operation's own to stop. */
  readonly signal?: AbortSignal | undefined
  /** Which errors are retried; `isRetryable` by default. */
  readonly shouldRetry?: (error: unknown) => boolean
  /** Called before each wait. */
  readonly onRetry?: (notice: RetryNotice) => void
}

/**
 * Runs `operation` until it succeeds, fails with an error that is not retried, or the budget is used up; the last error
 * is thrown unchanged.
 *
 * ```ts
 * const head = await retry(() => readHead(branch), { signal, policy: { maxAttempts: 3 } })
 * ```
 */
export async function retry<T>(
  operation: (attempt: number) => Promise<T>,
  options: RetryOptions = {},
): Promise<T> {
  const { signal } = options
  const startMs = (options.clock ?? systemClock).monotonicMs()
  if (signal?.aborted === true) throw abortReason(signal)
  let first: { readonly error: unknown }
  try {
    return await operation(1)
  } catch (error) {
    first = { error }
  }
  return tryAgain(operation, { ...options, startMs, first })
}

function tryAgain<T>(
  operation: (attempt: number) => Promise<T>,
  options: RetryOptions & { readonly startMs: number; readonly first: { readonly error: unknown } },
): Promise<T> {
  const policy = { ...DEFAULT_RETRY_POLICY, ...options.policy }
  const { clock = systemClock, random = systemRandom, shouldRetry = isRetryable, signal } = options
  const { startMs, first } = options
  let delayMs = 0

  return pRetry(
    async (attempt) => {
      // Most succeed at once, and need nothing of this.
      if (attempt === 1) throw first.error
      await clock.sleep(delayMs, signal)
      return operation(attempt)
    },
    {
      retries: policy.maxAttempts - 1,
      // p-retry repeats, counts and asks. It cannot wait for a Retry-After, nor on a clock that it is given, so the wait is
      // the beginning of the next try. It gets no signal either: it would drop an answer that arrived before the abort.
      minTimeout: 0,
      shouldRetry: ({ error, attemptNumber: attempt }) => {
        if (!shouldRetry(error)) return false
        if (signal?.aborted === true) throw abortReason(signal)
        delayMs = retryDelay({ attempt, error, policy, random })
        if (clock.monotonicMs() - startMs + delayMs > policy.maxElapsedMs) return false
        options.onRetry?.({ attempt, error, delayMs })
        return true
      },
    },
  )
}

/** Nothing was done, so it is safe to try again. */
export function isRetryable(error: unknown): boolean {
  return errorKindOf(error) === 'unavailable'
}

/**
 * How long to wait after failed try number `attempt`: a random time up to the back-off (full jitter). Where the server
 * named a time, at least that, plus a jitter so that clients do not all come back at once.
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
