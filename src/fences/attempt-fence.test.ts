import { describe, expect, test } from 'vitest'
import { attemptOf, freshOf } from '../../test/support/publication-world.ts'
import * as perago from '../perago.ts'
import {
  assertCurrentAttemptSnapshot,
  judgeAttempt,
  StaleAttemptError,
  type AttemptField,
} from './attempt-fence.ts'
import {
  TASK_STATUSES,
  WORKFLOW_STATUSES,
  type AttemptSnapshot,
  type FreshAttempt,
  type TaskId,
  type WorkflowId,
} from './attempt-snapshot.ts'

const polled = attemptOf()
const fresh = freshOf(polled)

function caught(given: FreshAttempt): StaleAttemptError {
  try {
    assertCurrentAttemptSnapshot(polled, given)
  } catch (error) {
    if (error instanceof StaleAttemptError) return error
  }
  throw new Error('the attempt passed')
}

function freshWith(changed: Partial<AttemptSnapshot>): FreshAttempt {
  return { ...fresh, task: { ...fresh.task!, ...changed } }
}

const OTHERS: readonly (readonly [AttemptField & keyof AttemptSnapshot, Partial<AttemptSnapshot>])[] = [
  ['taskId', { taskId: 'task-2' as TaskId }],
  ['workflowId', { workflowId: 'workflow-2' as WorkflowId }],
  ['retryCount', { retryCount: 1 }],
  ['pollCount', { pollCount: 2 }],
  ['startTimeMs', { startTimeMs: polled.startTimeMs + 1 }],
  ['workerId', { workerId: 'worker-1-claim-2' }],
]

describe('the attempt fence', () => {
  test('F-16 the package exports assertCurrentAttemptSnapshot, which passes a current attempt and throws for a stale one', () => {
    expect(perago.assertCurrentAttemptSnapshot).toBe(assertCurrentAttemptSnapshot)
    expect(() => perago.assertCurrentAttemptSnapshot(polled, fresh)).not.toThrow()
    expect(() => perago.assertCurrentAttemptSnapshot(polled, freshWith({ retryCount: 1 }))).toThrow(
      perago.StaleAttemptError,
    )
  })

  test.each(TASK_STATUSES)('F-18 of all task statuses only IN_PROGRESS passes: %s', (status) => {
    const verdict = judgeAttempt(polled, { ...fresh, task: { ...fresh.task!, status } })
    expect(verdict.current).toBe(status === 'IN_PROGRESS')
  })

  test('F-19 an attempt whose every field is as polled passes', () => {
    expect(judgeAttempt(polled, fresh)).toEqual({ current: true })
  })

  test.each(OTHERS)('F-19 another %s alone makes the attempt stale', (field, changed) => {
    expect(judgeAttempt(polled, freshWith(changed))).toEqual({
      current: false,
      differences: [{ field, expected: polled[field], actual: changed[field] }],
    })
  })

  test.each(OTHERS)('F-24 the error names %s, what was expected and what is', (field, changed) => {
    const error = caught(freshWith(changed))
    expect(error).toMatchObject({
      kind: 'refused',
      code: 'fences/stale-attempt',
      field,
      expected: polled[field],
      actual: changed[field],
    })
    expect(error.message).toBe(
      `check the attempt of task ${polled.taskId}: ${field} is ${String(changed[field])}, not ${String(polled[field])}`,
    )
  })

  test('F-24 with several differences the first is named and all are kept', () => {
    const error = caught({
      task: { ...polled, status: 'TIMED_OUT', retryCount: 3, workerId: 'x' },
      workflow: 'FAILED',
    })
    expect(error.field).toBe('status')
    expect(error.differences.map(({ field }) => field)).toEqual([
      'status',
      'retryCount',
      'workerId',
      'workflow',
    ])
    expect(error.details.differences).toBe(error.differences)
  })

  test('PU-30 a task that is gone is stale, and so is one whose workflow is gone', () => {
    expect(caught({ task: undefined, workflow: 'RUNNING' })).toMatchObject({
      field: 'task',
      actual: undefined,
    })
    expect(caught({ ...fresh, workflow: undefined })).toMatchObject({ field: 'workflow', actual: undefined })
  })

  test.each(WORKFLOW_STATUSES)(
    'PU-31 a task in progress in a workflow that is %s passes only while it runs',
    (workflow) => {
      expect(judgeAttempt(polled, { ...fresh, workflow }).current).toBe(workflow === 'RUNNING')
      // Work may go on during a pause where the policy says so, and never in a workflow that has ended.
      expect(judgeAttempt(polled, { ...fresh, workflow }, { whilePaused: 'go-on' }).current).toBe(
        workflow === 'RUNNING' || workflow === 'PAUSED',
      )
    },
  )

  test('PU-32 a number that could not be read never passes', () => {
    const unreadable = attemptOf({ pollCount: NaN })
    expect(judgeAttempt(unreadable, freshOf(unreadable)).current).toBe(false)
  })
})
