/**
 * When polls ask without waiting, because a task is likely to come at once: right after one began or ended. Only for a
 * server that looks for tasks now and then while a poll waits; ever more rarely, by one loop of a task type at a time, and
 * soon no more.
 */

import { followSignals } from '../../base/abort-signals.ts'
import type { Clock } from '../../base/clock.ts'
import { POLL_QUICK_FIRST_MS, POLL_QUICK_FOR_MS, POLL_QUICK_PART } from '../limits.ts'

export class QuickPolls {
  readonly #clock: Clock
  #sinceMs = -Infinity
  #isTaken = false
  #woken = new AbortController()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A task began or ended: whoever pauses between two quick polls asks at once. */
  note(): void {
    this.#sinceMs = this.#clock.monotonicMs()
    this.#woken.abort()
    this.#woken = new AbortController()
  }

  /** Whether a loop asks quickly, or pauses between two such polls. */
  get isTaken(): boolean {
    return this.#isTaken
  }

  /** Whether this loop may ask quickly now; it has to `leave` then. */
  enter(): boolean {
    if (this.#isTaken || this.#pauseMs() === undefined) return false
    this.#isTaken = true
    return true
  }

  leave(): void {
    this.#isTaken = false
  }

  /** Until the next quick poll is due. False: it is time to wait at the server again. */
  async pause(stopping: AbortSignal): Promise<boolean> {
    const pauseMs = this.#pauseMs()
    if (pauseMs === undefined || stopping.aborted) return false
    const followed = followSignals(stopping, this.#woken.signal)
    await this.#clock.sleep(pauseMs, followed.signal).catch(() => undefined)
    followed.release()
    return !stopping.aborted
  }

  #pauseMs(): number | undefined {
    const elapsedMs = this.#clock.monotonicMs() - this.#sinceMs
    return elapsedMs > POLL_QUICK_FOR_MS
      ? undefined
      : Math.max(POLL_QUICK_FIRST_MS, elapsedMs * POLL_QUICK_PART)
  }
}
