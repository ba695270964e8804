/** What recorded runs say about the units of a graph: how often they fail, and how long they take. Plain JSON, for a host to keep. */

import { HISTORY_RUNS } from '../limits.ts'

/** By reference name; `{}` at first. One per definition, whatever its version. */
export type GraphHistory = Readonly<Record<string, UnitHistory>>

export interface UnitHistory {
  readonly runs: number
  readonly failures: number
  /** Of the runs that succeeded; 0 while there are none. */
  readonly meanMs: number
  readonly successes: number
}

export interface RecordedRun {
  readonly unit: string
  readonly succeeded: boolean
  readonly durationMs: number
}

/**
 * The history with these runs added. Old runs count less and less: of more than `HISTORY_RUNS`, the latest ones decide.
 *
 * ```ts
 * history = recordRuns(history, [{ unit: 'load', succeeded: true, durationMs: 4200 }])
 * ```
 */
export function recordRuns(history: GraphHistory, runs: readonly RecordedRun[]): GraphHistory {
  const changed = new Map<string, UnitHistory>()
  for (const run of runs)
    changed.set(run.unit, addRun(changed.get(run.unit) ?? historyOf(history, run.unit), run))
  return { ...history, ...Object.fromEntries(changed) }
}

/** The share of its runs that failed; 0 before the first one. */
export function failureRateOf(history: GraphHistory, unit: string): number {
  const { runs, failures } = historyOf(history, unit)
  return runs === 0 ? 0 : Math.min(1, failures / runs)
}

/** The mean of its successful runs; `undefined` before the first one. */
export function meanDurationOf(history: GraphHistory, unit: string): number | undefined {
  const { successes, meanMs } = historyOf(history, unit)
  return successes === 0 ? undefined : meanMs
}

const NO_RUNS: UnitHistory = { runs: 0, failures: 0, meanMs: 0, successes: 0 }

function historyOf(history: GraphHistory, unit: string): UnitHistory {
  // A unit may have the name of something that every object has.
  return Object.hasOwn(history, unit) ? (history[unit] ?? NO_RUNS) : NO_RUNS
}

function addRun(before: UnitHistory, { succeeded, durationMs }: RecordedRun): UnitHistory {
  const isFull = before.runs >= HISTORY_RUNS
  const kept = isFull ? 1 - 1 / HISTORY_RUNS : 1
  const counted = {
    runs: isFull ? HISTORY_RUNS : before.runs + 1,
    failures: before.failures * kept + (succeeded ? 0 : 1),
  }
  if (!succeeded) return { ...before, ...counted }
  const successes = Math.min(HISTORY_RUNS, before.successes + 1)
  return { ...counted, successes, meanMs: before.meanMs + (durationMs - before.meanMs) / successes }
}
