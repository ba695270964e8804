/**
 * Definitions that the in-process queue can run: tasks, and workflows that are a sequence of tasks. Fields are named as in
 * Conductor. An unsupported field is refused, so that no test relies on a setting without effect.
 */

import { InvalidError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'

export interface TestTaskDef {
  readonly name: string
  readonly retryCount?: number
  readonly retryLogic?: 'FIXED' | 'EXPONENTIAL_BACKOFF' | 'LINEAR_BACKOFF'
  readonly retryDelaySeconds?: number
  readonly maxRetryDelaySeconds?: number
  readonly backoffScaleFactor?: number
  readonly responseTimeoutSeconds?: number
  readonly timeoutSeconds?: number
  readonly timeoutPolicy?: 'RETRY' | 'TIME_OUT_WF' | 'ALERT_ONLY'
  readonly concurrentExecLimit?: number
  readonly inputTemplate?: JsonObject
  readonly ownerEmail?: string
  readonly description?: string
}

export interface TestWorkflowTask {
  readonly name: string
  readonly taskReferenceName: string
  readonly type?: 'SIMPLE'
  readonly inputParameters?: JsonObject
  /** Overrides that of the task definition. */
  readonly retryCount?: number
  readonly startDelay?: number
}

export interface TestWorkflowDef {
  readonly name: string
  readonly version?: number
  readonly tasks: readonly TestWorkflowTask[]
  readonly inputTemplate?: JsonObject
  /** Default: the output of the last task. */
  readonly outputParameters?: JsonObject
  readonly restartable?: boolean
  readonly timeoutSeconds?: number
  readonly timeoutPolicy?: 'TIME_OUT_WF' | 'ALERT_ONLY'
  readonly schemaVersion?: 2
  readonly ownerEmail?: string
  readonly description?: string
}

/** With Conductor's defaults, which also apply to a task that is not defined. */
export type WholeTaskDef = Required<Omit<TestTaskDef, 'ownerEmail' | 'description'>>

export type WholeWorkflowDef = Required<
  Omit<TestWorkflowDef, 'ownerEmail' | 'description' | 'schemaVersion' | 'outputParameters'>
> & {
  readonly outputParameters: JsonObject | undefined
}

const TASK_DEFAULTS: Omit<WholeTaskDef, 'name'> = {
  retryCount: 3,
  retryLogic: 'FIXED',
  retryDelaySeconds: 60,
  maxRetryDelaySeconds: 0,
  backoffScaleFactor: 1,
  responseTimeoutSeconds: 3600,
  timeoutSeconds: 0,
  timeoutPolicy: 'TIME_OUT_WF',
  concurrentExecLimit: 0,
  inputTemplate: {},
}

const TASK_FIELDS: ReadonlySet<string> = new Set([
  ...['name', 'ownerEmail', 'description'],
  ...Object.keys(TASK_DEFAULTS),
])
const WORKFLOW_FIELDS: ReadonlySet<string> = new Set([
  ...['name', 'version', 'tasks', 'inputTemplate', 'outputParameters', 'restartable', 'timeoutSeconds'],
  ...['timeoutPolicy', 'schemaVersion', 'ownerEmail', 'description'],
])
const WORKFLOW_TASK_FIELDS: ReadonlySet<string> = new Set([
  'name',
  'taskReferenceName',
  'type',
  'inputParameters',
  'retryCount',
  'startDelay',
])

export function wholeTaskDef(def: TestTaskDef): WholeTaskDef {
  refuseUnknown(`task definition "${def.name}"`, def, TASK_FIELDS)
  const whole: WholeTaskDef = { ...TASK_DEFAULTS, ...def }
  if (whole.name === '') throw invalid('task definition', 'it has no name')
  if (whole.retryCount < 0) throw invalid(`task definition "${def.name}"`, 'retryCount is below 0')
  if (whole.responseTimeoutSeconds < 1)
    throw invalid(`task definition "${def.name}"`, 'responseTimeoutSeconds is below 1')
  if (whole.timeoutSeconds !== 0 && whole.responseTimeoutSeconds > whole.timeoutSeconds)
    throw invalid(`task definition "${def.name}"`, 'responseTimeoutSeconds is above timeoutSeconds')
  return whole
}

export function wholeWorkflowDef(def: TestWorkflowDef): WholeWorkflowDef {
  const what = `workflow definition "${def.name}"`
  refuseUnknown(what, def, WORKFLOW_FIELDS)
  if (def.name === '') throw invalid(what, 'it has no name')
  if (def.tasks.length === 0) throw invalid(what, 'it has no tasks')
  const refs = def.tasks.map((task) => task.taskReferenceName)
  if (new Set(refs).size !== refs.length || refs.includes(''))
    throw invalid(what, 'a taskReferenceName is missing or used twice')
  for (const task of def.tasks) {
    refuseUnknown(`${what}, task "${task.taskReferenceName}"`, task, WORKFLOW_TASK_FIELDS)
    if (task.type !== undefined && (task.type as string) !== 'SIMPLE')
      throw invalid(
        what,
        `task "${task.taskReferenceName}" is of type ${task.type}, only SIMPLE runs in process`,
      )
  }
  for (const root of rootsOf(def)) {
    if (root !== 'workflow' && root !== 'CPEWF_TASK_ID' && !refs.includes(root))
      throw invalid(what, `an expression names "${root}", which is not one of its tasks`)
  }
  return {
    name: def.name,
    version: def.version ?? 1,
    tasks: def.tasks,
    inputTemplate: def.inputTemplate ?? {},
    outputParameters: def.outputParameters,
    restartable: def.restartable ?? true,
    timeoutSeconds: def.timeoutSeconds ?? 0,
    timeoutPolicy: def.timeoutPolicy ?? 'ALERT_ONLY',
  }
}

function rootsOf(def: TestWorkflowDef): readonly string[] {
  const text = JSON.stringify([
    def.tasks.map((task) => task.inputParameters ?? {}),
    def.outputParameters ?? {},
  ])
  return [...text.matchAll(/(?<!\$)\$\{\s*([^.}[\s]+)/g)].map(([, root]) => root ?? '')
}

function refuseUnknown(what: string, value: object, known: ReadonlySet<string>): void {
  const unknown = Object.keys(value).filter((name) => !known.has(name))
  if (unknown.length > 0) throw invalid(what, `the in-process queue does not support ${unknown.join(', ')}`)
}

function invalid(what: string, why: string): InvalidError {
  return new InvalidError('task-queue/bad-definition', `register the ${what}: ${why}`)
}
