/** The clock by which a file system dates its files. It moves in steps, and need not agree with the machine's. */

import { lstatSync, writeFileSync } from 'node:fs'
import type { Clock } from '../../base/clock.ts'
import { WORKSPACE_CLOCK_TICK_MAX_MS } from '../limits.ts'

/** The time the file system gives to a file that is written now. `path` is a file to do that with. */
export function readFileClock(path: string): bigint {
  writeFileSync(path, '.')
  return lstatSync(path, { bigint: true }).ctimeNs
}

/**
 * Waits, for a moment only, until that clock has moved past a time. Then every later edit of a file of that time shows.
 * Gives the time it is then, which is not later where the clock is too coarse for the moment.
 */
export async function passFileClock(path: string, pastNs: bigint, clock: Clock): Promise<bigint> {
  const deadlineMs = clock.monotonicMs() + WORKSPACE_CLOCK_TICK_MAX_MS
  for (;;) {
    const nowNs = readFileClock(path)
    if (nowNs > pastNs || clock.monotonicMs() >= deadlineMs) return nowNs
    await clock.sleep(1)
  }
}
