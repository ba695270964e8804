/** What a worker's requests do to a workflow. Pure. Like Conductor, it does not check which worker sends a request. */

import { CONDUCTOR_REASON_MAX_CHARS } from '../../worker/limits.ts'
import type { ResultStatus, TaskRecord, TaskResult } from '../../worker/ports.ts'
import { decide } from './decide.ts'
import { changeRow, findRow, type AttemptRow, type Execution, type Moment } from './execution.ts'
import { indexOf, isPolled } from './graph-index.ts'
import { inputRedactor } from './input-secrets.ts'
import { TASK_TRANSITIONS, type TaskEvent } from './state.ts'
import { Step } from './step.ts'

/** Whether the attempt may be claimed now. As in Conductor, the state of its workflow does not matter. */
export function isClaimable(row: AttemptRow, nowMs: number): boolean {
  if (TASK_TRANSITIONS[row.record.status].claim === 'ignore') return false
  return row.queuedFromMs !== undefined && row.queuedFromMs <= nowMs
}

export function claimTask(
  execution: Execution,
  row: AttemptRow,
  claim: { readonly workerId: string; readonly nowMs: number },
): Execution {
  const { record } = row
  return changeRow(execution, record.taskId, {
    nowMs: claim.nowMs,
    queuedFromMs: undefined,
    record: {
      status: 'IN_PROGRESS',
      workerId: claim.workerId,
      pollCount: record.pollCount + 1,
      // Only for the first claim of this id.
      startTimeMs: record.startTimeMs === 0 ? claim.nowMs : record.startTimeMs,
      updateTimeMs: claim.nowMs,
    },
  })
}

export function renewTask(execution: Execution, row: AttemptRow, nowMs: number): Execution {
  if (TASK_TRANSITIONS[row.record.status].renew === 'ignore') return execution
  return changeRow(execution, row.record.taskId, { nowMs, record: { updateTimeMs: nowMs } })
}

const EVENT_OF_RESULT: Readonly<Record<ResultStatus, TaskEvent>> = {
  COMPLETED: 'complete',
  FAILED: 'fail',
  FAILED_WITH_TERMINAL_ERROR: 'failForGood',
  IN_PROGRESS: 'handBack',
}

/**
 * A result for a task of `execution`, sent with the id of the workflow `named`. Conductor decides only the named workflow:
 * with a wrong id the task ends, and its own workflow does not continue until something else decides it.
 */
export function applyResult(
  execution: Execution,
  result: TaskResult,
  named: { readonly isOwn: boolean; readonly isOpen: boolean; readonly moment: Moment },
): Execution {
  const row = findRow(execution, result.taskId)
  if (row === undefined || !named.isOpen || !takesResults(execution, row)) return execution
  const to = TASK_TRANSITIONS[row.record.status][EVENT_OF_RESULT[result.status]]
  if (to === 'ignore') return execution
  const step = new Step(execution, named.moment)
  const record = {
    // Replaced, not merged.
    output: result.output,
    workerId: result.workerId,
    updateTimeMs: named.moment.nowMs,
    reasonForIncompletion: reasonOf(result, execution, row) ?? row.record.reasonForIncompletion,
  }
  if (result.status === 'IN_PROGRESS') handBack(step, row, { record, result })
  else step.end(row, { ...record, status: to === 'same' ? row.record.status : to })
  const updated = step.finish()
  return named.isOwn ? decide(updated, named.moment) : updated
}

/** It goes to events, logs and spans. */
function reasonOf(
  { reasonForIncompletion: reason }: TaskResult,
  execution: Execution,
  row: AttemptRow,
): string | undefined {
  return reason && inputRedactor(execution, row).text(reason).slice(0, CONDUCTOR_REASON_MAX_CHARS)
}

/** Tasks, and units that wait for somebody; what else there is ends by itself. */
function takesResults({ graph }: Execution, row: AttemptRow): boolean {
  if (row.role !== 'run') return true
  const type = indexOf(graph).units.get(row.unit)?.type
  return type === 'SIMPLE' || type === 'WAIT' || type === 'HUMAN'
}

function handBack(
  step: Step,
  row: AttemptRow,
  { record, result }: { readonly record: Partial<TaskRecord>; readonly result: TaskResult },
): void {
  // Nobody polls for the others: they stay as they are, with the new output.
  if (!isPolled(step.index, row)) step.change(row, { record })
  else
    step.change(row, {
      queuedFromMs: step.moment.nowMs + (result.callbackAfterSeconds ?? 0) * 1000,
      record: { ...record, status: 'SCHEDULED' },
    })
}
