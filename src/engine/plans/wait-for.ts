/** Waiting for a key, for tasks of one order that depend on each other. Separate orders are simpler and safer. */

import { systemClock, type Clock } from '../../base/clock.ts'
import { UnavailableError } from '../../base/errors.ts'
import { PLAN_WAIT_INTERVAL_MS, PLAN_WAIT_TIMEOUT_MS } from '../limits.ts'

export interface WaitForOptions {
  /** In milliseconds. Default: 1000. */
  readonly timeout?: number
  /** In milliseconds. Default: 20. */
  readonly interval?: number
  /** Which value to wait for. Default: any. */
  readonly until?: (value: unknown) => boolean
  /** Ends the wait: it rejects with the reason of the signal. */
  readonly signal?: AbortSignal
  /** Measures `timeout` and `interval`; the machine's own clock unless given. */
  readonly clock?: Clock
}

/** What can be looked at: a plan or its shared space. */
export interface WaitSource {
  Has(key: string): boolean
  TryGet(key: string): unknown
}

/** Looks at `key` every `interval` milliseconds and returns its value; after `timeout` an `UnavailableError`. */
export async function waitFor(
  source: WaitSource,
  key: string,
  options: WaitForOptions = {},
): Promise<unknown> {
  const { timeout = PLAN_WAIT_TIMEOUT_MS, interval = PLAN_WAIT_INTERVAL_MS, clock = systemClock } = options
  const { until = () => true } = options
  const endMs = clock.monotonicMs() + timeout
  for (;;) {
    if (source.Has(key)) {
      const value = source.TryGet(key)
      if (until(value)) return value
    }
    const leftMs = endMs - clock.monotonicMs()
    if (leftMs <= 0)
      throw new UnavailableError('plan/wait-timeout', `wait for "${key}": not there after ${timeout} ms`, {
        details: { key, timeout },
        next: 'Check the task that sets it, or give it an earlier order.',
      })
    await clock.sleep(Math.min(Math.max(interval, 1), leftMs), options.signal)
  }
}
