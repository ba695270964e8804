/** A workflow as a value: its definitions as they were at the start, and one row per attempt. */

import type { TaskId, WorkflowId, WorkflowStatus } from '../../fences/attempt-snapshot.ts'
import type { TaskRecord } from '../../worker/ports.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import type { WorkflowStartRequest } from './control.ts'
import type { TestWorkflowTask, WholeTaskDef, WholeWorkflowDef } from './definitions.ts'
import { evaluateTemplate, type Roots } from './expressions.ts'

/** An attempt: the record that readers see, and what else the rules need. */
export interface AttemptRow {
  readonly record: TaskRecord
  readonly def: WholeTaskDef
  readonly workflowTask: TestWorkflowTask
  /** When it may be claimed; `undefined` while it is not in the queue. */
  readonly queuedFromMs: number | undefined
  readonly retriedTaskId: TaskId | undefined
}

export interface Execution {
  readonly workflowId: WorkflowId
  readonly def: WholeWorkflowDef
  /** By name, as registered at the start: later registrations do not affect a running workflow. */
  readonly taskDefs: Readonly<Record<string, WholeTaskDef>>
  readonly status: WorkflowStatus
  readonly startTimeMs: number
  readonly input: JsonObject
  readonly output: JsonObject
  readonly reasonForIncompletion: string | undefined
  readonly correlationId: string | undefined
  readonly priority: number
  readonly taskToDomain: Readonly<Record<string, string>>
  /** In the order in which they were scheduled. */
  readonly rows: readonly AttemptRow[]
}

/** The port of the rules: all they need from their host. */
export interface Moment {
  readonly nowMs: number
  readonly nextTaskId: () => TaskId
  /** The domain that gets tasks of this type now, of those it is mapped to; see `chooseDomain`. */
  readonly chooseDomain: (taskType: string, domains: readonly string[]) => string | undefined
}

/** A workflow that has started and has no tasks yet; `decide` schedules the first one. */
export function startExecution(
  { correlationId, priority = 0, taskToDomain = {} }: WorkflowStartRequest,
  start: Pick<Execution, 'workflowId' | 'def' | 'input' | 'startTimeMs'> & {
    readonly taskDefs: readonly WholeTaskDef[]
  },
): Execution {
  return {
    ...start,
    taskDefs: Object.fromEntries(start.taskDefs.map((def) => [def.name, def])),
    status: 'RUNNING',
    output: {},
    reasonForIncompletion: undefined,
    correlationId,
    priority,
    taskToDomain,
    rows: [],
  }
}

/** The attempt that counts for this reference name: the one scheduled last. */
export function latestRow(execution: Execution, referenceTaskName: string): AttemptRow | undefined {
  return execution.rows.findLast((row) => row.record.referenceTaskName === referenceTaskName)
}

export function findRow(execution: Execution, taskId: TaskId): AttemptRow | undefined {
  return execution.rows.find((row) => row.record.taskId === taskId)
}

export interface RowChange extends Partial<Omit<AttemptRow, 'record'>> {
  readonly record?: Partial<TaskRecord>
}

export function changeRow(execution: Execution, taskId: TaskId, change: RowChange): Execution {
  const { record, ...rest } = change
  return {
    ...execution,
    rows: execution.rows.map((row) =>
      row.record.taskId === taskId ? { ...row, ...rest, record: { ...row.record, ...record } } : row,
    ),
  }
}

