/** A row of an execution, as scheduling sees it: waiting, running, both, or neither. */

import type { GraphAnalysis } from '../graph/analysis.ts'
import type { AttemptRow, Execution } from '../protocol/execution.ts'
import { indexOf, isPolled } from '../protocol/graph-index.ts'
import { isTaskWellEnded, TASK_TRANSITIONS } from '../protocol/state.ts'
import type { AttemptEnd } from './breaker.ts'
import type { Use } from './capacity.ts'
import { describeWaiting, type Waiting } from './waiting.ts'

export interface TrackedRow {
  readonly row: AttemptRow
  readonly waiting: Waiting | undefined
  readonly running: Running | undefined
}

export interface Running extends Use {
  readonly executor: string
  readonly target: string | undefined
}

/** A worker polls with a new id for each claim, which ends in a number of its own. */
export function executorOf(workerId: string): string {
  return workerId.replace(/-\d+$/, '')
}

export function trackRow(
  execution: Execution,
  row: AttemptRow,
  known: { readonly arrival: number; readonly analysis: GraphAnalysis | undefined },
): TrackedRow {
  const { record, queuedFromMs } = row
  // Only workers' tasks are handed out.
  if (!isPolled(indexOf(execution.graph), row)) return { row, waiting: undefined, running: undefined }
  const isWaiting = queuedFromMs !== undefined && TASK_TRANSITIONS[record.status].claim !== 'ignore'
  const isRunning = record.status === 'IN_PROGRESS'
  if (!isWaiting && !isRunning) return { row, waiting: undefined, running: undefined }
  const described = describeWaiting(execution, row, known)
  const { taskType, phase, demand, target } = described
  return {
    row,
    waiting: isWaiting ? described : undefined,
    running: isRunning
      ? { taskType, phase, demand, target, executor: executorOf(record.workerId) }
      : undefined,
  }
}

/** Nothing that scheduling looks at has changed. A host that reads executions from a store has new rows each time. */
export function isSameRow({ row, running }: TrackedRow, other: AttemptRow): boolean {
  if (row === other) return true
  return (
    row.record.status === other.record.status &&
    row.queuedFromMs === other.queuedFromMs &&
    (running === undefined || row.record.workerId === other.record.workerId)
  )
}

/** What the end of an attempt shows about its target. */
export function endOf(row: AttemptRow | undefined): AttemptEnd {
  if (row === undefined) return 'unknown'
  const { status } = row.record
  if (status === 'FAILED' || status === 'TIMED_OUT') return 'failure'
  return isTaskWellEnded(status) && status !== 'SKIPPED' ? 'success' : 'unknown'
}
