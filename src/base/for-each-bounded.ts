/** Many things to do, a few at a time. */

import { setMaxListeners } from 'node:events'
import { followSignals } from './abort-signals.ts'

export interface BoundedOptions {
  /** How many are under way at once. */
  readonly limit: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs `action` for each item. The first failure, or an abort, aborts the signal the others were given, begins none
 * any more, waits until those under way have settled, and is thrown: when this returns, nothing goes on behind it.
 */
export async function forEachBounded<T>(
  items: Iterable<T>,
  options: BoundedOptions,
  action: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  options.signal?.throwIfAborted()
  const stop = followSignals(options.signal)
  // Every action under way may wait on it; that is no leak.
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
