import type { ByteKey } from './byte-key.ts'

/** Items in strictly ascending key order, read one by one. */
export interface SortedStream<Item extends { readonly key: ByteKey }> {
  /** Undefined at the end. */
  next(): Item | undefined
  /** Goes on at the first item that is not below `key`; never backwards. */
  seek(key: ByteKey): void
}
