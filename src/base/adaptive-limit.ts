/**
 * How many operations may be under way at once, learnt from the server: one more after a round of successes, half as
 * many when it says "slow down" (additive increase, multiplicative decrease).
 *
 * 1. Never fewer than `min` at a time, so somebody always goes on; never more than `max`.
 * 2. First come, first served: whoever waits is overtaken by nobody.
 * 3. One burst of refusals halves once: operations that began before the last halving tell nothing new.
 *
 * Wrap single tries, not whole retries: a back-off must not hold a place.
 */

import { abortReason } from './clock.ts'
import { invariant, isPeragoError, UnavailableError } from './errors.ts'
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
  /** How many may be under way now. */
  readonly limit: number
  readonly running: number
  readonly waiting: number
  /** Runs `operation` when its turn comes; an abort while waiting gives the place up. */
  run<T>(operation: () => Promise<T>, options?: { readonly signal?: AbortSignal | undefined }): Promise<T>
}

/**
 * ```ts
 * const limit = createAdaptiveLimit({ max: 32 })
 * await retry(() => limit.run(() => upload(file), { signal }), { signal })
 * ```
 */
export function createAdaptiveLimit(options: AdaptiveLimitOptions = {}): AdaptiveLimit {
  return new AdaptiveLimiter(options)
}

/** The server turned the request away because it has too much to do: 429 or 503, or it named a time to come back. */
export function isOverload(error: unknown): boolean {
  if (!isPeragoError(error) || error.kind !== 'unavailable') return false
  const { status } = error.details
  return status === 429 || status === 503 || (error as UnavailableError).retryAfterMs !== undefined
}

interface Waiter {
  readonly start: () => void
}

class AdaptiveLimiter implements AdaptiveLimit {
  readonly #min: number
  readonly #max: number
  readonly #maxWaiting: number
  readonly #isOverload: (error: unknown) => boolean
  /** Grows by fractions; what counts is its whole part. */
  #allowed: number
  #running = 0
  /** How often the limit was halved; an operation remembers the number it began under. */
  #halvings = 0
  readonly #queue = new Set<Waiter>()

  constructor(options: AdaptiveLimitOptions) {
    this.#min = options.min ?? CONCURRENCY_MIN
    this.#max = options.max ?? CONCURRENCY_MAX
    invariant(this.#min >= 1 && this.#max >= this.#min, 'a concurrency limit lets at least one through')
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

  async run<T>(
    operation: () => Promise<T>,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<T> {
    await this.#takePlace(options.signal)
    const begunUnder = this.#halvings
    const wasBusy = this.#running >= this.limit
    try {
      const result = await operation()
      this.#succeeded(wasBusy)
      return result
    } catch (error) {
      if (begunUnder === this.#halvings && this.#isOverload(error)) this.#halve()
      throw error
    } finally {
      this.#running--
      this.#startNext()
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
        `wait for one of ${this.limit} places: ${this.#queue.size} wait already`,
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
          // The place is taken here and not by the waiter's continuation: in between somebody could slip in.
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

  /** One more place per round of successes. Only when all places were taken: idleness proves nothing. */
  #succeeded(wasBusy: boolean): void {
    if (wasBusy) this.#allowed = Math.min(this.#max, this.#allowed + 1 / this.limit)
  }

  #halve(): void {
    this.#halvings++
    this.#allowed = Math.max(this.#min, Math.floor(this.#allowed / 2))
  }
}
