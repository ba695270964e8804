/**
 * Decides a workflow: which attempts are overdue, which are retried, which task comes next, how it ends. Pure: the moment is
 * passed in. Conductor decides on each update of a task, when a workflow is resumed, and when its sweeper runs; a host of
 * these rules must do the same.
 */

import type { TaskStatus } from '../../fences/attempt-snapshot.ts'
import type { JsonObject } from '../../base/json.ts'
import {
  changeRow,
  latestRow,
  rootsOf,
  scheduleRetry,
  scheduleTask,
  type AttemptRow,
  type Execution,
  type Moment,
} from './execution.ts'
import { evaluateTemplate } from './expressions.ts'
import { isTaskOpen, isTaskWellEnded, TASK_TRANSITIONS } from './state.ts'
import type { WholeTaskDef } from './definitions.ts'

export function decide(execution: Execution, moment: Moment): Execution {
  if (execution.status !== 'RUNNING') return execution
  const current = expireWorkflow(expireTasks(execution, moment), moment)
  if (current.status !== 'RUNNING') return current
  const failed = current.rows.find((row) => isUnsettledFailure(current, row))
  if (failed !== undefined) return settleFailure(current, failed, moment)
  return advance(current, moment)
}

/** The next deadline of this workflow; `undefined` if it has none. */
export function nextDeadlineMs(execution: Execution): number | undefined {
  if (execution.status !== 'RUNNING') return undefined
  const deadlines = [
    ...execution.rows.flatMap((row) => taskDeadlines(row).map(({ atMs }) => atMs)),
    ...workflowDeadline(execution),
  ]
  return deadlines.length === 0 ? undefined : Math.min(...deadlines)
}

/** The delay before the next attempt. */
function retryDelaySeconds(def: WholeTaskDef, retryCount: number): number {
  const delays: Readonly<Record<WholeTaskDef['retryLogic'], number>> = {
    FIXED: def.retryDelaySeconds,
    EXPONENTIAL_BACKOFF: def.retryDelaySeconds * 2 ** retryCount,
    LINEAR_BACKOFF: def.retryDelaySeconds * def.backoffScaleFactor * (retryCount + 1),
  }
  const delay = delays[def.retryLogic]
  return def.maxRetryDelaySeconds > 0 ? Math.min(delay, def.maxRetryDelaySeconds) : delay
}

/** Ends every open attempt. */
export function cancelOpenTasks(execution: Execution, moment: Moment): Execution {
  return execution.rows
    .filter((row) => isTaskOpen(row.record.status))
    .reduce((current, row) => endRow(current, row, { status: 'CANCELED', moment }), execution)
}

interface TaskDeadline {
  readonly atMs: number
  readonly why: string
  /** Whether it also ends the workflow. */
  readonly endsWorkflow: boolean
}

function taskDeadlines({ record, def }: AttemptRow): readonly TaskDeadline[] {
  if (TASK_TRANSITIONS[record.status].timeOut !== 'TIMED_OUT') return []
  const response: TaskDeadline = {
    atMs: record.updateTimeMs + def.responseTimeoutSeconds * 1000,
    why: `responseTimeout: no lease renewal for ${def.responseTimeoutSeconds} seconds`,
    // The policy applies to the other time limits only.
    endsWorkflow: false,
  }
  if (def.timeoutSeconds === 0 || def.timeoutPolicy === 'ALERT_ONLY') return [response]
  const whole: TaskDeadline = {
    // Renewals do not extend it.
    atMs: record.startTimeMs + def.timeoutSeconds * 1000,
    why: `timeout: not ended after ${def.timeoutSeconds} seconds`,
    endsWorkflow: def.timeoutPolicy === 'TIME_OUT_WF',
  }
  return [response, whole]
}

