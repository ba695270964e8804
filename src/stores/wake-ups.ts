/** Lets those who wait for changes go on at once, and at the latest after a while. */

export class WakeUps {
  readonly #waiting = new Set<() => void>()

  wake(): void {
    for (const goOn of [...this.#waiting]) goOn()
  }

  /** Resolves when woken, when the time is over, and when the signal is aborted. */
  wait(mostMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const goOn = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', goOn)
        this.#waiting.delete(goOn)
        resolve()
      }
      const timer = setTimeout(goOn, mostMs)
      signal.addEventListener('abort', goOn, { once: true })
      this.#waiting.add(goOn)
    })
  }
}
