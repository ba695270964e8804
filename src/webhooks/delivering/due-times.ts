/** When each webhook is due next. */

export class DueTimes {
  readonly #times = new Map<string, number>()
  /** The earliest of all; may be too early until it is computed again. */
  #nextMs = Infinity
  #isExact = true

  /** Due at this time, or earlier if an earlier one is noted already. */
  note(id: string, atMs: number): void {
    const known = this.#times.get(id)
    if (known !== undefined && known <= atMs) return
    this.#times.set(id, atMs)
    if (atMs < this.#nextMs) this.#nextMs = atMs
  }

  /** When the first one is due; infinite where none is. */
  get nextMs(): number {
    if (!this.#isExact) {
      this.#nextMs = Infinity
      for (const atMs of this.#times.values()) if (atMs < this.#nextMs) this.#nextMs = atMs
      this.#isExact = true
    }
    return this.#nextMs
  }

  /** Removes those that are due and returns them, the earliest first. */
  take(nowMs: number): readonly string[] {
    if (this.nextMs > nowMs) return []
    const due = [...this.#times]
      .filter(([, atMs]) => atMs <= nowMs)
      .sort(([, left], [, right]) => left - right)
    for (const [id] of due) this.#times.delete(id)
    this.#isExact = false
    return due.map(([id]) => id)
  }
}
