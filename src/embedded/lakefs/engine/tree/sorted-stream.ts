import type { ByteKey } from './byte-key.ts'

interface Keyed {
  readonly key: ByteKey
}

/** Items in strictly ascending key order, read one by one. */
export interface SortedStream<Item extends Keyed> {
  /** Undefined at the end. */
  next(): Item | undefined
  /** Continues at the first item that is not below `key`; never backwards. */
  seek(key: ByteKey): void
}

export const EMPTY_STREAM: SortedStream<never> = { next: () => undefined, seek: () => undefined }

/** What `map` makes of each item, without those of which it makes nothing. Keys must stay the same. */
export function mapStream<Item extends Keyed, Result extends Keyed>(
  stream: SortedStream<Item>,
  map: (item: Item) => Result | undefined,
): SortedStream<Result> {
  return {
    next() {
      for (let item = stream.next(); item !== undefined; item = stream.next()) {
        const result = map(item)
        if (result !== undefined) return result
      }
      return undefined
    },
    seek: (key) => stream.seek(key),
  }
}
