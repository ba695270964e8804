/** Data of a view: loaded when it is shown, loaded again while it is looked at, and kept when the server is away. */

import { useEffect, useRef, useState } from 'preact/hooks'

export interface Loaded<T> {
  /** What was loaded last, also while it is loaded again or cannot be. */
  readonly data: T | undefined
  readonly error: unknown
  /** When `data` was loaded. */
  readonly at: number | undefined
  readonly reload: () => void
}

/**
 * ```tsx
 * const { data, error } = useLoaded((signal) => get('/repositories', { signal }), [], { everyMs: 5_000 })
 * ```
 *
 * Whenever one of `of` changes, what was loaded is dropped and loaded anew. A tab that is hidden loads nothing.
 */
export function useLoaded<T>(
  load: (signal: AbortSignal) => Promise<T>,
  of: readonly unknown[],
  { everyMs }: { readonly everyMs?: number | undefined } = {},
): Loaded<T> {
  const key = JSON.stringify(of)
  const [state, setState] = useState<{ key: string; data?: T; error?: unknown; at?: number }>({ key })
  const [turn, setTurn] = useState(0)
  const loader = useRef(load)
  loader.current = load
  useEffect(() => {
    const over = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const plan = (): void => {
      if (everyMs !== undefined && !over.signal.aborted) timer = setTimeout(() => void look(), everyMs)
    }
    const look = async (): Promise<void> => {
      if (document.hidden && everyMs !== undefined) {
        plan()
        return
      }
      try {
        const data = await loader.current(over.signal)
        if (!over.signal.aborted) setState({ key, data, at: Date.now() })
      } catch (error) {
        if (!over.signal.aborted)
          setState((before) => ({ ...(before.key === key ? before : { key }), error }))
      }
      plan()
    }
    void look()
    return () => {
      over.abort()
      clearTimeout(timer)
    }
  }, [key, turn, everyMs])
  const { data, error, at } = state.key === key ? state : { data: undefined, error: undefined, at: undefined }
  return { data, error, at, reload: () => setTurn((before) => before + 1) }
}

export interface Pages<T> {
  readonly items: readonly T[]
  readonly error: unknown
  /** Whether there is more than was loaded. */
  readonly hasMore: boolean
  readonly isLoading: boolean
  readonly more: () => void
}

/** A list that is loaded page by page, as far as it is looked at. */
export function usePages<T>(
  load: (
    after: string | undefined,
    signal: AbortSignal,
  ) => Promise<{ items: readonly T[]; next?: string | undefined }>,
  of: readonly unknown[],
): Pages<T> {
  const key = JSON.stringify(of)
  const empty = { key, items: [] as readonly T[], next: undefined as string | undefined, isLoading: true }
  const [state, setState] = useState<typeof empty & { error?: unknown }>(empty)
  const loader = useRef(load)
  loader.current = load
  const over = useRef(new AbortController())
  const take = async (items: readonly T[], after: string | undefined): Promise<void> => {
    const { signal } = over.current
    try {
      const page = await loader.current(after, signal)
      if (signal.aborted) return
      setState({ key, items: [...items, ...page.items], next: page.next, isLoading: false })
    } catch (error) {
      if (!signal.aborted) setState({ key, items, next: after, isLoading: false, error })
    }
  }
  useEffect(() => {
    over.current = new AbortController()
    setState(empty)
    void take([], undefined)
    return () => over.current.abort()
  }, [key])
  const shown = state.key === key ? state : empty
  const { items, next, isLoading, error } = shown as typeof state
  return {
    ...{ items, error, isLoading, hasMore: next !== undefined },
    more: () => {
      // After a failure the same page is asked for again, also the first one.
      if (isLoading || (next === undefined && error === undefined)) return
      setState({ ...shown, isLoading: true })
      void take(items, next)
    },
  }
}
