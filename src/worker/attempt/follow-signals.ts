/** One signal that is aborted as soon as any of several is. */

/**
 * Not `AbortSignal.any`: on Node 20 it keeps something for as long as the longest-lived of its sources, and a worker's
 * outlive thousands of attempts.
 */
export function followSignals(sources: readonly AbortSignal[]): {
  readonly signal: AbortSignal
  /** Follows no more. */
  release(): void
} {
  const own = new AbortController()
  const listeners = sources.map((source) => {
    const onAbort = (): void => own.abort(source.reason)
    source.addEventListener('abort', onAbort, { once: true })
    return () => source.removeEventListener('abort', onAbort)
  })
  const aborted = sources.find((source) => source.aborted)
  if (aborted !== undefined) own.abort(aborted.reason)
  return {
    signal: own.signal,
    release: () => {
      for (const remove of listeners) remove()
    },
  }
}
