/** When each of many is to be looked at next. */

export class DueTimes {
  readonly #times = new Map<string, number>()
  /** Of all of them; a bound from below until it is asked for. */
  #nextMs = Infinity
  #isExact = true

  /** No later than this. */
  note(id: string, atMs: number): void {
    const known = this.#times.get(id)
    if (known !== undefined && known <= atMs) return
    this.#times.set(id, atMs)
    if (atMs < this.#nextMs) this.#nextMs = atMs
  }

  /** When the first of them is to be looked at; infinite where none is. */
  get nextMs(): number {
    if (!this.#isExact) {
      this.#nextMs = Infinity
      for (const atMs of this.#times.values()) if (atMs < this.#nextMs) this.#nextMs = atMs
      this.#isExact = true
    }
    return this.#nextMs
  }

  /** Those whose time has come, the longest ago first; they are forgotten until they are noted again. */
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
