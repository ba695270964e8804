/** Lists that are loaded page by page, and kept fresh at their beginning. Pure. */

export interface FreshPage<T> {
  readonly items: readonly T[]
  /** Whether there are older ones. */
  readonly hasMore: boolean
}

/**
 * What a list shows, newest first: items of the fresh page as they are now, then the older ones that were loaded. What stands before
 * the end of the fresh page and is not in it is not in the list any more.
 */
export function mergeFresh<T>(
  fresh: FreshPage<T> | undefined,
  loaded: readonly T[],
  keyOf: (item: T) => string,
): readonly T[] {
  if (fresh === undefined) return loaded
  if (!fresh.hasMore) return fresh.items
  const keys = new Set(fresh.items.map(keyOf))
  const end = loaded.findLastIndex((item) => keys.has(keyOf(item)))
  return [...fresh.items, ...loaded.slice(end + 1)]
}
