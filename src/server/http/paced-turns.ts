/**
 * Lets so many callers go on in each turn of the event loop, in the order in which they came. Without it followers that read
 * a long log keep the loop to themselves: their reads and writes are often done without waiting, and a request that arrives
 * meanwhile is not even looked at.
 */
export class PacedTurns {
  readonly #perTurn: number
  #waiting: (() => void)[] = []
  #isRunning = false

  constructor(perTurn: number) {
    this.#perTurn = perTurn
  }

  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      if (!this.#isRunning) this.#plan()
    })
  }

  #plan(): void {
    this.#isRunning = this.#waiting.length > 0
    if (!this.#isRunning) return
    setImmediate(() => {
      for (const goOn of this.#waiting.splice(0, this.#perTurn)) goOn()
      this.#plan()
    })
  }
}
