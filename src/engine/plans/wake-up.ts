/** Wakes a loop: by a call, or when a time has passed. A call that comes before the wait is not lost. */

import type { Clock } from '../../base/clock.ts'

export class WakeUp {
  #isDue = false
  #resolve: (() => void) | undefined

  ring(): void {
    this.#isDue = true
    this.#resolve?.()
  }

  /** `longestMs`: infinite to wait for a call only. */
  async wait(clock: Clock, longestMs: number): Promise<void> {
    if (!this.#isDue) {
      const timer = new AbortController()
      const rung = new Promise<void>((resolve) => {
        this.#resolve = resolve
      })
      const waits = [rung]
      if (longestMs !== Infinity) {
        const slept = clock.sleep(longestMs, timer.signal)
        // Stopped below when the call comes first.
        slept.catch(() => undefined)
        waits.push(slept)
      }
      await Promise.race(waits)
      timer.abort()
    }
    this.#isDue = false
    this.#resolve = undefined
  }
}
