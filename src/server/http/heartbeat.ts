/** Beats of one event stream, at times of their own, whatever is sent meanwhile. One waits for them at a time. */

export class Heartbeat {
  #isDue = false
  #wake: (() => void) | undefined

  get isDue(): boolean {
    return this.#isDue
  }

  beat(): void {
    this.#isDue = true
    this.#wake?.()
  }

  /** Whether there was a beat since the last call. */
  takeDue(): boolean {
    const wasDue = this.#isDue
    this.#isDue = false
    return wasDue
  }

  /** Calls `wake` at the next beat. */
  wakeNext(wake: () => void): void {
    this.#wake = wake
  }

  release(): void {
    this.#wake = undefined
  }
}
