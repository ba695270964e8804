/**
 * How many operations may run at once, learnt from the server: one more after a round of successes, half as many when it
 * says "slow down" (additive increase, multiplicative decrease).
 *
 * 1. Never fewer than `min` at a time, so work always goes on; never more than `max`.
 * 2. First come, first served.
 * 3. One burst of refusals halves once: operations that started before the last halving tell nothing new.
 *
 * Limit single tries, not whole retries: a wait between tries must not take a place.
 */

import { abortReason } from './clock.ts'
import { invariant, isPeragoError, UnavailableError, type UncertainError } from './errors.ts'
import { CONCURRENCY_INITIAL, CONCURRENCY_MAX, CONCURRENCY_MIN, CONCURRENCY_WAITING_MAX } from './limits.ts'

export interface AdaptiveLimitOptions {
  readonly min?: number
  readonly max?: number
  readonly initial?: number
  readonly maxWaiting?: number
  /** Which failures mean "slow down"; `isOverload` unless told. */
  readonly isOverload?: (error: unknown) => boolean
}

export interface AdaptiveLimit {
  /** How many may run now. */
  readonly limit: number
  readonly running: number
  readonly waiting: number
  /** Waits for a place, until the signal is aborted. */
  enter(signal?: AbortSignal): Promise<LeaveLimit>
  /** Runs `operation` as soon as there is a place. */
  run<T>(operation: () => Promise<T>, options?: { readonly signal?: AbortSignal | undefined }): Promise<T>
}

/** Frees the place, once. `error` is what the operation failed with, if it did. */
export type LeaveLimit = (error?: unknown) => void

/**
 * ```ts
 * const limit = createAdaptiveLimit({ max: 32 })
 * await retry(() => limit.run(() => upload(file), { signal }), { signal })
 * ```
 */
export function createAdaptiveLimit(options: AdaptiveLimitOptions = {}): AdaptiveLimit {
  return new AdaptiveLimiter(options)
}

/** The server has too much to do: it answered 429 or 503, or named a time to come back. */
function isOverload(error: unknown): boolean {
  if (!isPeragoError(error) || (error.kind !== 'unavailable' && error.kind !== 'uncertain')) return false
  const { status } = error.details
  return (
    status === 429 ||
    status === 503 ||
    (error as UnavailableError | UncertainError).retryAfterMs !== undefined
  )
}

interface Waiter {
  readonly start: () => void
}

class AdaptiveLimiter implements AdaptiveLimit {
  readonly #min: number
  readonly #max: number
  readonly #maxWaiting: number
  readonly #isOverload: (error: unknown) => boolean
  /** Grows by fractions; only the whole part counts. */
  #allowed: number
  #running = 0
  /** How often the limit was halved so far. */
  #halvings = 0
  readonly #queue = new Set<Waiter>()

  constructor(options: AdaptiveLimitOptions) {
    this.#min = options.min ?? CONCURRENCY_MIN
    this.#max = options.max ?? CONCURRENCY_MAX
    invariant(this.#min >= 1 && this.#max >= this.#min, 'a concurrency limit allows at least one operation')
    this.#maxWaiting = options.maxWaiting ?? CONCURRENCY_WAITING_MAX
    this.#allowed = Math.min(this.#max, Math.max(this.#min, options.initial ?? CONCURRENCY_INITIAL))
    this.#isOverload = options.isOverload ?? isOverload
  }

  get limit(): number {
    return Math.floor(this.#allowed)
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#queue.size
  }

  async enter(signal?: AbortSignal): Promise<LeaveLimit> {
    await this.#takePlace(signal)
    const halvingsBefore = this.#halvings
    const wasBusy = this.#running >= this.limit
    return (error) => {
      if (error === undefined) this.#succeeded(wasBusy)
      else if (halvingsBefore === this.#halvings && this.#isOverload(error)) this.#halve()
      this.#running--
      this.#startNext()
    }
  }

  async run<T>(
    operation: () => Promise<T>,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<T> {
    const leave = await this.enter(options.signal)
    try {
      const result = await operation()
      leave()
      return result
    } catch (error) {
      leave(error)
      throw error
    }
  }

  async #takePlace(signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted === true) throw abortReason(signal)
    if (this.#running < this.limit && this.#queue.size === 0) {
      this.#running++
      return
    }
    if (this.#queue.size >= this.#maxWaiting) {
      throw new UnavailableError(
        'base/too-many-waiting',
        `wait for one of ${this.limit} places: ${this.#queue.size} operations are waiting already`,
        { next: 'Start fewer operations at once.' },
      )
    }
    await this.#wait(signal)
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#queue.delete(waiter)
        reject(abortReason(signal))
      }
      const waiter: Waiter = {
        start: () => {
          signal?.removeEventListener('abort', onAbort)
          // Taken here and not when the waiter goes on: in between another operation could take the place.
          this.#running++
          resolve()
        },
      }
      this.#queue.add(waiter)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  #startNext(): void {
    for (const waiter of this.#queue) {
      if (this.#running >= this.limit) return
      this.#queue.delete(waiter)
      waiter.start()
    }
  }

  /** One more place per round of successes, but only when all places were taken: otherwise nothing was tested. */
  #succeeded(wasBusy: boolean): void {
    if (wasBusy) this.#allowed = Math.min(this.#max, this.#allowed + 1 / this.limit)
  }

  #halve(): void {
    this.#halvings++
    this.#allowed = Math.max(this.#min, Math.floor(this.#allowed / 2))
  }
}
