/** What an operator may do to an execution, and when Conductor refuses it. Pure; a refusal is a value. */

import type { TaskId } from '../../fences/attempt-snapshot.ts'
import type { JsonObject } from '../../base/json.ts'
import { decide } from './decide.ts'
import {
  changeRow,
  childrenLeftBy,
  findRow,
  firstStage,
  latestRow,
  type AttemptRow,
  type Execution,
  type Moment,
} from './execution.ts'
import { hasFailed } from './failures.ts'
import { indexOf, isPolled } from './graph-index.ts'
import { inputAgain } from './inputs.ts'
import { addRetry, blankRecord } from './rows.ts'
import { moveStage } from './stages.ts'
import { isTaskOpen, WORKFLOW_TRANSITIONS, type WorkflowEvent } from './state.ts'
import { wantedRecovery } from './recovery.ts'
import { rowsBefore } from './rerun.ts'
import { Step } from './step.ts'

export type Operated =
  { readonly is: 'done'; readonly execution: Execution } | { readonly is: 'refused'; readonly why: string }

export function pauseExecution(execution: Execution, { nowMs }: Moment): Operated {
  return move(execution, 'pause', (moved) =>
    moved === execution ? execution : { ...moved, updatedMs: nowMs },
  )
}

/** Decides at once: deadlines that passed while it was paused take effect now. */
export function resumeExecution(execution: Execution, moment: Moment): Operated {
  return move(execution, 'resume', (moved) =>
    decide({ ...moved, isPausedByParent: false, updatedMs: moment.nowMs }, moment),
  )
}

/** A child is paused while its parent is. One that was paused by itself stays so. */
export function followParent(
  execution: Execution,
  parent: Pick<Execution, 'status'>,
  moment: Moment,
): Execution {
  const { status, isPausedByParent = false } = execution
  const isDue = parent.status === 'PAUSED' ? status === 'RUNNING' : status === 'PAUSED' && isPausedByParent
  if (!isDue) return execution
  const moved =
    parent.status === 'PAUSED' ? pauseExecution(execution, moment) : resumeExecution(execution, moment)
  if (moved.is === 'refused') return execution
  return { ...moved.execution, isPausedByParent: parent.status === 'PAUSED' }
}

export interface Termination {
  readonly reason?: string | undefined
  /** Scheduled tasks stay, as after a completion that races with the termination. */
  readonly leavesScheduled?: boolean
}

export function terminateExecution(execution: Execution, termination: Termination, moment: Moment): Operated {
  return move(execution, 'terminate', (moved) => {
    if (execution.status === moved.status) return execution
    const step = new Step(moveStage(moved, 'CANCELLED', moment.nowMs), moment)
    step.cancelOpen(({ record }) => !(termination.leavesScheduled === true && record.status === 'SCHEDULED'))
    step.set({ reasonForIncompletion: termination.reason })
    return step.finish()
  })
}

/** Starts again with the same workflow id; all earlier tasks are removed. */
export function restartExecution(
  execution: Execution,
  moment: Moment,
  input: JsonObject = execution.input,
): Operated {
  if (!execution.graph.restartable && execution.status === 'COMPLETED')
    return { is: 'refused', why: 'it is completed and not restartable' }
  return move(execution, 'restart', () => startAgain(execution, moment, input))
}

/** A new attempt at every failed task, whatever the definition says about retries. What was undone starts from the beginning. */
export function retryExecution(execution: Execution, moment: Moment): Operated {
  return move(execution, 'retry', () => {
    if (execution.rows.some(({ role }) => role === 'undo'))
      return startAgain(execution, moment, execution.input)
    const rows = execution.rows.filter(({ role }) => role === 'run')
    const { variables } = execution
    const step = new Step({ ...nextRun(execution, moment, rows), variables }, moment)
    for (const row of step.rows)
      if (hasFailed(row) && step.latest(row.record.referenceTaskName) === row) retryRow(step, row)
    return decide(step.finish(), moment)
  })
}

function retryRow(step: Step, row: AttemptRow): void {
  // As in Conductor, a loop goes on where it was.
  if (row.loop === undefined)
    addRetry(step, row, { delaySeconds: 0, copiesReason: false, inputOf: inputAgain(step, row) })
  else step.change(row, { record: { status: 'IN_PROGRESS', reasonForIncompletion: undefined, output: {} } })
}

export interface Rerun {
  /** Default: from the beginning. */
  readonly fromTaskId?: TaskId | undefined
  readonly taskInput?: JsonObject | undefined
  readonly workflowInput?: JsonObject | undefined
}

/**
 * Reopens the named task **with the same id**: its counts are zero, its worker id stays. What depends on it, and what had
 * failed, is removed and runs again.
 */
