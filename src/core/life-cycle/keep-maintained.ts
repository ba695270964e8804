/** Archiving and sweeping at intervals, until the signal is aborted. */

import { systemClock, type Clock } from '../../base/clock.ts'
import { ARCHIVE_INTERVAL_MS, SWEEP_INTERVAL_MS } from '../limits.ts'
import { silentLogger, type Logger } from '../../base/logger.ts'
import type { Maintenance } from './maintenance.ts'

export interface KeepMaintainedOptions {
  readonly maintenance: Maintenance
  /** Stops it after the current step; it then resolves. */
  readonly signal: AbortSignal
  readonly archiveIntervalMs?: number
  readonly sweepIntervalMs?: number
  readonly clock?: Clock
  readonly logger?: Logger
}

/** Logs what each pass does. A failed pass is logged and repeated after the interval. */
export async function keepMaintained(options: KeepMaintainedOptions): Promise<void> {
  const {
    maintenance,
    archiveIntervalMs = ARCHIVE_INTERVAL_MS,
    sweepIntervalMs = SWEEP_INTERVAL_MS,
  } = options
  await Promise.all([
    repeat(options, { what: 'archiving', intervalMs: archiveIntervalMs, pass: maintenance.archiveOnce }),
    repeat(options, { what: 'sweeping', intervalMs: sweepIntervalMs, pass: sweepAndRelease(maintenance) }),
  ])
  await maintenance.release().catch(() => undefined)
}

/** Releases the lease after each pass, so that a sweep started by hand can run in between. */
function sweepAndRelease({ sweepOnce, release }: Maintenance): Maintenance['sweepOnce'] {
  return async (signal) => {
    try {
      return await sweepOnce(signal)
    } finally {
      await release('sweep')
    }
  }
}

interface Job {
  readonly what: string
  readonly intervalMs: number
  readonly pass: Maintenance['archiveOnce']
}

async function repeat(
  { signal, clock = systemClock, logger = silentLogger }: KeepMaintainedOptions,
  { what, intervalMs, pass }: Job,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const report = await pass(signal)
      if (report !== undefined && report.done + report.failed > 0)
        logger.info(`a pass of ${what}`, { ...report })
    } catch (error) {
      logger.warn(`a pass of ${what} failed`, { error })
    }
    await clock.sleep(intervalMs, signal).catch(() => undefined)
  }
}
