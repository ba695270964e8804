/**
 * The attempt fence: may this attempt still act? It compares what the worker was handed with what the task queue says
 * now, and knows nothing of repositories. The caller reads; what could not be read stops the attempt.
 */

import { RefusedError, UnavailableError } from '../base/errors.ts'
import type { AttemptSnapshot, FreshAttempt, WorkflowStatus } from './attempt-snapshot.ts'

export interface AttemptPolicy {
  /** Whether work may go on while the workflow is paused. */
  readonly whilePaused: 'stop' | 'go-on'
}

export const DEFAULT_ATTEMPT_POLICY: AttemptPolicy = { whilePaused: 'stop' }

/** Together they tell one claim of a task from every other. Differences are named in this order. */
const IDENTITY_FIELDS = [
  'taskId',
  'workflowId',
  'retryCount',
  'pollCount',
  'startTimeMs',
  'workerId',
] as const satisfies readonly (keyof AttemptSnapshot)[]

/** `task` and `workflow`: the whole record is gone, or in a state in which the attempt may not act. */
export type AttemptField = 'task' | 'status' | (typeof IDENTITY_FIELDS)[number] | 'workflow'

export interface AttemptDifference {
  readonly field: AttemptField
  readonly expected: string | number
  /** `undefined`: the record no longer exists. */
  readonly actual: string | number | undefined
}

export type AttemptVerdict =
  | { readonly current: true }
  | { readonly current: false; readonly differences: readonly [AttemptDifference, ...AttemptDifference[]] }

/** Whether the attempt that was polled is still the one the task queue waits for. Names every difference. */
export function judgeAttempt(
  polled: AttemptSnapshot,
  fresh: FreshAttempt,
  policy: AttemptPolicy = DEFAULT_ATTEMPT_POLICY,
): AttemptVerdict {
  const [first, ...others] = [...findTaskDifferences(polled, fresh.task), ...judgeWorkflow(fresh, policy)]
  return first === undefined ? { current: true } : { current: false, differences: [first, ...others] }
}

/**
 * Passes a current attempt and throws `StaleAttemptError` for any other.
 *
 * ```ts
 * assertCurrentAttemptSnapshot(polled, { task: await queue.readTask(polled.taskId), workflow: 'RUNNING' })
 * ```
 */
export function assertCurrentAttemptSnapshot(
  polled: AttemptSnapshot,
  fresh: FreshAttempt,
  policy: AttemptPolicy = DEFAULT_ATTEMPT_POLICY,
): void {
  const verdict = judgeAttempt(polled, fresh, policy)
  if (!verdict.current) throw new StaleAttemptError(polled, verdict.differences)
}

/** The attempt may no longer act: the task was given to another worker, or ended. */
export class StaleAttemptError extends RefusedError {
  /** The first field that differs; `differences` has them all. */
  readonly field: AttemptField
  readonly expected: string | number
  readonly actual: string | number | undefined
  readonly differences: readonly AttemptDifference[]

  constructor(polled: AttemptSnapshot, differences: readonly [AttemptDifference, ...AttemptDifference[]]) {
    const [{ field, expected, actual }] = differences
    super(
      'fences/stale-attempt',
      `check the attempt of task ${polled.taskId}: ${field} is ${actual ?? 'gone'}, not ${expected}`,
      {
        details: {
          taskId: polled.taskId,
          workflowId: polled.workflowId,
          retryCount: polled.retryCount,
          workerId: polled.workerId,
          differences,
        },
        next: 'Nothing needs doing: the attempt that now holds the task goes on, and this one has stopped.',
      },
    )
    this.field = field
    this.expected = expected
    this.actual = actual
    this.differences = differences
  }
}

/** The attempt could not be read. Without that confirmation it may not act. */
export class UnknownAttemptError extends UnavailableError {
  constructor(polled: AttemptSnapshot, cause: unknown) {
    super('fences/unknown-attempt', `check the attempt of task ${polled.taskId}: it could not be read`, {
      details: { taskId: polled.taskId, workflowId: polled.workflowId, retryCount: polled.retryCount },
      next: 'See that the task queue answers; the task is tried again under its own retry settings.',
      cause,
    })
  }
}

function findTaskDifferences(polled: AttemptSnapshot, fresh: FreshAttempt['task']): AttemptDifference[] {
  // The workflow was restarted, removed or re-run from an earlier task: there is nothing left to compare.
  if (fresh === undefined) return [{ field: 'task', expected: polled.taskId, actual: undefined }]
  const differences: AttemptDifference[] = []
  if (fresh.status !== 'IN_PROGRESS')
    differences.push({ field: 'status', expected: 'IN_PROGRESS', actual: fresh.status })
  for (const field of IDENTITY_FIELDS) {
    // Strict equality also fails for NaN, so a field that could not be read as a number never passes.
    if (fresh[field] !== polled[field])
      differences.push({ field, expected: polled[field], actual: fresh[field] })
  }
  return differences
}

// A task can stay IN_PROGRESS in a workflow that was terminated in the same instant, so the task alone proves nothing.
function judgeWorkflow({ workflow }: FreshAttempt, { whilePaused }: AttemptPolicy): AttemptDifference[] {
  const allowed: readonly WorkflowStatus[] = whilePaused === 'go-on' ? ['RUNNING', 'PAUSED'] : ['RUNNING']
  if (workflow !== undefined && allowed.includes(workflow)) return []
  return [{ field: 'workflow', expected: allowed.join(' or '), actual: workflow }]
}
