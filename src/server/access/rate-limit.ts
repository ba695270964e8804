/** How often a caller may send requests: a number at once, and a number each second after that. */

import { BoundedMap } from '../../base/bounded-map.ts'
import { systemClock, type Clock } from '../../base/clock.ts'
import { UnavailableError } from '../../base/errors.ts'
import { API_CALLERS_REMEMBERED } from '../limits.ts'

export interface RateLimit {
  readonly atOnce: number
  readonly perSecond: number
}

interface Bucket {
  /** Requests that are left. */
  left: number
  atMs: number
}

export class RateLimiter {
  readonly #limit: RateLimit
  readonly #clock: Clock
  /** Who has not asked for longest is forgotten first, and may ask as often as somebody new. */
  readonly #buckets = new BoundedMap<string, Bucket>({
    max: API_CALLERS_REMEMBERED,
    evict: 'least-recently-used',
  })

  constructor(limit: RateLimit, clock: Clock = systemClock) {
    this.#limit = limit
    this.#clock = clock
  }

  /** Counts one. Throws `api/too-many-requests`, which says how long to wait. */
  take(who: string): void {
    this.check(who)
    const bucket = this.#refill(who)
    bucket.left -= 1
  }

  /** Throws as `take` does, and counts nothing. */
  check(who: string): void {
    const { left } = this.#refill(who)
    if (left >= 1) return
    // Slightly less, so that a rounding error does not become a whole millisecond.
    const retryAfterMs = Math.ceil(((1 - left) / this.#limit.perSecond) * 1_000 - 1e-6)
    throw new UnavailableError('api/too-many-requests', 'accept a request: there were too many recently', {
      retryAfterMs,
      next: 'Wait as long as Retry-After says, and send fewer requests.',
    })
  }

  #refill(who: string): Bucket {
    const nowMs = this.#clock.monotonicMs()
    const bucket = this.#buckets.getOrAdd(who, () => ({ left: this.#limit.atOnce, atMs: nowMs }))
    bucket.left = Math.min(
      this.#limit.atOnce,
      bucket.left + ((nowMs - bucket.atMs) / 1_000) * this.#limit.perSecond,
    )
    bucket.atMs = nowMs
    return bucket
  }
}
