import type { ByteKey } from './byte-key.ts'
import { mapStream, type SortedStream } from './sorted-stream.ts'
import type { TreeEntry } from './tree-cursor.ts'

/** A change on top of a tree; without a value the key is removed. */
interface OverlayChange {
  readonly key: ByteKey
  readonly value: Buffer | undefined
}

/** The entries below with the changes above applied. */
export function overlayEntries(
  below: SortedStream<TreeEntry>,
  above: SortedStream<OverlayChange>,
): SortedStream<TreeEntry> {
  return mapStream(pairUp(below, above), ({ key, first, second }) => {
    const value = second === undefined ? first?.value : second.value
    return value && { key, value }
  })
}

interface Pair<First, Second> {
  readonly key: ByteKey
  readonly first: First | undefined
  readonly second: Second | undefined
}

/** Walks two streams side by side; items with equal keys come together. */
export function pairUp<First extends { readonly key: ByteKey }, Second extends { readonly key: ByteKey }>(
  firstStream: SortedStream<First>,
  secondStream: SortedStream<Second>,
): SortedStream<Pair<First, Second>> {
  const firsts = new LookAheadStream(firstStream)
  const seconds = new LookAheadStream(secondStream)
  return {
    next() {
      const first = firsts.peek()
      const second = seconds.peek()
      if (first === undefined && second === undefined) return undefined
      if (second === undefined || (first !== undefined && first.key < second.key)) {
        firsts.next()
        return { key: (first as First).key, first, second: undefined }
      }
      seconds.next()
      if (first?.key !== second.key) return { key: second.key, first: undefined, second }
      firsts.next()
      return { key: second.key, first, second }
    },
    seek(key) {
      firsts.seek(key)
      seconds.seek(key)
    },
  }
}

class LookAheadStream<Item extends { readonly key: ByteKey }> implements SortedStream<Item> {
  readonly #stream: SortedStream<Item>
  #ahead: Item | undefined
  #hasAhead = false

  constructor(stream: SortedStream<Item>) {
    this.#stream = stream
  }

  peek(): Item | undefined {
    if (!this.#hasAhead) {
      this.#ahead = this.#stream.next()
      this.#hasAhead = true
    }
    return this.#ahead
  }

  next(): Item | undefined {
    const item = this.peek()
    this.#hasAhead = false
    this.#ahead = undefined
    return item
  }

  seek(key: ByteKey): void {
    if (this.#hasAhead && (this.#ahead === undefined || this.#ahead.key >= key)) return
    this.#hasAhead = false
    this.#ahead = undefined
    this.#stream.seek(key)
  }
}
