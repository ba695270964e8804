/** How a plan's run ends when it does not complete. */

import { messageOf, RefusedError } from '../../base/errors.ts'

export interface TaskFailure {
  readonly taskId: string
  readonly order: number
  /** What the task threw, or the error it returned. */
  readonly error: unknown
}

/** The run of a plan failed: `cause` is the very value that the first failing task threw. */
export class PlanFailedError extends RefusedError {
  readonly taskId: string
  /** In the order in which they happened; the first one is the cause. */
  readonly failures: readonly TaskFailure[]

  constructor(planId: string, first: TaskFailure, failures: readonly TaskFailure[]) {
    const others = failures.length === 1 ? '' : `, and ${failures.length - 1} more failed`
    super(
      'plan/task-failed',
      `run the plan "${planId}": the task "${first.taskId}" failed: ${messageOf(first.error)}${others}`,
      {
        cause: first.error,
        details: { planId, taskId: first.taskId, failed: failures.map(({ taskId }) => taskId) },
        next: 'Read the cause and the other failures of this error; correct the task, and run a new plan.',
      },
    )
    this.taskId = first.taskId
    this.failures = failures
  }
}

export function planStopped(planId: string): RefusedError {
  return new RefusedError('plan/stopped', `run the plan "${planId}": it was stopped`, { details: { planId } })
}

/** `reason`: that of the plan's context. */
export function planCancelled(
  planId: string,
  reason: unknown,
  failures: readonly TaskFailure[],
): RefusedError {
  return new RefusedError(
    'plan/cancelled',
    `run the plan "${planId}": its context was cancelled: ${messageOf(reason)}`,
    { cause: reason, details: { planId, failed: failures.map(({ taskId }) => taskId) } },
  )
}

/** The reason that the other tasks of an order see in their signals. */
export function siblingFailed(planId: string, failure: TaskFailure): RefusedError {
  return new RefusedError(
    'plan/sibling-failed',
    `continue a task of the plan "${planId}": the task "${failure.taskId}" of the same order failed`,
    { cause: failure.error, next: 'End soon: what this task does is no longer needed.' },
  )
}
