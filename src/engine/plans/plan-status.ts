/** The statuses of plans and tasks, their moves, and how the rules' statuses are shown. */

import { isWorkflowOpen } from '../protocol/state.ts'
import type { AttemptRow, Execution } from '../protocol/execution.ts'

export const PLAN_STATUSES = [
  'created',
  'running',
  'paused',
  'completed',
  'failed',
  'destroyed',
  'unknown',
] as const
export type PlanStatus = (typeof PLAN_STATUSES)[number]

export type PlanEvent = 'start' | 'pause' | 'resume' | 'stop' | 'complete' | 'fail'

const FINAL = {
  start: 'refuse',
  pause: 'refuse',
  resume: 'refuse',
  stop: 'refuse',
  complete: 'refuse',
  fail: 'refuse',
} as const

/** What a plan in a status does on an event. A task of a paused plan may end; its plan ends after it is resumed. */
export const PLAN_TRANSITIONS = {
  created: { ...FINAL, start: 'running' },
  running: { ...FINAL, pause: 'paused', stop: 'destroyed', complete: 'completed', fail: 'failed' },
  paused: { ...FINAL, resume: 'running', stop: 'destroyed' },
  completed: FINAL,
  failed: FINAL,
  destroyed: FINAL,
  unknown: FINAL,
} as const satisfies Readonly<Record<PlanStatus, Readonly<Record<PlanEvent, PlanStatus | 'refuse'>>>>

export function isPlanMove(from: PlanStatus, to: PlanStatus): boolean {
  return Object.values<PlanStatus | 'refuse'>(PLAN_TRANSITIONS[from]).includes(to)
}

/** Who ended a run before its tasks did: the plan's own `Stop`, or its context from outside. */
export type EndedBy = 'stop' | 'cancellation'

const OF_WORKFLOW = {
  RUNNING: 'running',
  PAUSED: 'paused',
  COMPLETED: 'completed',
  FAILED: 'failed',
  TIMED_OUT: 'failed',
} as const satisfies Readonly<Record<Exclude<Execution['status'], 'TERMINATED'>, PlanStatus>>

const OF_TERMINATED = { stop: 'destroyed', cancellation: 'failed' } as const satisfies Readonly<
  Record<EndedBy, PlanStatus>
>

const OF_TASK = {
  SCHEDULED: 'created',
  IN_PROGRESS: 'running',
  COMPLETED: 'completed',
  COMPLETED_WITH_ERRORS: 'completed',
  SKIPPED: 'completed',
  FAILED: 'failed',
  FAILED_WITH_TERMINAL_ERROR: 'failed',
  TIMED_OUT: 'failed',
  CANCELED: 'destroyed',
} as const satisfies Readonly<Record<AttemptRow['record']['status'], PlanStatus>>

export function planStatusOf(status: Execution['status'], endedBy: EndedBy): PlanStatus {
  return status === 'TERMINATED' ? OF_TERMINATED[endedBy] : OF_WORKFLOW[status]
}

/** `row`: the latest attempt at the task; without one it was never scheduled. */
export function taskStatusOf(row: AttemptRow | undefined, plan: PlanStatus): PlanStatus {
  if (row === undefined) return plan === 'destroyed' ? 'destroyed' : 'created'
  const { status, pollCount } = row.record
  // Between two tries a task is in the queue again, but it has begun.
  return status === 'SCHEDULED' && pollCount > 0 ? 'running' : OF_TASK[status]
}

export function isPlanOver(execution: Execution): boolean {
  return !isWorkflowOpen(execution.status)
}
