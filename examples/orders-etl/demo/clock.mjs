import { setTimeout as wait } from 'node:timers/promises'

/** The machine's own clock, on which a minute can be passed over: nobody should have to wait for a lease to run out. */
export function openSkippingClock() {
  let skippedMs = 0
  return {
    now: () => new Date(Date.now() + skippedMs),
    monotonicMs: () => performance.now() + skippedMs,
    sleep: (durationMs, signal) => wait(durationMs, undefined, { signal }),
    skip(durationMs) {
      skippedMs += durationMs
    },
  }
}
