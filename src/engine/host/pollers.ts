/** Polls that wait for tasks, and when each task type was last polled. */

import type { PollRequest } from '../../worker/ports.ts'

export type Polled = Pick<PollRequest, 'taskType' | 'domain'>

interface Waiting {
  readonly polled: Polled
  readonly wakes: Set<() => void>
}

export class Pollers {
  readonly #waiting = new Map<string, Waiting>()
  readonly #lastPollMs = new Map<string, number>()

  notePoll(polled: Polled, nowMs: number): void {
    this.#lastPollMs.set(keyOf(polled), nowMs)
  }

  lastPollMs(polled: Polled): number {
    return this.#lastPollMs.get(keyOf(polled)) ?? -Infinity
  }

  /** Calls `wake` when there may be something for this poll. Returns how to stop that. */
  wait(polled: Polled, wake: () => void): () => void {
    const key = keyOf(polled)
    const waiting = this.#waiting.get(key) ?? { polled, wakes: new Set() }
    this.#waiting.set(key, waiting)
    waiting.wakes.add(wake)
    return () => {
      waiting.wakes.delete(wake)
      if (waiting.wakes.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key)
    }
  }

  wake(polled: Polled): void {
    for (const wake of [...(this.#waiting.get(keyOf(polled))?.wakes ?? [])]) wake()
  }

  wakeWhere(isConcerned: (polled: Polled) => boolean): void {
    for (const { polled } of [...this.#waiting.values()]) if (isConcerned(polled)) this.wake(polled)
  }
}

function keyOf({ taskType, domain }: Polled): string {
  return `${domain ?? ''}:${taskType}`
}
