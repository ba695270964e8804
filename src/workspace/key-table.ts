/**
 * A sorted list of paths in one buffer. A hundred thousand strings, or a Map of them, take several times the memory, and
 * only a few are read again.
 */

import { invariant } from '../base/errors.ts'

const FIRST_BYTES = 4096
const FIRST_COUNT = 64

export class KeyTable {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES)
  /** Where each path ends, which is where the next one begins. */
  #ends = new Float64Array(FIRST_COUNT)
  #count = 0

  get count(): number {
    return this.#count
  }

  /** Appends a path; `false` when it does not come after the last one in byte order. */
  append(path: string): boolean {
    const begin = this.#begin(this.#count)
    // One unit of UTF-16 becomes at most three of UTF-8.
    this.#makeRoom(begin + path.length * 3)
    const end = begin + this.#bytes.write(path, begin, 'utf8')
    if (this.#count > 0) {
      const last = this.#count - 1
      const lastBegin = this.#begin(last)
      const lastEnd = this.#begin(this.#count)
      if (this.#bytes.compare(this.#bytes, lastBegin, lastEnd, begin, end) <= 0) return false
    }
    this.#ends[this.#count++] = end
    return true
  }

  at(index: number): string {
    invariant(index >= 0 && index < this.#count, 'a key table is read within its bounds')
    return this.#bytes.toString('utf8', this.#begin(index), this.#begin(index + 1))
  }

  /** The index of a path, or -1. */
  find(path: string): number {
    const key = Buffer.from(path)
    const index = this.#lowerBound(key)
    return index < this.#count && this.#compare(index, key) === 0 ? index : -1
  }

  /** The first path that begins with `prefix`. */
  firstBelow(prefix: string): string | undefined {
    const index = this.#lowerBound(Buffer.from(prefix))
    if (index >= this.#count) return undefined
    const path = this.at(index)
    return path.startsWith(prefix) ? path : undefined
  }

  /** Releases memory that was allocated in advance. */
  trim(): void {
    this.#bytes = copyOf(this.#bytes, this.#begin(this.#count))
    this.#ends = this.#ends.slice(0, Math.max(1, this.#count))
  }

  #lowerBound(key: Uint8Array): number {
    let low = 0
    let high = this.#count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#compare(middle, key) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #compare(index: number, key: Uint8Array): number {
    return this.#bytes.compare(key, 0, key.length, this.#begin(index), this.#begin(index + 1))
  }

  #begin(index: number): number {
    return index === 0 ? 0 : (this.#ends[index - 1] ?? 0)
  }

  #makeRoom(bytes: number): void {
    if (bytes > this.#bytes.length) this.#bytes = copyOf(this.#bytes, Math.max(bytes, this.#bytes.length * 2))
    if (this.#count === this.#ends.length) {
      const longer = new Float64Array(this.#ends.length * 2)
      longer.set(this.#ends)
      this.#ends = longer
    }
  }
}

/** Not from Node's shared pool: a slice of it would keep all of it in memory. */
function copyOf(bytes: Buffer, length: number): Buffer<ArrayBuffer> {
  const copy = Buffer.allocUnsafeSlow(length)
  bytes.copy(copy)
  return copy
}
