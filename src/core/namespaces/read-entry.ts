/** Reading one key, without waiting where the store need not. */

import type { Store, StoreEntry } from '../ports.ts'

/** A promise only where there is something to wait for. The entry is for reading; see `peek` of the port. */
export function readEntry(
  store: Store,
  key: string,
): StoreEntry | undefined | Promise<StoreEntry | undefined> {
  return store.peek === undefined ? store.get(key) : store.peek(key)
}
