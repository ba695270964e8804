/**
 * Wall time for what is due later: follows the clock when it is set forward, and goes on evenly when it is set back, so that nothing
 * waits until the clock shows again what it has shown before.
 */

import type { Clock } from './clock.ts'

export class SteadyTime {
  readonly #clock: Clock
  #aheadMs = -Infinity

  constructor(clock: Clock) {
    this.#clock = clock
  }

  nowMs(): number {
    const monotonicMs = this.#clock.monotonicMs()
    this.#aheadMs = Math.max(this.#aheadMs, this.#clock.now().getTime() - monotonicMs)
    return Math.round(monotonicMs + this.#aheadMs)
  }
}
