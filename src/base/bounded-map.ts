/** A map that holds so much and no more: what is added to a full one takes the place of an older entry. */

export interface BoundedMapOptions<V> {
  /** The most entries; with `weigh`, the most that all of them weigh together. */
  readonly max: number
  /** Which entry goes first: the one not read or written for the longest time, or the one written first. */
  readonly evict: 'least-recently-used' | 'oldest'
  /** What an entry counts; 1 unless given. */
  readonly weigh?: (value: V) => number
}

/**
 * ```ts
 * const buckets = new BoundedMap<string, Bucket>({ max: 10_000, evict: 'least-recently-used' })
 * const bucket = buckets.getOrAdd(caller, () => newBucket())
 * ```
 */
export class BoundedMap<K, V> {
  readonly #options: BoundedMapOptions<V>
  /** The one to go next comes first. */
  readonly #entries = new Map<K, V>()
  #weight = 0

  constructor(options: BoundedMapOptions<V>) {
    this.#options = options
  }

  get size(): number {
    return this.#entries.size
  }

  has(key: K): boolean {
    return this.#entries.has(key)
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined && this.#options.evict === 'least-recently-used') {
      this.#entries.delete(key)
      this.#entries.set(key, value)
    }
    return value
  }

  set(key: K, value: V): void {
    this.delete(key)
    this.#entries.set(key, value)
    this.#weight += this.#weigh(value)
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#options.max) break
      this.delete(oldest)
    }
  }

  getOrAdd(key: K, make: () => V): V {
    const known = this.get(key)
    if (known !== undefined) return known
    const made = make()
    this.set(key, made)
    return made
  }

  delete(key: K): void {
    const value = this.#entries.get(key)
    if (value === undefined) return
    this.#entries.delete(key)
    this.#weight -= this.#weigh(value)
  }

  #weigh(value: V): number {
    return this.#options.weigh?.(value) ?? 1
  }
}
