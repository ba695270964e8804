/** The times at which something happens to an execution by itself. */

import type { AttemptRow, Execution } from './execution.ts'
import { indexOf, isPolled } from './graph-index.ts'
import { isTaskOpen, TASK_TRANSITIONS } from './state.ts'
import type { Step } from './step.ts'
import { settingsOfRow } from './task-settings.ts'

/** The next deadline of this execution; `undefined` if it has none. */
export function nextDeadlineMs(execution: Execution): number | undefined {
  if (execution.status !== 'RUNNING') return undefined
  if (known.has(execution)) return known.get(execution)
  const index = indexOf(execution.graph)
  let next = Math.min(Infinity, ...workflowDeadline(execution))
  for (const row of execution.rows) {
    if (!isTaskOpen(row.record.status)) continue
    next = Math.min(next, row.wakeMs ?? Infinity, row.timeoutMs ?? Infinity)
    if (isPolled(index, row))
      for (const { atMs } of taskDeadlines(execution, row)) next = Math.min(next, atMs)
  }
  const found = next === Infinity ? undefined : next
  known.set(execution, found)
  return found
}

const known = new WeakMap<Execution, number | undefined>()

/** Ends overdue attempts of workers; sets `ending` when this, or the time limit of the execution, ends it. */
export function expire(step: Step): void {
  for (const row of step.rows) if (isPolled(step.index, row)) expireTask(step, row)
  const { stage, execution } = step
  if (stage === 'ROLLBACK' || execution.ending?.status === 'TIMED_OUT') return
  if (!workflowDeadline(execution).some((atMs) => atMs <= step.moment.nowMs)) return
  timeOut(step, `workflow timeout: not ended after ${execution.graph.timeoutSeconds} seconds`)
}

interface TaskDeadline {
  readonly atMs: number
  readonly why: string
  /** Whether it also ends the workflow. */
  readonly endsWorkflow: boolean
}

function taskDeadlines(
  execution: Pick<Execution, 'graph' | 'taskDefs'>,
  row: AttemptRow,
): readonly TaskDeadline[] {
  const { record } = row
  if (TASK_TRANSITIONS[record.status].timeOut !== 'TIMED_OUT') return []
  const def = settingsOfRow(execution, row)
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

function expireTask(step: Step, row: AttemptRow): void {
  const overdue = taskDeadlines(step.execution, row).filter(({ atMs }) => atMs <= step.moment.nowMs)
  const [first] = overdue
  if (first === undefined) return
  step.end(row, { status: 'TIMED_OUT', reasonForIncompletion: first.why })
  if (row.role === 'run' && overdue.some(({ endsWorkflow }) => endsWorkflow)) timeOut(step, first.why)
}

function timeOut(step: Step, reason: string): void {
  step.set({ ending: { status: 'TIMED_OUT', reason, output: {} } })
}

function workflowDeadline({ graph, startTimeMs, stage }: Omit<Execution, 'rows'>): readonly number[] {
  const isLimited = graph.timeoutSeconds > 0 && graph.timeoutPolicy === 'TIME_OUT_WF' && stage !== 'ROLLBACK'
  return isLimited ? [startTimeMs + graph.timeoutSeconds * 1000] : []
}
