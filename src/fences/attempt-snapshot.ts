/** What a worker remembers of the attempt it was given, and what the task queue says of it now. */

import type { Branded } from '../base/ids.ts'

export type TaskId = Branded<'TaskId'>
export type WorkflowId = Branded<'WorkflowId'>

export const TASK_STATUSES = [
  'SCHEDULED',
  'IN_PROGRESS',
  'COMPLETED',
  'COMPLETED_WITH_ERRORS',
  'FAILED',
  'FAILED_WITH_TERMINAL_ERROR',
  'CANCELED',
  'TIMED_OUT',
  'SKIPPED',
] as const
export type TaskStatus = (typeof TASK_STATUSES)[number]

export const WORKFLOW_STATUSES = [
  'RUNNING',
  'PAUSED',
  'COMPLETED',
  'FAILED',
  'TIMED_OUT',
  'TERMINATED',
] as const
export type WorkflowStatus = (typeof WORKFLOW_STATUSES)[number]

/**
 * Identifies one claim of one task. `rerun` re-opens the same task id with retry count 0, so the id and the retry
 * count alone do not tell two claims apart: worker id, poll count and start time do.
 */
export interface AttemptSnapshot {
  readonly taskId: TaskId
  readonly workflowId: WorkflowId
  readonly retryCount: number
  readonly pollCount: number
  /** Server time in milliseconds of the first claim of this task id. */
  readonly startTimeMs: number
  /** Unique for each claim. */
  readonly workerId: string
}

/** Only the snapshot of a record that has more fields. */
export function snapshotOf(attempt: AttemptSnapshot): AttemptSnapshot {
  const { taskId, workflowId, retryCount, pollCount, startTimeMs, workerId } = attempt
  return { taskId, workflowId, retryCount, pollCount, startTimeMs, workerId }
}

/** A fresh reading: the task's snapshot with its status, and the status of its workflow. */
export interface FreshAttempt {
  readonly task: (AttemptSnapshot & { readonly status: TaskStatus }) | undefined
  readonly workflow: WorkflowStatus | undefined
}
