/** A clock that moves only when told to. */

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

  /** The number of pending sleeps. */
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

  /** Advances the time and resolves the sleeps that become due, in order. */
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

  /** Advances the time at once: sleeps that end on the way resolve together, at the new time. */
  async leap(durationMs: number): Promise<void> {
    this.#elapsedMs += durationMs
    for (let due = this.#nextDue(this.#elapsedMs); due !== undefined; due = this.#nextDue(this.#elapsedMs))
      due.wake()
    await settle()
  }

  /** Advances the time while there are pending sleeps and `promise` has not settled, then returns its outcome. */
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

/** Lets pending promise jobs and the next turn of the event loop run. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
