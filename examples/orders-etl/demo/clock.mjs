import { setTimeout as wait } from 'node:timers/promises'

/** The machine's clock, which can skip a minute, so that nobody waits for a lease to expire. */
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
