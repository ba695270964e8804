/** What follows a failed attempt: another one, a loop that fails with it, or the end of the execution. */

import type { Unit } from '../graph/graph.ts'
import type { AttemptRow } from './execution.ts'
import { frameOf, outerFrame } from './frames.ts'
import { isPolled } from './graph-index.ts'
import { addRetry } from './rows.ts'
import { isTaskOpen, isTaskWellEnded } from './state.ts'
import type { Step } from './step.ts'
import type { WholeTaskDef } from './definitions.ts'
import { settingsOfRow } from './task-settings.ts'
import { inputAgain } from './inputs.ts'

/** Whether there was anything to settle. Sets `ending` when a failure ends the execution. */
export function settleFailures(step: Step): boolean {
  const failed = step.rows.filter((row) => row.role === 'run' && isUnsettled(step, row))
  const isFinal = (row: AttemptRow): boolean => !mayRetry(step, row) && !isBearable(step, row)
  // First: what is retried meanwhile would only be cancelled.
  const fatal = failed.find(isFinal)
  if (fatal !== undefined) {
    endBecauseOf(step, fatal)
    return true
  }
  for (const row of failed) settle(step, row)
  return failed.length > 0
}

/** Whether the attempt failed in a way that is tried again, and may be. */
export function mayRetry(step: Step, row: AttemptRow): boolean {
  const { status, retryCount } = row.record
  if (status !== 'FAILED' && status !== 'TIMED_OUT') return false
  return isPolled(step.index, row) && retryCount < settingsOfRow(step.execution, row).retryCount
}

export function retry(step: Step, row: AttemptRow): void {
  const def = settingsOfRow(step.execution, row)
  const delaySeconds = retryDelaySeconds(def, row.record.retryCount) + jitterSeconds(step, def)
  addRetry(step, row, { delaySeconds, copiesReason: true, inputOf: inputAgain(step, row) })
}

export function failureText({ record }: AttemptRow): string {
  const { taskId, status, reasonForIncompletion } = record
  return `Task ${taskId} failed with status: ${status} and reason: '${reasonForIncompletion ?? ''}'`
}

export function hasFailed({ record }: AttemptRow): boolean {
  return !isTaskOpen(record.status) && !isTaskWellEnded(record.status)
}

function isUnsettled(step: Step, row: AttemptRow): boolean {
  if (!hasFailed(row) || row.record.isRetried) return false
  if (step.latest(row.record.referenceTaskName) !== row) return false
  const container = containerOf(step, row)
  // The failure of a loop's unit is settled once the loop has ended.
  return container === undefined || isTaskOpen(container.record.status)
}

function containerOf(step: Step, row: AttemptRow): AttemptRow | undefined {
  const frame = frameOf(row, step.index)
  const outer = outerFrame(frame, step.index)
  return frame.container === undefined || outer === undefined
    ? undefined
    : step.latest(frame.container + outer.suffix)
}

/** Whether it, or a loop around it, is optional. */
function isBearable(step: Step, row: AttemptRow): boolean {
  if (unitOf(step, row)?.optional === true) return true
  const container = containerOf(step, row)
  return container !== undefined && isBearable(step, container)
}

function settle(step: Step, row: AttemptRow): void {
  if (mayRetry(step, row)) {
    retry(step, row)
    return
  }
  const { status, reasonForIncompletion, output } = row.record
  if (unitOf(step, row)?.optional === true) {
    step.end(row, { status: 'COMPLETED_WITH_ERRORS', reasonForIncompletion, output })
    return
  }
  const container = containerOf(step, row)
  if (container === undefined || !isTaskOpen(container.record.status)) return
  step.cancelOpen((one) => isInside(step, one, container))
  step.end(container, {
    status: status === 'CANCELED' || status === 'TIMED_OUT' ? status : 'FAILED',
    reasonForIncompletion: failureText(row),
    output,
  })
}

function isInside(step: Step, row: AttemptRow, container: AttemptRow): boolean {
  const outer = containerOf(step, row)
  if (outer === undefined) return false
  return outer.record.taskId === container.record.taskId || isInside(step, outer, container)
}

const ENDED = { TIMED_OUT: 'TIMED_OUT', CANCELED: 'TERMINATED' } as const

function endBecauseOf(step: Step, row: AttemptRow): void {
  const { status, output } = row.record
  for (let loop = containerOf(step, row); loop !== undefined; loop = containerOf(step, loop))
    step.end(loop, { status: 'FAILED', reasonForIncompletion: failureText(row) })
  step.set({
    ending: {
      status: status === 'TIMED_OUT' || status === 'CANCELED' ? ENDED[status] : 'FAILED',
      reason: failureText(row),
      output,
    },
  })
}

function unitOf(step: Step, row: AttemptRow): Unit | undefined {
  return step.index.units.get(row.unit)
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

function jitterSeconds({ moment }: Step, { backoffJitterMs }: WholeTaskDef): number {
  return backoffJitterMs === 0 ? 0 : Math.floor(moment.random() * (backoffJitterMs + 1)) / 1000
}
