/** Lets waiting watches continue at once, or after a time limit. */

export class WakeUps {
  readonly #waiting = new Set<() => void>()

  wake(): void {
    if (this.#waiting.size === 0) return
    for (const goOn of [...this.#waiting]) goOn()
  }

  /** Resolves when woken, after the time, or when the signal is aborted. */
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
