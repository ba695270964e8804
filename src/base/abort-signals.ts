/** Waiting for abort signals and following them, without a listener that stays behind. */

import { setMaxListeners } from 'node:events'
import { abortReason } from './clock.ts'

/** Resolves when the signal is aborted; at once when it is already, and never without one. */
export function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve()
    else signal?.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** `signal.aborted`, as a call: control-flow analysis does not know that a signal changes during an await. */
export function isAborted(signal: AbortSignal): boolean {
  return signal.aborted
}

/** What `work` gives, unless the signal is aborted first: then rejects with its reason. The work itself goes on. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  let onAbort = (): void => undefined
  const cut = new Promise<never>((_, reject) => {
    onAbort = () => reject(abortReason(signal))
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([work, cut])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

export interface FollowingSignal {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
  /** Follows no more. */
  release(): void
}

/**
 * A signal that is aborted as soon as any of the sources is, or by its own `abort`. Not `AbortSignal.any`: on Node 20 it
 * keeps something for as long as the longest-lived of its sources, and a worker's outlive thousands of attempts.
 */
export function followSignals(...sources: readonly (AbortSignal | undefined)[]): FollowingSignal {
  const own = new AbortController()
  // Any number of requests may run under each.
  setMaxListeners(0, own.signal, ...sources.filter((source) => source !== undefined))
  const listeners = sources.map((source) => {
    const onAbort = (): void => own.abort(abortReason(source))
    if (source?.aborted === true) onAbort()
    else source?.addEventListener('abort', onAbort, { once: true })
    return () => source?.removeEventListener('abort', onAbort)
  })
  return {
    signal: own.signal,
    abort: (reason) => own.abort(reason),
    release: () => {
      for (const remove of listeners) remove()
    },
  }
}
