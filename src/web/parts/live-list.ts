import { useMemo } from 'preact/hooks'
import { useLoaded, usePages, type Pages } from '../load.ts'
import { mergeFresh } from './fresh.ts'

const EVERY_MS = 4_000

export interface Page<T> {
  readonly items: readonly T[]
  readonly next?: string | undefined
}

/** A long list, newest first, whose first page is loaded again while it is looked at. */
export function useLiveList<T>(
  load: (after: string | undefined, signal: AbortSignal) => Promise<Page<T>>,
  of: readonly unknown[],
  keyOf: (item: T) => string,
): Pages<T> {
  const pages = usePages<T>(
    async (after, signal) => ({ next: undefined, ...(await load(after, signal)) }),
    of,
  )
  const { data } = useLoaded((signal) => load(undefined, signal), of, { everyMs: EVERY_MS })
  const items = useMemo(() => {
    const fresh = data && { items: data.items, hasMore: data.next !== undefined }
    return mergeFresh(fresh, pages.items, keyOf)
  }, [data, pages.items])
  return { ...pages, items, error: items.length === 0 ? pages.error : undefined }
}