/** A first attempt at a task of the definition. */
export function scheduleTask(execution: Execution, task: TestWorkflowTask, moment: Moment): Execution {
  const def = execution.taskDefs[task.name]
  if (def === undefined) throw new Error(`no definition of ${task.name} was taken at the start`)
  const domains = (execution.taskToDomain[task.name] ?? execution.taskToDomain['*'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return addRow(execution, {
    task,
    def,
    moment,
    retryCount: 0,
    delaySeconds: task.startDelay ?? 0,
    domain: moment.chooseDomain(task.name, domains),
    earlier: undefined,
  })
}

/** A new attempt at the same task, with a new id. */
export function scheduleRetry(
  execution: Execution,
  failed: AttemptRow,
  request: { readonly moment: Moment; readonly delaySeconds: number; readonly copiesReason: boolean },
): Execution {
  const marked = changeRow(execution, failed.record.taskId, { record: { isRetried: true } })
  return addRow(marked, {
    task: failed.workflowTask,
    def: failed.def,
    moment: request.moment,
    retryCount: failed.record.retryCount + 1,
    delaySeconds: request.delaySeconds,
    domain: failed.record.domain,
    earlier: failed,
    reasonForIncompletion: request.copiesReason ? failed.record.reasonForIncompletion : undefined,
  })
}

function addRow(
  execution: Execution,
  request: {
    readonly task: TestWorkflowTask
    readonly def: WholeTaskDef
    readonly moment: Moment
    readonly retryCount: number
    readonly delaySeconds: number
    readonly domain: string | undefined
    readonly earlier: AttemptRow | undefined
    readonly reasonForIncompletion?: string | undefined
  },
): Execution {
  const { task, def, moment, earlier } = request
  const blank = blankRecord(execution, task, moment)
  const record: TaskRecord = {
    ...blank,
    retryCount: request.retryCount,
    seq: Math.max(0, ...execution.rows.map((row) => row.record.seq)) + 1,
    responseTimeoutSeconds: def.responseTimeoutSeconds,
    domain: request.domain,
    reasonForIncompletion: request.reasonForIncompletion,
    input: evaluateInput(execution, { task, def, taskId: blank.taskId }),
  }
  const row: AttemptRow = {
    record,
    def,
    workflowTask: task,
    queuedFromMs: moment.nowMs + request.delaySeconds * 1000,
    retriedTaskId: earlier?.record.taskId,
  }
  return { ...execution, rows: [...execution.rows, row] }
}

/** The record of a new attempt, with every field that says nothing yet. */
export function blankRecord(
  { workflowId, def, correlationId }: Execution,
  task: TestWorkflowTask,
  moment: Moment,
): TaskRecord {
  return {
    taskId: moment.nextTaskId(),
    workflowId,
    workflowType: def.name,
    status: 'SCHEDULED',
    taskType: task.name,
    taskDefName: task.name,
    referenceTaskName: task.taskReferenceName,
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

function evaluateInput(
  execution: Execution,
  target: { readonly task: TestWorkflowTask; readonly def: WholeTaskDef; readonly taskId: TaskId },
): JsonObject {
  const roots = { ...rootsOf(execution), CPEWF_TASK_ID: target.taskId }
  const own = evaluateTemplate(target.task.inputParameters ?? {}, roots)
  // The template of the task definition replaces inputs that are absent or null.
  const given = Object.entries(own).filter(
    ([name, value]) => value !== null || !(name in target.def.inputTemplate),
  )
  return { ...target.def.inputTemplate, ...Object.fromEntries(given) }
}

/** What expressions may refer to. */
export function rootsOf(execution: Execution): Roots {
  const tasks = execution.def.tasks.flatMap(({ taskReferenceName }) => {
    const record = latestRow(execution, taskReferenceName)?.record
    return record === undefined ? [] : [[taskReferenceName, rootOf(record)] as const]
  })
  return {
    workflow: {
      input: execution.input,
      output: execution.output,
      variables: {},
      status: execution.status,
      workflowId: execution.workflowId,
      workflowType: execution.def.name,
      version: execution.def.version,
      correlationId: execution.correlationId ?? null,
    },
    ...Object.fromEntries(tasks),
  }
}

function rootOf(record: TaskRecord): Json {
  return {
    input: record.input,
    output: record.output,
    status: record.status,
    taskId: record.taskId,
    retryCount: record.retryCount,
    pollCount: record.pollCount,
    startTime: record.startTimeMs,
    workerId: record.workerId,
    reasonForIncompletion: record.reasonForIncompletion ?? null,
    iteration: record.iteration,
  }
}
