/** Reading one key, synchronously where the store allows it. */

import type { Store, StoreEntry } from '../ports.ts'

/** Returns a promise only where the store has no `peek`. The entry must not be changed. */
export function readEntry(
  store: Store,
  key: string,
): StoreEntry | undefined | Promise<StoreEntry | undefined> {
  return store.peek === undefined ? store.get(key) : store.peek(key)
}
