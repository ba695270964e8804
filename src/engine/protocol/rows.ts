/** New rows: attempts at units, and tasks that undo or verify. */

import type { JsonObject } from '../../base/json.ts'
import type { TaskId } from '../../fences/attempt-snapshot.ts'
import type { TaskRecord } from '../../worker/ports.ts'
import type { Unit } from '../graph/graph.ts'
import type { WholeTaskDef } from './definitions.ts'
import type { AttemptRow, Execution, Moment } from './execution.ts'
import { frameOf, iterationOf, type Frame } from './frames.ts'
import { isPolled } from './graph-index.ts'
import type { Step } from './step.ts'
import { settingsOf } from './task-settings.ts'
import { fill } from './values.ts'

/** The reference name of the task that verifies an execution. */
export const VERIFYING_REFERENCE = 'execution__verify'

/** A first attempt at a task that workers poll for. */
export function addTask(step: Step, unit: Unit & { readonly type: 'SIMPLE' }, frame: Frame): AttemptRow {
  return addPolled(step, {
    unit: unit.taskReferenceName,
    role: 'run',
    taskType: unit.name,
    reference: unit.taskReferenceName + frame.suffix,
    frame,
    delaySeconds: unit.startDelay ?? 0,
    inputOf: (taskId) => fill(step, unit.inputParameters, { frame, taskId }),
  })
}

/** A row of a unit that no worker polls for. It begins at `wakeMs`. */
export function addSystemRow(step: Step, unit: Unit, frame: Frame): AttemptRow {
  const { moment } = step
  const shown = unit.type === 'SET_VARIABLE' ? (unit.shownAs ?? unit.type) : unit.type
  const record = blankRecord(step.execution, shown, moment)
  return step.add({
    unit: unit.taskReferenceName,
    role: 'run',
    queuedFromMs: undefined,
    retriedTaskId: undefined,
    wakeMs: moment.nowMs + (unit.startDelay ?? 0) * 1000,
    record: {
      ...record,
      seq: step.nextSeq(),
      iteration: iterationOf(frame),
      referenceTaskName: unit.taskReferenceName + frame.suffix,
    },
  })
}

/** A unit that does not run. `taskDefName` and the rest are as if it had been scheduled. */
export function addPassedOver(step: Step, unit: Unit, frame: Frame, reason: string): void {
  const row = addSystemRow(step, unit, frame)
  const taskType = unit.type === 'SIMPLE' ? unit.name : unit.type
  const record = {
    status: 'SKIPPED',
    taskType,
    taskDefName: taskType,
    reasonForIncompletion: reason,
  } as const
  step.end(row, record, { isPassedOver: true })
}

export interface PolledRow {
  readonly unit: string
  readonly role: AttemptRow['role']
  readonly taskType: string
  readonly reference: string
  readonly frame: Frame
  readonly delaySeconds: number
  readonly inputOf: (taskId: TaskId) => JsonObject
}

/** A row that workers poll for, with a definition. */
export function addPolled(step: Step, request: PolledRow): AttemptRow {
  const { taskType, moment } = { ...request, moment: step.moment }
  const { taskToDomain } = step.execution
  const domains = (taskToDomain[taskType] ?? taskToDomain['*'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return addAttempt(step, request, {
    domain: moment.chooseDomain(taskType, domains),
    retryCount: 0,
    retriedTaskId: undefined,
    reasonForIncompletion: undefined,
  })
}

/** A new attempt at the same task, with a new id and inputs that are evaluated again. */
export function addRetry(
  step: Step,
  failed: AttemptRow,
  request: Pick<PolledRow, 'delaySeconds' | 'inputOf'> & { readonly copiesReason: boolean },
): AttemptRow {
  const { record, unit, role } = step.change(failed, { record: { isRetried: true } })
  const frame = frameOf(failed, step.index)
  const { delaySeconds, inputOf } = request
  return addAttempt(
    step,
    {
      unit,
      role,
      taskType: record.taskType,
      reference: record.referenceTaskName,
      frame,
      delaySeconds,
      inputOf,
    },
    {
      domain: record.domain,
      retryCount: record.retryCount + 1,
      retriedTaskId: record.taskId,
      reasonForIncompletion: request.copiesReason ? record.reasonForIncompletion : undefined,
    },
  )
}

function addAttempt(
  step: Step,
  request: PolledRow,
  attempt: Pick<TaskRecord, 'domain' | 'retryCount' | 'reasonForIncompletion'> &
    Pick<AttemptRow, 'retriedTaskId'>,
): AttemptRow {
  const { moment, execution } = step
  const { taskType, unit, role, reference, frame } = request
  const { retriedTaskId, ...rest } = attempt
  const blank = blankRecord(execution, taskType, moment)
  const def = settingsOf(execution, { unit, role, taskType })
  const dueMs = moment.nowMs + request.delaySeconds * 1000
  const isOfWorker = isPolled(step.index, { unit, role })
  return step.add({
    unit,
    role,
    queuedFromMs: isOfWorker ? dueMs : undefined,
    retriedTaskId,
    ...(isOfWorker ? {} : { wakeMs: dueMs }),
    record: {
      ...blank,
      ...rest,
      referenceTaskName: reference,
      seq: step.nextSeq(),
      iteration: role === 'run' ? iterationOf(frame) : 0,
      responseTimeoutSeconds: isOfWorker ? def.responseTimeoutSeconds : 0,
      input: withTemplate(request.inputOf(blank.taskId), def),
    },
  })
}

/** The template of the task definition replaces inputs that are absent or null. */
function withTemplate(own: JsonObject, { inputTemplate }: WholeTaskDef): JsonObject {
  const given = Object.entries(own).filter(([name, value]) => value !== null || !(name in inputTemplate))
  return { ...inputTemplate, ...Object.fromEntries(given) }
}

/** The record of a new attempt, with every field that says nothing yet. */
export function blankRecord(
  { workflowId, graph, correlationId }: Pick<Execution, 'workflowId' | 'graph' | 'correlationId'>,
  taskType: string,
  moment: Moment,
): TaskRecord {
  return {
    taskId: moment.nextTaskId(),
    workflowId,
    workflowType: graph.name,
    status: 'SCHEDULED',
    taskType,
    taskDefName: taskType,
    referenceTaskName: '',
    retryCount: 0,
    pollCount: 0,
    seq: 0,
    iteration: 0,
    scheduledTimeMs: moment.nowMs,
    startTimeMs: 0,
    updateTimeMs: 0,
    responseTimeoutSeconds: 0,
    isRetried: false,
    workerId: '',
    correlationId,
    domain: undefined,
    reasonForIncompletion: undefined,
    input: {},
    output: {},
    externalInputPath: undefined,
    externalOutputPath: undefined,
  }
}
