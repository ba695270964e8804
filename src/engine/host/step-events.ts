/**
 * The events of a step: what the log says about the difference between an execution before and after it. Pure.
 *
 * - HE-1 A change of an attempt or of the execution has one event, whatever the step also does.
 * - HE-2 Events of the work come before those of its unit, and those of units before those of the execution.
 */

import { defined } from '../../base/defined.ts'
import type { JsonObject } from '../../base/json.ts'
import type { NewEvent } from '../../core/events/event.ts'
import type { TaskId } from '../../fences/attempt-snapshot.ts'
import type { AttemptRow, Execution } from '../protocol/execution.ts'
import { isTaskOpen, isTaskWellEnded, isWorkflowOpen } from '../protocol/state.ts'
import { traceparentOf, traceparentOfRun } from '../telemetry/execution-trace.ts'

/** An event, and the attempt whose outputs are stored with it. */
export interface StepEvent {
  readonly event: NewEvent
  readonly outputOf?: AttemptRow
}

/** Attempts that a step changed, with what they were before. */
export interface RowChanges {
  readonly changed: readonly { readonly before: AttemptRow | undefined; readonly after: AttemptRow }[]
}

const NO_ROWS: readonly AttemptRow[] = []

export function eventsOfStep(
  before: Execution | undefined,
  after: Execution,
  { changed }: RowChanges,
): readonly StepEvent[] {
  const rows = changed.flatMap((change) => eventsOfRow(change, { before, after }))
  // A failure that was left open while the execution was paused may become final without a change of the attempt itself.
  const changedIds = new Set(changed.map(({ after: row }) => row.record.taskId))
  const settled = (before?.rows ?? NO_ROWS)
    .filter(
      (row) =>
        !changedIds.has(row.record.taskId) && !isFinal(before, row) && isFinal(after, row) && isBad(row),
    )
    .map((row) => nodeEvent(row, 'failed', failurePayload(row)))
  return [...rows, ...settled, ...eventsOfExecution(before, after)].map((event) => withTrace(after, event))
}

/** Who gets the event elsewhere, such as a webhook, can go on with the trace. */
function withTrace(execution: Execution, each: StepEvent): StepEvent {
  if (execution.trace?.isSampled !== true) return each
  const { event } = each
  const taskId = event.payload?.['taskId']
  const traceparent =
    typeof taskId === 'string' ? traceparentOf(execution, taskId as TaskId) : traceparentOfRun(execution)
  return { ...each, event: { ...event, payload: { ...event.payload, ...defined({ traceparent }) } } }
}

function eventsOfRow(
  { before: was, after: row }: RowChanges['changed'][number],
  { before, after }: { readonly before: Execution | undefined; readonly after: Execution },
): readonly StepEvent[] {
  const { record } = row
  const events: StepEvent[] = []
  if (was === undefined && row.retriedTaskId !== undefined)
    events.push(nodeEvent(row, 'retrying', { attempt: record.retryCount }))
  if (record.startTimeMs > 0 && (was?.record.startTimeMs ?? 0) === 0 && isFirstOfNode(after, row))
    events.push(nodeEvent(row, 'started', {}))
  else if (was === undefined || was.record.startTimeMs === 0) events.push(...lateStart(row, was))
  const isClaimed = record.pollCount > (was?.record.pollCount ?? 0)
  if (isClaimed) events.push(taskEvent(row, 'started', { workerId: record.workerId }))
  const wasOpen = was === undefined || isTaskOpen(was.record.status)
  if (isHandedBack(was, row)) events.push(taskEvent(row, 'running', {}))
  if (wasOpen && !isTaskOpen(record.status)) events.push(...eventsOfEnd(row))
  if (isBad(row) && isFinal(after, row) && !(was !== undefined && isBad(was) && isFinal(before, was)))
    events.push(nodeEvent(row, 'failed', failurePayload(row)))
  return events
}

/** A unit whose result came although nobody had claimed it: it starts and ends in one step. */
function lateStart(row: AttemptRow, was: AttemptRow | undefined): readonly StepEvent[] {
  const { status, startTimeMs, retryCount } = row.record
  const isResult = !isTaskOpen(status) && status !== 'SKIPPED' && status !== 'CANCELED'
  if (!isResult || startTimeMs > 0 || retryCount > 0) return []
  return was === undefined || isTaskOpen(was.record.status) ? [nodeEvent(row, 'started', {})] : []
}