function expireTasks(execution: Execution, moment: Moment): Execution {
  return execution.rows.reduce((current, row) => {
    const overdue = taskDeadlines(row).filter(({ atMs }) => atMs <= moment.nowMs)
    const [first] = overdue
    if (first === undefined) return current
    const expired = endRow(current, row, { status: 'TIMED_OUT', moment, reason: first.why })
    return overdue.some(({ endsWorkflow }) => endsWorkflow)
      ? endWorkflow(expired, { status: 'TIMED_OUT', moment, reason: first.why, output: {} })
      : expired
  }, execution)
}

function workflowDeadline({ def, startTimeMs }: Execution): readonly number[] {
  const isLimited = def.timeoutSeconds > 0 && def.timeoutPolicy === 'TIME_OUT_WF'
  return isLimited ? [startTimeMs + def.timeoutSeconds * 1000] : []
}

function expireWorkflow(execution: Execution, moment: Moment): Execution {
  if (!workflowDeadline(execution).some((atMs) => atMs <= moment.nowMs)) return execution
  const reason = `workflow timeout: not ended after ${execution.def.timeoutSeconds} seconds`
  return endWorkflow(execution, { status: 'TIMED_OUT', moment, reason, output: {} })
}

function isUnsettledFailure(execution: Execution, row: AttemptRow): boolean {
  const { status, isRetried, referenceTaskName } = row.record
  if (isTaskOpen(status) || isTaskWellEnded(status) || isRetried) return false
  return latestRow(execution, referenceTaskName) === row
}

function settleFailure(execution: Execution, failed: AttemptRow, moment: Moment): Execution {
  const { status, retryCount, taskId, reasonForIncompletion, output } = failed.record
  const limit = failed.workflowTask.retryCount ?? failed.def.retryCount
  if ((status === 'FAILED' || status === 'TIMED_OUT') && retryCount < limit) {
    const delaySeconds = retryDelaySeconds(failed.def, retryCount)
    return scheduleRetry(execution, failed, { moment, delaySeconds, copiesReason: true })
  }
  const ended = { FAILED: 'FAILED', TIMED_OUT: 'TIMED_OUT', CANCELED: 'TERMINATED' } as const
  return endWorkflow(execution, {
    status: status in ended ? ended[status as keyof typeof ended] : 'FAILED',
    moment,
    reason: `Task ${taskId} failed with status: ${status} and reason: '${reasonForIncompletion ?? ''}'`,
    output,
  })
}

/** The next task is the first one that has not ended successfully. */
function advance(execution: Execution, moment: Moment): Execution {
  for (const task of execution.def.tasks) {
    const row = latestRow(execution, task.taskReferenceName)
    if (row === undefined) return scheduleTask(execution, task, moment)
    if (!isTaskWellEnded(row.record.status)) return execution
  }
  const { outputParameters } = execution.def
  const last = execution.rows.findLast((row) => row.record.status === 'COMPLETED')
  const output =
    outputParameters === undefined
      ? (last?.record.output ?? {})
      : evaluateTemplate(outputParameters, rootsOf(execution))
  return endWorkflow(execution, { status: 'COMPLETED', moment, reason: undefined, output })
}

function endRow(
  execution: Execution,
  { record }: AttemptRow,
  end: { readonly status: TaskStatus; readonly moment: Moment; readonly reason?: string },
): Execution {
  return changeRow(execution, record.taskId, {
    queuedFromMs: undefined,
    record: {
      status: end.status,
      updateTimeMs: end.moment.nowMs,
      ...(end.reason === undefined ? {} : { reasonForIncompletion: end.reason }),
    },
  })
}

function endWorkflow(
  execution: Execution,
  end: {
    readonly status: 'COMPLETED' | 'FAILED' | 'TIMED_OUT' | 'TERMINATED'
    readonly moment: Moment
    readonly reason: string | undefined
    readonly output: JsonObject
  },
): Execution {
  const { status, output, reason } = end
  return { ...cancelOpenTasks(execution, end.moment), status, output, reasonForIncompletion: reason }
}
