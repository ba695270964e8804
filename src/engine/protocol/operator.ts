/** What an operator may do to a workflow, and when Conductor refuses it. Pure; a refusal is a value. */

import type { TaskId } from '../../fences/attempt-snapshot.ts'
import type { JsonObject } from '../../base/json.ts'
import { cancelOpenTasks, decide } from './decide.ts'
import {
  blankRecord,
  changeRow,
  findRow,
  latestRow,
  scheduleRetry,
  type AttemptRow,
  type Execution,
  type Moment,
} from './execution.ts'
import { isTaskOpen, isTaskWellEnded, WORKFLOW_TRANSITIONS, type WorkflowEvent } from './state.ts'

export type Operated =
  { readonly is: 'done'; readonly execution: Execution } | { readonly is: 'refused'; readonly why: string }

export function pauseExecution(execution: Execution): Operated {
  return move(execution, 'pause', (moved) => moved)
}

/** Decides at once: deadlines that passed while it was paused take effect now. */
export function resumeExecution(execution: Execution, moment: Moment): Operated {
  return move(execution, 'resume', (moved) => decide(moved, moment))
}

export interface Termination {
  readonly reason?: string | undefined
  /** Scheduled tasks stay, as after a completion that races with the termination. */
  readonly leavesScheduled?: boolean
}

export function terminateExecution(execution: Execution, termination: Termination, moment: Moment): Operated {
  return move(execution, 'terminate', (moved) => {
    if (execution.status === moved.status) return execution
    const left = moved.rows.filter(
      (row) => termination.leavesScheduled === true && row.record.status === 'SCHEDULED',
    )
    const canceled = cancelOpenTasks(moved, moment)
    const reasonForIncompletion = termination.reason
    return {
      ...canceled,
      reasonForIncompletion,
      rows: canceled.rows.map((row) => left.find((one) => one.record.taskId === row.record.taskId) ?? row),
    }
  })
}

/** Starts again with the same workflow id; all earlier tasks are removed. */
export function restartExecution(
  execution: Execution,
  moment: Moment,
  input: JsonObject = execution.input,
): Operated {
  if (!execution.def.restartable && execution.status === 'COMPLETED')
    return { is: 'refused', why: 'it is completed and not restartable' }
  return move(execution, 'restart', (moved) => startAgain(moved, moment, input))
}

/** A new attempt at every failed task, whatever the definition says about retries. */
export function retryExecution(execution: Execution, moment: Moment): Operated {
  return move(execution, 'retry', (moved) => {
    const failed = moved.rows.filter(
      (row) =>
        !isTaskOpen(row.record.status) &&
        !isTaskWellEnded(row.record.status) &&
        latestRow(moved, row.record.referenceTaskName) === row,
    )
    const reopened = { ...moved, reasonForIncompletion: undefined, startTimeMs: moment.nowMs }
    const retried = failed.reduce<Execution>(
      (current, row) => scheduleRetry(current, row, { moment, delaySeconds: 0, copiesReason: false }),
      reopened,
    )
    return decide(retried, moment)
  })
}

export interface Rerun {
  /** Default: from the beginning. */
  readonly fromTaskId?: TaskId | undefined
  readonly taskInput?: JsonObject | undefined
  readonly workflowInput?: JsonObject | undefined
}

/** Reopens the named task **with the same id**: its counts are zero, its worker id stays; later tasks are removed. */
export function rerunExecution(execution: Execution, rerun: Rerun, moment: Moment): Operated {
  const input = rerun.workflowInput ?? execution.input
  if (rerun.fromTaskId === undefined)
    return move(execution, 'rerun', (moved) => startAgain(moved, moment, input))
  const from = findRow(execution, rerun.fromTaskId)
  if (from === undefined) return { is: 'refused', why: `it has no task ${rerun.fromTaskId}` }
  return move(execution, 'rerun', (moved) => ({
    ...moved,
    input,
    output: {},
    reasonForIncompletion: undefined,
    startTimeMs: moment.nowMs,
    rows: moved.rows
      .filter((row) => row.record.seq <= from.record.seq)
      .map((row) => (row.record.taskId === rerun.fromTaskId ? reopen(row, rerun, moment) : row)),
  }))
}

function reopen(row: AttemptRow, rerun: Rerun, moment: Moment): AttemptRow {
  return {
    ...row,
    queuedFromMs: moment.nowMs,
    retriedTaskId: undefined,
    record: {
      ...row.record,
      status: 'SCHEDULED',
      retryCount: 0,
      pollCount: 0,
      scheduledTimeMs: moment.nowMs,
      startTimeMs: 0,
      updateTimeMs: 0,
      isRetried: false,
      reasonForIncompletion: undefined,
      input: rerun.taskInput ?? row.record.input,
      output: {},
    },
  }
}

/** Marks a task as skipped before it is scheduled. */
export function skipTask(execution: Execution, referenceTaskName: string, moment: Moment): Operated {
  const task = execution.def.tasks.find((candidate) => candidate.taskReferenceName === referenceTaskName)
  const def = task === undefined ? undefined : execution.taskDefs[task.name]
  if (task === undefined || def === undefined)
    return { is: 'refused', why: `it has no task "${referenceTaskName}"` }
  if (latestRow(execution, referenceTaskName) !== undefined)
    return { is: 'refused', why: `"${referenceTaskName}" is already scheduled` }
  const row: AttemptRow = {
    def,
    workflowTask: task,
    queuedFromMs: undefined,
    retriedTaskId: undefined,
    record: { ...blankRecord(execution, task, moment), status: 'SKIPPED', updateTimeMs: moment.nowMs },
  }
  return { is: 'done', execution: { ...execution, rows: [row, ...execution.rows] } }
}

/** Puts every open task of a type into the queue again, also those in progress. */
export function requeueTasks(execution: Execution, taskType: string, nowMs: number): Execution {
  return execution.rows
    .filter((row) => row.record.taskType === taskType && isTaskOpen(row.record.status))
    .reduce((current, row) => changeRow(current, row.record.taskId, { queuedFromMs: nowMs }), execution)
}

function startAgain(execution: Execution, moment: Moment, input: JsonObject): Execution {
  const bare = { ...execution, input, output: {}, reasonForIncompletion: undefined, rows: [] }
  return decide({ ...bare, startTimeMs: moment.nowMs }, moment)
}

function move(execution: Execution, event: WorkflowEvent, follow: (moved: Execution) => Execution): Operated {
  const to = WORKFLOW_TRANSITIONS[execution.status][event]
  if (to === 'refuse') return { is: 'refused', why: `it is ${execution.status}` }
  return { is: 'done', execution: follow(to === 'same' ? execution : { ...execution, status: to }) }
}
