/** One reading for all who ask at about the same time, never one that began before they asked. */

import type { Clock } from '../../base/clock.ts'

/**
 * Readings begin at least `intervalMs` apart, and one at a time: who asks during one gets the next.
 * Rejects when the signal is aborted.
 */
export function shareReadings<T>(
  read: () => Promise<T>,
  options: { readonly clock: Clock; readonly intervalMs: number; readonly signal: AbortSignal },
): () => Promise<T> {
  const { clock, intervalMs, signal } = options
  let next: Promise<T> | undefined
  let current: Promise<unknown> = Promise.resolve()
  let beganAtMs = -Infinity

  const begin = async (): Promise<T> => {
    await current.catch(() => undefined)
    const waitMs = beganAtMs + intervalMs - clock.monotonicMs()
    if (waitMs > 0) await clock.sleep(waitMs, signal)
    signal.throwIfAborted()
    // Who asks from here on needs a later one.
    next = undefined
    beganAtMs = clock.monotonicMs()
    const reading = read()
    current = reading
    return reading
  }
  return () => {
    if (next !== undefined) return next
    const reading = begin().catch((error: unknown) => {
      if (next === reading) next = undefined
      throw error
    })
    next = reading
    return reading
  }
}
