/**
 * Wall time for what is due later: follows the clock when it is set forward, and goes on when it is set back, so that nothing
 * waits until the clock shows again what it has shown before.
 */

import type { Clock } from './clock.ts'

export class SteadyTime {
  readonly #clock: Clock
  readonly #speed: number
  #nowMs = -Infinity
  #readAtMs = 0

  /** `speed`: of the time while it is ahead of the clock, which below 1 catches up with it. */
  constructor(clock: Clock, { speed = 1 }: { readonly speed?: number } = {}) {
    this.#clock = clock
    this.#speed = speed
  }

  nowMs(): number {
    const monotonicMs = this.#clock.monotonicMs()
    const goneOnMs = this.#nowMs + (monotonicMs - this.#readAtMs) * this.#speed
    this.#nowMs = Math.max(this.#clock.now().getTime(), goneOnMs)
    this.#readAtMs = monotonicMs
    return Math.round(this.#nowMs)
  }

  /** From now on it is this time, unless it is later already. */
  setForward(atMs: number): void {
    this.#nowMs = Math.max(this.nowMs(), atMs)
  }

  aheadMs(): number {
    return this.nowMs() - this.#clock.now().getTime()
  }
}
