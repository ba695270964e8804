/** Says once when an outage begins and when it is over, in the log and to observers. */

import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { WorkerObserver } from '../events.ts'
import type { OutageOf, Outages } from './outage.ts'

export interface ToldOutages {
  /** When the last one ended, or the telling began, on the clock's monotonic scale. */
  readonly freeSinceMs: number
}

export function tellOutages(options: {
  readonly outages: Outages
  readonly clock: Clock
  readonly logger: Logger
  readonly observe: WorkerObserver
  /** Ends it. */
  readonly signal: AbortSignal
}): ToldOutages {
  const { outages, clock, logger, observe, signal } = options
  /** By what is away or faulty: since when. */
  const began = new Map<OutageOf, number>()
  let freeSinceMs = clock.monotonicMs()
  const tell = (): void => {
    const now = outages.outages()
    const nowMs = clock.monotonicMs()
    for (const { what, why, sinceMs } of now) {
      if (began.has(what)) continue
      began.set(what, sinceMs)
      logger.warn(`${why}; tasks that need it are not taken until that is over`, { outage: what })
      observe({ kind: 'outage-began', what, why })
    }
    for (const [what, beganAtMs] of [...began]) {
      if (now.some((outage) => outage.what === what)) continue
      began.delete(what)
      freeSinceMs = nowMs
      const durationMs = nowMs - beganAtMs
      logger.info('an outage is over, and tasks are taken again', { outage: what, durationMs })
      observe({ kind: 'outage-ended', what, durationMs })
    }
  }
  tell()
  const forget = outages.onChange(tell)
  signal.addEventListener('abort', forget, { once: true })
  return {
    get freeSinceMs() {
      return freeSinceMs
    },
  }
}
