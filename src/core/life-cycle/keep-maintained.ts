/** Archiving and sweeping at intervals, until the signal is aborted. */

import { systemClock, type Clock } from '../../base/clock.ts'
import { ARCHIVE_INTERVAL_MS, SWEEP_INTERVAL_MS } from '../limits.ts'
import { silentLogger, type Logger } from '../../base/logger.ts'
import type { Maintenance } from './maintenance.ts'
import type { PassReport } from './run-pass.ts'

export interface KeepMaintainedOptions {
  /** What archives and sweeps, from `openMaintenance`. */
  readonly maintenance: Maintenance
  /** Stops it after the current step; it then resolves. */
  readonly signal: AbortSignal
  /** Pause after each pass that archives, in milliseconds; 5 s unless given. */
  readonly archiveIntervalMs?: number
  /** Pause after each pass that sweeps, in milliseconds; 60 s unless given. */
  readonly sweepIntervalMs?: number
  /** Called after each pass that this instance has made. */
  readonly onPass?: (pass: MaintainedPass) => void
  /** Measures the pauses; the machine's own clock unless given. */
  readonly clock?: Clock
  /** Told of passes that did something, and of failed ones; silent unless given. */
  readonly logger?: Logger
}

export interface MaintainedPass extends PassReport {
  readonly of: 'archive' | 'sweep'
}

/** Logs what each pass does. A failed pass is logged and repeated after the interval. */
export async function keepMaintained(options: KeepMaintainedOptions): Promise<void> {
  const {
    maintenance,
    archiveIntervalMs = ARCHIVE_INTERVAL_MS,
    sweepIntervalMs = SWEEP_INTERVAL_MS,
  } = options
  await Promise.all([
    repeat(options, { of: 'archive', intervalMs: archiveIntervalMs, pass: maintenance.archiveOnce }),
    repeat(options, { of: 'sweep', intervalMs: sweepIntervalMs, pass: sweepAndRelease(maintenance) }),
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
  readonly of: MaintainedPass['of']
  readonly intervalMs: number
  readonly pass: Maintenance['archiveOnce']
}

async function repeat(
  { signal, onPass, clock = systemClock, logger = silentLogger }: KeepMaintainedOptions,
  { of, intervalMs, pass }: Job,
): Promise<void> {
  const what = of === 'archive' ? 'archiving' : 'sweeping'
  while (!signal.aborted) {
    try {
      const report = await pass(signal)
      if (report !== undefined) onPass?.({ of, ...report })
      if (report !== undefined && report.done + report.failed > 0)
        logger.info(`a pass of ${what}`, { ...report })
    } catch (error) {
      logger.warn(`a pass of ${what} failed`, { error })
    }
    await clock.sleep(intervalMs, signal).catch(() => undefined)
  }
}
