/** A clock that stands still until it is told to move. */

import { abortReason, type Clock } from '../base/clock.ts'

interface Sleeper {
  readonly wakeAtMs: number
  readonly wake: () => void
}

/**
 * ```ts
 * const clock = new ManualClock()
 * const slept = clock.sleep(1000)
 * await clock.advance(1000)
 * await slept
 * ```
 */
export class ManualClock implements Clock {
  #elapsedMs = 0
  readonly #startedAt: number
  readonly #sleepers = new Set<Sleeper>()

  constructor(startedAt: Date = new Date('2026-01-01T00:00:00Z')) {
    this.#startedAt = startedAt.getTime()
  }

  now(): Date {
    return new Date(this.#startedAt + this.#elapsedMs)
  }

  monotonicMs(): number {
    return this.#elapsedMs
  }

  /** How many sleeps are under way. */
  get sleeping(): number {
    return this.#sleepers.size
  }

  async sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (durationMs <= 0) return
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#sleepers.delete(sleeper)
        signal?.removeEventListener('abort', onAbort)
      }
      const onAbort = (): void => {
        leave()
        reject(abortReason(signal))
      }
      const sleeper: Sleeper = {
        wakeAtMs: this.#elapsedMs + durationMs,
        wake: () => {
          leave()
          resolve()
        },
      }
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** Moves time on, waking the sleepers that are due in the order in which they are. */
  async advance(durationMs: number): Promise<void> {
    const endMs = this.#elapsedMs + durationMs
    for (let due = this.#nextDue(endMs); due !== undefined; due = this.#nextDue(endMs)) {
      this.#elapsedMs = due.wakeAtMs
      due.wake()
      await settle()
    }
    this.#elapsedMs = endMs
    await settle()
  }

  /** Moves time on for as long as somebody sleeps and `promise` has not settled; then gives its outcome. */
  async run<T>(promise: Promise<T>): Promise<T> {
    const progress = { settled: false }
    const outcome = promise.finally(() => {
      progress.settled = true
    })
    outcome.catch(() => undefined)
    await settle()
    for (
      let next = this.#nextDue(Infinity);
      !progress.settled && next !== undefined;
      next = this.#nextDue(Infinity)
    ) {
      await this.advance(next.wakeAtMs - this.#elapsedMs)
    }
    return outcome
  }

  #nextDue(endMs: number): Sleeper | undefined {
    let first: Sleeper | undefined
    for (const sleeper of this.#sleepers) {
      if (sleeper.wakeAtMs <= endMs && (first === undefined || sleeper.wakeAtMs < first.wakeAtMs))
        first = sleeper
    }
    return first
  }
}

/** Lets everything that is ready run: promise jobs, and what they put off to the next turn. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
