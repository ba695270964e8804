/** How the time of a test passes: at once, from one thing that happens to the next. */

import { RefusedError } from '../../base/errors.ts'
import type { ManualClock } from '../manual-clock.ts'
import type { Driver } from './driver.ts'

/** How it went on. */
export type Advance = 'reached' | 'time-over' | 'nothing-left'

export class PassingTime {
  readonly #parts: { readonly clock: ManualClock; readonly driver: Driver }

  constructor(parts: { readonly clock: ManualClock; readonly driver: Driver }) {
    this.#parts = parts
  }

  async skip(durationMs: number): Promise<void> {
    await this.advance(() => Promise.resolve(false), this.#parts.clock.now().getTime() + durationMs)
  }

  /** Lets time pass until something is so, at the latest until a moment. */
  async advance(isReached: () => Promise<boolean>, untilMs = Infinity): Promise<Advance> {
    const { driver, clock } = this.#parts
    for (let rounds = 0; rounds < ROUNDS_MAX; rounds += 1) {
      if (await isReached()) return 'reached'
      if (await driver.turn()) continue
      const nowMs = clock.now().getTime()
      const nextMs = await driver.nextMs()
      if (nextMs > untilMs && nowMs >= untilMs) return 'time-over'
      if (nextMs === Infinity && untilMs === Infinity) return 'nothing-left'
      await clock.leap(Math.min(nextMs, untilMs) - nowMs)
    }
    throw new RefusedError('testing/too-long', `let time pass: ${ROUNDS_MAX} things happened, and no end`, {
      next: 'Look for a loop or a retry without end, or for a lease that is very short.',
    })
  }
}

const ROUNDS_MAX = 200_000
