/** The clock of a file system. It advances in steps and may differ from the machine's. */

import { lstatSync, writeFileSync } from 'node:fs'
import type { Clock } from '../../base/clock.ts'
import { WORKSPACE_CLOCK_TICK_MAX_MS } from '../limits.ts'

/** The time that the file system gives to the file `path`, which is written for that purpose. */
export function readFileClock(path: string): bigint {
  writeFileSync(path, '.')
  return lstatSync(path, { bigint: true }).ctimeNs
}

/**
 * Waits a moment for that clock to advance past a time, so that every later edit changes the times of a file. Returns the
 * time after the wait, which is not later if the clock is too coarse.
 */
export async function passFileClock(path: string, pastNs: bigint, clock: Clock): Promise<bigint> {
  const deadlineMs = clock.monotonicMs() + WORKSPACE_CLOCK_TICK_MAX_MS
  for (;;) {
    const nowNs = readFileClock(path)
    if (nowNs > pastNs || clock.monotonicMs() >= deadlineMs) return nowNs
    await clock.sleep(1)
  }
}
