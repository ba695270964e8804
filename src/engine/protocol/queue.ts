/** Rules about many workflows at once: who is handed out next, and what is due next. Pure. */

import type { PollRequest } from '../../worker/ports.ts'
import { nextDeadlineMs } from './deadlines.ts'
import type { AttemptRow, Execution } from './execution.ts'
import { settingsOfRow } from './task-settings.ts'
import { isClaimable } from './updates.ts'

export interface Placed {
  readonly execution: Execution
  readonly row: AttemptRow
}

/** The attempts that a poll may claim now: higher priority first, then the ones that were due earlier. */
export function findClaimable(
  executions: Iterable<Execution>,
  { taskType, domain }: Pick<PollRequest, 'taskType' | 'domain'>,
  nowMs: number,
): readonly Placed[] {
  const placed = [...executions].flatMap((execution) =>
    execution.rows.filter(({ record }) => record.taskType === taskType).map((row) => ({ execution, row })),
  )
  const inProgress = placed.filter(({ row }) => row.record.status === 'IN_PROGRESS').length
  const hasSlot = (execution: Execution, row: AttemptRow): boolean => {
    const { concurrentExecLimit: limit } = settingsOfRow(execution, row)
    return limit === 0 || inProgress < limit
  }
  return placed
    .filter(
      ({ execution, row }) =>
        row.record.domain === domain && isClaimable(row, nowMs) && hasSlot(execution, row),
    )
    .sort(
      (a, b) =>
        b.execution.priority - a.execution.priority || (a.row.queuedFromMs ?? 0) - (b.row.queuedFromMs ?? 0),
    )
}

/** The workflow whose deadline the sweeper finds next, and when; it finds a deadline `lagMs` after it passed. */
export function nextSweep(
  executions: Iterable<Execution>,
  lagMs = 0,
): { readonly atMs: number; readonly execution: Execution } | undefined {
  let next: { readonly atMs: number; readonly execution: Execution } | undefined
  for (const execution of executions) {
    const deadlineMs = nextDeadlineMs(execution)
    if (deadlineMs === undefined) continue
    if (next === undefined || deadlineMs + lagMs < next.atMs) next = { atMs: deadlineMs + lagMs, execution }
  }
  return next
}

/** When a delayed task becomes due or the sweeper finds a deadline; infinite if neither will happen. */
export function nextEventMs(executions: Iterable<Execution>, nowMs: number, lagMs?: number): number {
  const all = [...executions]
  const queued = all.flatMap(({ rows }) =>
    rows.flatMap(({ queuedFromMs = 0 }) => (queuedFromMs > nowMs ? [queuedFromMs] : [])),
  )
  return Math.min(...queued, nextSweep(all, lagMs)?.atMs ?? Infinity)
}

/** The first domain with a poller, or the last one if none has; `NO_DOMAIN` stands for none. */
export function chooseDomain(
  domains: readonly string[],
  hasPoller: (domain: string) => boolean,
): string | undefined {
  const chosen = domains.find((domain) => domain === 'NO_DOMAIN' || hasPoller(domain)) ?? domains.at(-1)
  return chosen === 'NO_DOMAIN' ? undefined : chosen
}
