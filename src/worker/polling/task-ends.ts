/** What the task types of one worker tell each other while they poll. */

import type { Clock } from '../../base/clock.ts'
import { POLL_QUICK_FOR_MS } from '../limits.ts'

/** Tells the polls of the other types of a worker that a task began or ended: one of theirs may follow it. */
export class TaskEnds {
  readonly #clock: Clock
  readonly #listeners = new Set<() => void>()
  #atMs = -Infinity

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether a task of any type began or ended just now. */
  get isRecent(): boolean {
    return this.#clock.monotonicMs() - this.#atMs <= POLL_QUICK_FOR_MS
  }

  note(): void {
    this.#atMs = this.#clock.monotonicMs()
  }

  tellOthers(own: () => void): void {
    this.note()
    for (const listener of this.#listeners) if (listener !== own) listener()
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}
