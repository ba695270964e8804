/** Runs an action for many items, a few in parallel. */

import { setMaxListeners } from 'node:events'
import { followSignals } from './abort-signals.ts'

export interface BoundedOptions {
  /** How many run in parallel. */
  readonly limit: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs `action` for each item. The first failure, or an abort, aborts the signal of the others, starts no more, waits until
 * the running ones have settled, and is thrown: when this returns, nothing runs any more.
 */
export async function forEachBounded<T>(
  items: Iterable<T>,
  options: BoundedOptions,
  action: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  options.signal?.throwIfAborted()
  const stop = followSignals(options.signal)
  // Every running action may listen to it; that is no leak.
  setMaxListeners(0, stop.signal)
  const iterator = items[Symbol.iterator]()
  const work = async (): Promise<void> => {
    try {
      while (!stop.signal.aborted) {
        const next = iterator.next()
        if (next.done === true) return
        await action(next.value, stop.signal)
      }
    } catch (error) {
      stop.abort(error)
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.max(1, options.limit) }, work))
  } finally {
    stop.release()
  }
  if (stop.signal.aborted) throw stop.signal.reason
}