export function rerunExecution(execution: Execution, rerun: Rerun, moment: Moment): Operated {
  const input = rerun.workflowInput ?? execution.input
  if (rerun.fromTaskId === undefined)
    return move(execution, 'rerun', () => startAgain(execution, moment, input))
  const from = findRow(execution, rerun.fromTaskId)
  if (from?.role !== 'run') return { is: 'refused', why: `it has no task ${rerun.fromTaskId} of a unit` }
  if (execution.rows.some(({ role }) => role === 'undo'))
    return { is: 'refused', why: 'it was rolled back: rerun it from the beginning' }
  return move(execution, 'rerun', () => {
    const rows = rowsBefore(execution, from).map((row) =>
      row.record.taskId === rerun.fromTaskId ? reopen(execution, row, rerun, moment) : row,
    )
    const { variables } = execution
    return decide({ ...nextRun(execution, moment, rows), variables, input }, moment)
  })
}

function reopen(execution: Execution, row: AttemptRow, rerun: Rerun, moment: Moment): AttemptRow {
  const isOfWorker = isPolled(indexOf(execution.graph), row)
  const { unit, role, record } = row
  return {
    unit,
    role,
    queuedFromMs: isOfWorker ? moment.nowMs : undefined,
    retriedTaskId: undefined,
    ...(isOfWorker ? {} : { wakeMs: moment.nowMs }),
    record: {
      ...record,
      status: 'SCHEDULED',
      retryCount: 0,
      pollCount: 0,
      scheduledTimeMs: moment.nowMs,
      startTimeMs: 0,
      updateTimeMs: 0,
      isRetried: false,
      reasonForIncompletion: undefined,
      input: rerun.taskInput ?? record.input,
      output: {},
    },
  }
}

/** The host cannot take it back as its policy asks for: what follows a failure otherwise follows now. */
export function refuseRecovery(execution: Execution, why: string, moment: Moment): Execution {
  const wanted = wantedRecovery(execution)
  if (wanted === undefined) return execution
  const notUndone = [{ unit: wanted.unit, why }]
  const report = { atMs: moment.nowMs, reason: why, recovery: 'refused', undone: [], notUndone } as const
  return decide({ ...execution, rollbacks: [...execution.rollbacks, report] }, moment)
}

/** Marks a unit as skipped before it is scheduled: what is after it goes on. */
export function skipTask(execution: Execution, referenceTaskName: string, moment: Moment): Operated {
  const unit = indexOf(execution.graph).units.get(referenceTaskName)
  if (unit === undefined || indexOf(execution.graph).containers.get(referenceTaskName) !== undefined)
    return { is: 'refused', why: `it has no task "${referenceTaskName}"` }
  if (latestRow(execution, referenceTaskName) !== undefined)
    return { is: 'refused', why: `"${referenceTaskName}" is already scheduled` }
  const row: AttemptRow = {
    unit: referenceTaskName,
    role: 'run',
    queuedFromMs: undefined,
    retriedTaskId: undefined,
    record: {
      ...blankRecord(execution, unit.type === 'SIMPLE' ? unit.name : unit.type, moment),
      referenceTaskName,
      status: 'SKIPPED',
      updateTimeMs: moment.nowMs,
    },
  }
  return {
    is: 'done',
    execution: { ...execution, rows: [row, ...execution.rows], updatedMs: moment.nowMs },
  }
}

/** Puts every open task of a type into the queue again, also those in progress. */
export function requeueTasks(execution: Execution, taskType: string, nowMs: number): Execution {
  return execution.rows
    .filter(
      (row) =>
        row.record.taskType === taskType &&
        isTaskOpen(row.record.status) &&
        isPolled(indexOf(execution.graph), row),
    )
    .reduce(
      (current, row) => changeRow(current, row.record.taskId, { nowMs, queuedFromMs: nowMs }),
      execution,
    )
}

function startAgain(execution: Execution, moment: Moment, input: JsonObject): Execution {
  return decide({ ...nextRun(execution, moment, []), input }, moment)
}

/** A final stage is not left: a new run begins. */
export function nextRun(execution: Execution, moment: Moment, rows: readonly AttemptRow[]): Execution {
  const kept = new Set(rows.map(({ record }) => record.taskId))
  const removed = execution.rows.filter(({ record }) => !kept.has(record.taskId))
  return {
    ...execution,
    ...firstStage(moment.nowMs),
    run: execution.run + 1,
    childrenLeft: childrenLeftBy({ ...execution, rows: removed }),
    rows,
  }
}

function move(execution: Execution, event: WorkflowEvent, follow: (moved: Execution) => Execution): Operated {
  const to = WORKFLOW_TRANSITIONS[execution.status][event]
  if (to === 'refuse') return { is: 'refused', why: `it is ${execution.status}` }
  return { is: 'done', execution: follow(to === 'same' ? execution : { ...execution, status: to }) }
}
