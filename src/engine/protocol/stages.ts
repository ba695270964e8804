/**
 * The stages of an execution: one table of moves, so that a missing cell does not compile; and one table each for what a
 * stage is in Conductor's words, and what a task's status is in the executor's.
 *
 * A final stage is left only by starting again (`restart`, `retry`, `rerun`), which is a new run that begins in `PENDING`.
 */

import { RefusedError } from '../../base/errors.ts'
import type { TaskStatus, WorkflowId, WorkflowStatus } from '../../fences/attempt-snapshot.ts'

export const STAGES = [
  'PENDING',
  'SCHEDULING',
  'EXECUTING',
  'VERIFYING',
  'COMMIT',
  'ROLLBACK',
  'FAILED',
  'CANCELLED',
] as const
export type Stage = (typeof STAGES)[number]

/** Where an execution may go from each stage, and why. */
export const STAGE_MOVES = {
  PENDING: { SCHEDULING: 'the graph is checked', CANCELLED: 'an operator ended it' },
  SCHEDULING: {
    EXECUTING: 'there is room for it',
    FAILED: 'the graph is wrong, or it waited too long',
    CANCELLED: 'an operator ended it',
  },
  EXECUTING: {
    VERIFYING: 'all units have ended',
    ROLLBACK: 'a unit failed for good, and something can be undone',
    FAILED: 'a unit failed for good, and nothing is undone',
    CANCELLED: 'an operator or a unit ended it',
  },
  VERIFYING: {
    COMMIT: 'the results are right',
    ROLLBACK: 'the results are wrong',
    CANCELLED: 'an operator ended it',
  },
  ROLLBACK: {
    PENDING: 'it may run again from the beginning',
    FAILED: 'it may not run again',
    CANCELLED: 'an operator ended it',
  },
  COMMIT: {},
  FAILED: {},
  CANCELLED: {},
} as const satisfies Readonly<Record<Stage, Readonly<Partial<Record<Stage, string>>>>>

/** The statuses of Conductor that an execution may have in a stage. */
export const STATUSES_OF_STAGE: Readonly<Record<Stage, readonly WorkflowStatus[]>> = {
  PENDING: ['RUNNING', 'PAUSED'],
  SCHEDULING: ['RUNNING', 'PAUSED'],
  EXECUTING: ['RUNNING', 'PAUSED'],
  VERIFYING: ['RUNNING', 'PAUSED'],
  // What is undone is undone by tasks, and workers do tasks of running workflows only.
  ROLLBACK: ['RUNNING', 'PAUSED'],
  COMMIT: ['COMPLETED'],
  FAILED: ['FAILED', 'TIMED_OUT'],
  CANCELLED: ['TERMINATED'],
}

export type UnitState = 'PENDING' | 'EXECUTING' | 'COMPLETED' | 'FAILED' | 'ROLLED_BACK' | 'SKIPPED'

/** Of a unit's latest attempt. A unit without any is `PENDING`; one that was undone is `ROLLED_BACK`. */
export const UNIT_STATE_OF_STATUS: Readonly<Record<TaskStatus, UnitState>> = {
  SCHEDULED: 'PENDING',
  IN_PROGRESS: 'EXECUTING',
  COMPLETED: 'COMPLETED',
  COMPLETED_WITH_ERRORS: 'COMPLETED',
  FAILED: 'FAILED',
  FAILED_WITH_TERMINAL_ERROR: 'FAILED',
  TIMED_OUT: 'FAILED',
  CANCELED: 'FAILED',
  SKIPPED: 'SKIPPED',
}

export interface StageMove {
  readonly stage: Stage
  readonly atMs: number
}

/** The only way from stage to stage within a run. Throws `engine/illegal-move` for what the table does not list. */
export function moveStage<T extends { readonly stage: Stage; readonly moves: readonly StageMove[] }>(
  execution: T & { readonly workflowId: WorkflowId },
  to: Stage,
  nowMs: number,
): T {
  const { stage, moves, workflowId } = execution
  if (mayMove(stage, to)) return { ...execution, stage: to, moves: [...moves, { stage: to, atMs: nowMs }] }
  throw new RefusedError(
    'engine/illegal-move',
    `move the execution ${workflowId} from ${stage} to ${to}: there is no such transition`,
    {
      details: { workflowId, from: stage, to },
      next:
        Object.keys(STAGE_MOVES[stage]).length === 0
          ? 'It has ended. Restart, retry or rerun it.'
          : `From ${stage} it may go to ${Object.keys(STAGE_MOVES[stage]).join(', ')}.`,
    },
  )
}

function mayMove(from: Stage, to: Stage): boolean {
  return Object.hasOwn(STAGE_MOVES[from], to)
}