/** Without `NODE.failed`, which depends on whether another attempt follows. */
function eventsOfEnd(row: AttemptRow): readonly StepEvent[] {
  const { status } = row.record
  if (status === 'SKIPPED') return [nodeEvent(row, 'skipped', {})]
  if (status === 'CANCELED') return [nodeEvent(row, 'cancelled', {})]
  if (isTaskWellEnded(status))
    return [
      ...(isWork(row) ? [taskEvent(row, 'completed', {})] : []),
      { ...nodeEvent(row, 'completed', {}), outputOf: row },
    ]
  return isWork(row) ? [taskEvent(row, 'failed', failurePayload(row))] : []
}

function eventsOfExecution(before: Execution | undefined, after: Execution): readonly StepEvent[] {
  const was = before?.status ?? 'RUNNING'
  if (was === after.status) return []
  const say = (verb: string, payload: JsonObject = {}): readonly StepEvent[] => [
    {
      event: {
        type: `pipeline.${verb}`,
        source: { entityType: 'pipeline', entityId: after.graph.name },
        payload,
      },
    },
  ]
  const { reasonForIncompletion: reason } = after
  const told = reason === undefined ? {} : { reason: shorten(reason) }
  switch (after.status) {
    case 'PAUSED':
      return say('paused')
    case 'RUNNING':
      return say('resumed', isWorkflowOpen(was) ? {} : { after: was })
    case 'COMPLETED':
      return say('completed')
    case 'FAILED':
    case 'TIMED_OUT':
      return say('failed', { status: after.status, ...told })
    case 'TERMINATED':
      return say('cancelled', told)
  }
}

function nodeEvent({ record }: AttemptRow, verb: string, payload: JsonObject): StepEvent {
  const { referenceTaskName: node, taskId } = record
  return {
    event: {
      type: `${node}.${verb}`,
      source: { entityType: 'node', entityId: node },
      payload: { taskId, ...payload },
    },
  }
}

function taskEvent({ record }: AttemptRow, verb: string, payload: JsonObject): StepEvent {
  const { referenceTaskName: node, taskId, retryCount } = record
  return {
    event: {
      type: `${node}.task.${verb}`,
      source: { entityType: 'task', entityId: node },
      payload: { taskId, attempt: retryCount, ...payload },
    },
  }
}

function failurePayload({ record: { status, reasonForIncompletion: reason } }: AttemptRow): JsonObject {
  return { status, ...(reason === undefined ? {} : { reason: shorten(reason) }) }
}

/** Ended badly, by itself. */
function isBad({ record: { status } }: AttemptRow): boolean {
  return !isTaskOpen(status) && !isTaskWellEnded(status) && status !== 'CANCELED'
}

/** Whether the rules have decided about its end, and no other attempt follows. */
function isFinal(execution: Execution | undefined, { record }: AttemptRow): boolean {
  return execution !== undefined && execution.status !== 'PAUSED' && !record.isRetried
}

/** A worker has had it. */
function isWork({ record }: AttemptRow): boolean {
  return record.pollCount > 0
}

function isHandedBack(was: AttemptRow | undefined, { record }: AttemptRow): boolean {
  if (was === undefined || record.status !== 'SCHEDULED') return false
  return was.record.status === 'IN_PROGRESS' && record.pollCount > 0
}

/** Whether no other attempt at this unit began before. */
function isFirstOfNode({ rows }: Execution, { record }: AttemptRow): boolean {
  return !rows.some(
    (other) =>
      other.record.referenceTaskName === record.referenceTaskName &&
      other.record.taskId !== record.taskId &&
      other.record.startTimeMs > 0 &&
      other.record.seq < record.seq,
  )
}

const REASON_SHOWN_CHARS = 300

/** An event tells why; the whole text is in the attempt. */
function shorten(text: string): string {
  return text.length > REASON_SHOWN_CHARS ? `${text.slice(0, REASON_SHOWN_CHARS)}…` : text
}
