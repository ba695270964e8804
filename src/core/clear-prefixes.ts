/** Deleting several prefixes, in their order. */

import type { Store } from './ports.ts'

/** Returns how many keys each had. Not atomic, as `clear`. */
export async function clearPrefixes(store: Store, prefixes: readonly string[]): Promise<readonly number[]> {
  if (store.clearEach !== undefined) return store.clearEach(prefixes)
  const counts: number[] = []
  for (const prefix of prefixes) counts.push(await store.clear(prefix))
  return counts
}
