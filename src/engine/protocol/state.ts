/**
 * The states of tasks and workflows in Conductor 3.32.3: one table of state × event each, so that a missing cell does not
 * compile. `same`: accepted, the state stays. `ignore`: the response says accepted, but nothing changes. `refuse`: an error.
 */

import type { TaskStatus, WorkflowStatus } from '../../fences/attempt-snapshot.ts'

/** An ended task ignores every update; only `rerun` reopens it. */
const ENDED = {
  claim: 'ignore',
  complete: 'ignore',
  fail: 'ignore',
  failForGood: 'ignore',
  handBack: 'ignore',
  renew: 'ignore',
  timeOut: 'ignore',
  cancel: 'ignore',
  runAgain: 'SCHEDULED',
} as const

export type TaskEvent = keyof typeof ENDED
type TaskRow = Readonly<Record<TaskEvent, TaskStatus | 'same' | 'ignore'>>

export const TASK_TRANSITIONS = {
  SCHEDULED: {
    claim: 'IN_PROGRESS',
    // Also if no worker has polled it.
    complete: 'COMPLETED',
    fail: 'FAILED',
    failForGood: 'FAILED_WITH_TERMINAL_ERROR',
    handBack: 'same',
    renew: 'same',
    timeOut: 'ignore',
    cancel: 'CANCELED',
    runAgain: 'SCHEDULED',
  },
  IN_PROGRESS: {
    // After an operator has put it into the queue again.
    claim: 'same',
    complete: 'COMPLETED',
    fail: 'FAILED',
    failForGood: 'FAILED_WITH_TERMINAL_ERROR',
    handBack: 'SCHEDULED',
    renew: 'same',
    timeOut: 'TIMED_OUT',
    cancel: 'CANCELED',
    runAgain: 'SCHEDULED',
  },
  COMPLETED: ENDED,
  COMPLETED_WITH_ERRORS: ENDED,
  FAILED: ENDED,
  FAILED_WITH_TERMINAL_ERROR: ENDED,
  CANCELED: ENDED,
  TIMED_OUT: ENDED,
  SKIPPED: ENDED,
} as const satisfies Readonly<Record<TaskStatus, TaskRow>>

export type WorkflowEvent = 'pause' | 'resume' | 'terminate' | 'restart' | 'retry' | 'rerun'
type WorkflowRow = Readonly<Record<WorkflowEvent, WorkflowStatus | 'same' | 'refuse'>>

/** Ended without success: it can be restarted, retried or rerun. */
const UNSUCCESSFUL: WorkflowRow = {
  pause: 'refuse',
  resume: 'refuse',
  terminate: 'same',
  restart: 'RUNNING',
  retry: 'RUNNING',
  rerun: 'RUNNING',
}

export const WORKFLOW_TRANSITIONS = {
  RUNNING: {
    pause: 'PAUSED',
    resume: 'refuse',
    terminate: 'TERMINATED',
    restart: 'refuse',
    retry: 'refuse',
    rerun: 'refuse',
  },
  PAUSED: {
    pause: 'same',
    resume: 'RUNNING',
    terminate: 'TERMINATED',
    restart: 'refuse',
    retry: 'refuse',
    rerun: 'refuse',
  },
  COMPLETED: { ...UNSUCCESSFUL, terminate: 'refuse', retry: 'refuse' },
  FAILED: UNSUCCESSFUL,
  TIMED_OUT: UNSUCCESSFUL,
  TERMINATED: UNSUCCESSFUL,
} as const satisfies Readonly<Record<WorkflowStatus, WorkflowRow>>

export function isTaskOpen(status: TaskStatus): boolean {
  return status === 'SCHEDULED' || status === 'IN_PROGRESS'
}

export function isTaskWellEnded(status: TaskStatus): boolean {
  return status === 'COMPLETED' || status === 'COMPLETED_WITH_ERRORS' || status === 'SKIPPED'
}

export function isWorkflowOpen(status: WorkflowStatus): boolean {
  return status === 'RUNNING' || status === 'PAUSED'
}
