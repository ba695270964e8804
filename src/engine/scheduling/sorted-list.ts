/** A list that stays sorted. */

export class SortedList<T> {
  readonly #items: T[] = []
  readonly #compare: (one: T, other: T) => number

  /** `compare` gives 0 only for one and the same item. */
  constructor(compare: (one: T, other: T) => number) {
    this.#compare = compare
  }

  get size(): number {
    return this.#items.length
  }

  at(index: number): T | undefined {
    return this.#items[index]
  }

  add(item: T): void {
    this.#items.splice(this.#placeOf(item), 0, item)
  }

  /** The item must not have changed since it was added. */
  delete(item: T): void {
    const place = this.#placeOf(item)
    if (this.#items[place] === item) this.#items.splice(place, 1)
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#items.values()
  }

  #placeOf(item: T): number {
    let [from, to] = [0, this.#items.length]
    while (from < to) {
      const middle = (from + to) >>> 1
      const there = this.#items[middle]
      if (there !== undefined && there !== item && this.#compare(there, item) < 0) from = middle + 1
      else to = middle
    }
    return from
  }
}
