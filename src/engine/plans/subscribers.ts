/** Calls subscribers one after the other. A callback that throws or is slow is reported, and stops nobody else. */

import { RefusedError } from '../../base/errors.ts'
import { systemClock, type Clock } from '../../base/clock.ts'
import { silentLogger, type Logger } from '../../base/logger.ts'
import { PLAN_NESTED_NOTIFICATIONS_MAX, PLAN_SLOW_CALLBACK_MS } from '../limits.ts'
import type { ChangeKind, SpaceCallback } from './shared-space.ts'

export interface SubscriberOptions {
  /** Measures how long a callback takes. Default: the machine's clock. */
  readonly clock?: Clock
  /** Gets a warning for each callback that fails or is slow. Default: nothing is logged. */
  readonly logger?: Logger
  /** A callback that takes longer causes a warning. Default: 50. */
  readonly slowCallbackMs?: number
}

export class Subscribers {
  /** Lists are replaced, never changed: a running notification keeps the list it began with. */
  readonly #callbacks = new Map<string, readonly SpaceCallback[]>()
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #slowMs: number
  #depth = 0

  constructor({
    clock = systemClock,
    logger = silentLogger,
    slowCallbackMs = PLAN_SLOW_CALLBACK_MS,
  }: SubscriberOptions) {
    this.#clock = clock
    this.#logger = logger
    this.#slowMs = slowCallbackMs
  }

  add(key: string, callback: SpaceCallback): void {
    this.#callbacks.set(key, [...(this.#callbacks.get(key) ?? []), callback])
  }

  remove(key: string): void {
    this.#callbacks.delete(key)
  }

  removeAll(): void {
    this.#callbacks.clear()
  }

  notify(key: string, value: unknown, change?: ChangeKind): void {
    const callbacks = this.#callbacks.get(key)
    if (callbacks === undefined) return
    // Two subscribers that set each other's key would never end.
    if (this.#depth >= PLAN_NESTED_NOTIFICATIONS_MAX)
      throw new RefusedError(
        'plan/nested-notifications',
        `notify the subscribers of "${key}": ${this.#depth} notifications run inside one another`,
        { next: 'Do not set, in a subscriber, a key that leads back to the same subscriber.' },
      )
    this.#depth += 1
    try {
      for (const callback of callbacks) this.#call(callback, key, value, change)
    } finally {
      this.#depth -= 1
    }
  }

  #call(callback: SpaceCallback, key: string, value: unknown, change: ChangeKind | undefined): void {
    const startMs = this.#clock.monotonicMs()
    try {
      if (change === undefined) callback(key, value)
      else callback(key, value, change)
    } catch (error) {
      this.#logger.warn('a subscriber failed', { key, error })
    }
    const tookMs = this.#clock.monotonicMs() - startMs
    if (tookMs > this.#slowMs)
      this.#logger.warn('a subscriber is slow, and the setter waits for it', {
        key,
        tookMs,
        slowCallbackMs: this.#slowMs,
      })
  }
}
