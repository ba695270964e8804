/** When each execution has to be looked at next, the earliest first: a heap whose out-of-date entries are dropped when met. */

interface Entry {
  readonly atMs: number
  readonly id: string
}

export class DueTimes {
  readonly #times = new Map<string, number>()
  #heap: Entry[] = []

  /** `undefined`: never. */
  set(id: string, atMs: number | undefined): void {
    if (atMs === undefined || !Number.isFinite(atMs)) {
      this.#times.delete(id)
      return
    }
    if (this.#times.get(id) === atMs) return
    this.#times.set(id, atMs)
    this.#push({ atMs, id })
    if (this.#heap.length > 2 * this.#times.size + SLACK) this.#rebuild()
  }

  next(): Entry | undefined {
    for (let first = this.#heap[0]; first !== undefined; first = this.#heap[0]) {
      if (this.#times.get(first.id) === first.atMs) return first
      this.#pop()
    }
    return undefined
  }

  clear(): void {
    this.#times.clear()
    this.#heap = []
  }

  #rebuild(): void {
    this.#heap = []
    for (const [id, atMs] of this.#times) this.#push({ atMs, id })
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let at = heap.push(entry) - 1
    while (at > 0) {
      const up = (at - 1) >> 1
      const parent = heap[up]
      if (parent === undefined || parent.atMs <= entry.atMs) break
      heap[at] = parent
      at = up
    }
    heap[at] = entry
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let at = 0
    for (;;) {
      const left = 2 * at + 1
      const child = (heap[left + 1]?.atMs ?? Infinity) < (heap[left]?.atMs ?? Infinity) ? left + 1 : left
      const lower = heap[child]
      if (lower === undefined || lower.atMs >= last.atMs) break
      heap[at] = lower
      at = child
    }
    heap[at] = last
  }
}

const SLACK = 64
