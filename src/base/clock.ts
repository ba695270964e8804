/** Time as a port: code that waits or measures gets a clock, so that tests control the time. */

import { SLEEP_MAX_TIMER_MS } from './limits.ts'

export interface Clock {
  /** Wall time, for showing and storing. It may jump; never measure with it. */
  now(): Date
  /** Milliseconds since some fixed moment; never decreases. For measuring and for deadlines. */
  monotonicMs(): number
  /** Resolves after `durationMs`; rejects with the signal's reason as soon as it is aborted. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep: sleepOnTimers,
}

async function sleepOnTimers(durationMs: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  const end = performance.now() + durationMs
  // A timer beyond 2^31 - 1 ms fires at once, so a long sleep is several shorter ones. The loop also corrects timers that
  // fire slightly early.
  for (let leftMs = durationMs; leftMs > 0; leftMs = end - performance.now()) {
    await sleepOnce(Math.min(leftMs, SLEEP_MAX_TIMER_MS), signal)
  }
}

function sleepOnce(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(abortReason(signal))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, durationMs)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

/** The reason of an aborted signal, as an error. */
export function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason
  return reason instanceof Error ? reason : new DOMException(String(reason), 'AbortError')
}
