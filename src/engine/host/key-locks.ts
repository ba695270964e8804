/** One piece of work at a time per key, in the order of arrival. */
export class KeyLocks {
  readonly #tails = new Map<string, Promise<unknown>>()

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve()
    const own = before.then(work, work)
    this.#tails.set(key, own)
    try {
      return await own
    } finally {
      if (this.#tails.get(key) === own) this.#tails.delete(key)
    }
  }

  /** Resolves when nothing is being done or waits. */
  async idle(): Promise<void> {
    while (this.#tails.size > 0) await Promise.allSettled(this.#tails.values())
  }
}
