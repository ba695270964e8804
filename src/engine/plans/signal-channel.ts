/** How a plan speaks to one running task. Signals are requests: the task decides what it does. */

import { PLAN_WAITING_SIGNALS_MAX } from '../limits.ts'

export type PlanSignal = 'pause' | 'resume' | 'stop'

/**
 * ```ts
 * for await (const signal of signals) if (signal === 'stop') break
 * ```
 */
export class SignalChannel implements AsyncIterable<PlanSignal> {
  #waiting: readonly PlanSignal[] = []
  #receivers: readonly ((signal: PlanSignal | undefined) => void)[] = []
  #isClosed = false

  /** The oldest signal that was not received yet. */
  tryReceive(): PlanSignal | undefined {
    const [first, ...rest] = this.#waiting
    this.#waiting = rest
    return first
  }

  /** Waits for the next signal; `undefined` after the task has ended. */
  receive(): Promise<PlanSignal | undefined> {
    const waiting = this.tryReceive()
    if (waiting !== undefined || this.#isClosed) return Promise.resolve(waiting)
    return new Promise((resolve) => {
      this.#receivers = [...this.#receivers, resolve]
    })
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<PlanSignal> {
    for (let signal = await this.receive(); signal !== undefined; signal = await this.receive()) yield signal
  }

  send(signal: PlanSignal): void {
    if (this.#isClosed) return
    const [receiver, ...others] = this.#receivers
    if (receiver === undefined) {
      this.#waiting = [...this.#waiting, signal].slice(-PLAN_WAITING_SIGNALS_MAX)
      return
    }
    this.#receivers = others
    receiver(signal)
  }

  close(): void {
    this.#isClosed = true
    for (const receive of this.#receivers) receive(undefined)
    this.#receivers = []
  }
}
