/**
 * The form of Conductor's workflow definitions, as far as the engine can run them. What is not supported is refused, so that
 * nobody relies on a setting without effect; a field that says nothing, such as an empty list, is passed over.
 */

import { z } from 'zod'
import type { Json, JsonObject } from '../../../base/json.ts'

export interface WorkflowDocument {
  readonly name: string
  readonly version: number
  readonly tasks: readonly WorkflowTask[]
  readonly inputTemplate: JsonObject
  readonly outputParameters: JsonObject
  readonly restartable: boolean
  readonly timeoutSeconds: number
  readonly timeoutPolicy: 'TIME_OUT_WF' | 'ALERT_ONLY'
}

interface TaskBase {
  readonly taskReferenceName: string
  readonly inputParameters: JsonObject
  readonly optional?: boolean | undefined
}

interface BodyOfType {
  readonly SIMPLE: {
    readonly name: string
    readonly retryCount?: number | undefined
    readonly startDelay?: number | undefined
  }
  readonly FORK_JOIN: { readonly forkTasks: readonly (readonly WorkflowTask[])[] }
  readonly JOIN: { readonly joinOn: readonly string[] }
  readonly SWITCH: {
    readonly evaluatorType: string
    readonly expression: string
    readonly decisionCases: Readonly<Record<string, readonly WorkflowTask[]>>
    readonly defaultCase: readonly WorkflowTask[]
  }
  readonly DO_WHILE: { readonly loopCondition: string; readonly loopOver: readonly WorkflowTask[] }
  readonly SUB_WORKFLOW: {
    readonly subWorkflowParam: { readonly name: string; readonly version?: number | undefined }
  }
  readonly SET_VARIABLE: object
  readonly TERMINATE: object
  readonly WAIT: object
  readonly HUMAN: object
  readonly NOOP: object
}

export type TaskType = keyof BodyOfType
export type TaskOf<T extends TaskType> = { readonly type: T } & TaskBase & BodyOfType[T]
export type WorkflowTask = { [T in TaskType]: TaskOf<T> }[TaskType]

export type WorkflowReading =
  | { readonly document: WorkflowDocument; readonly problems: readonly [] }
  | { readonly document: undefined; readonly problems: readonly string[] }

/** Everything in which a value is not a definition that can be run, at once. */
export function readWorkflowDocument(value: unknown): WorkflowReading {
  const read = WORKFLOW.safeParse(value)
  if (read.success) return { document: read.data, problems: [] }
  return { document: undefined, problems: read.error.issues.map(printIssue) }
}

/** Every task at any depth, in order. */
export function walkTasks(tasks: readonly WorkflowTask[]): readonly WorkflowTask[] {
  return tasks.flatMap((task) => [task, ...listsInside(task).flatMap(walkTasks)])
}

function listsInside(task: WorkflowTask): readonly (readonly WorkflowTask[])[] {
  if (task.type === 'FORK_JOIN') return task.forkTasks
  if (task.type === 'SWITCH') return [...Object.values(task.decisionCases), task.defaultCase]
  return task.type === 'DO_WHILE' ? [task.loopOver] : []
}

const text = z.string().min(1, 'must not be empty')
const json = z.custom<Json>((value) => value !== undefined)
const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), json)
const tasks: z.ZodType<readonly WorkflowTask[]> = z.lazy(() => z.array(TASK))
const someTasks = z.lazy(() => z.array(TASK).min(1, 'must have at least one task'))

/** Clients send every field that they know, with these where nothing was written. */
function saysNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === '' || value === 0) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** An object of these fields; others may only say nothing, or be about something else than a run. */
function fieldsOf<Shape extends z.ZodRawShape>(shape: Shape, notes: readonly string[]) {
  const passedOver = new Set(notes)
  return z.preprocess((value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    const isKept = ([name, field]: [string, unknown]): boolean =>
      Object.hasOwn(shape, name) ? field !== null && field !== undefined : !saysNothing(field)
    return Object.fromEntries(
      Object.entries(value).filter((entry) => !passedOver.has(entry[0]) && isKept(entry)),
    )
  }, z.strictObject(shape))
}

const BASE = {
  taskReferenceName: text,
  inputParameters: jsonObject.default({}),
  optional: z.boolean().optional(),
}
/** How Conductor polls a JOIN is of no account here: a JOIN ends as soon as it can. */
const TASK_NOTES = ['description', 'joinMode']
const whole = z.number().int().min(0)

const BODIES = {
  SIMPLE: { name: text, retryCount: whole.optional(), startDelay: whole.optional() },
  FORK_JOIN: { forkTasks: z.array(someTasks).min(1, 'must have at least one branch') },
  JOIN: { joinOn: z.array(text).default([]) },
  SWITCH: {
    evaluatorType: text,
    expression: text,
    decisionCases: z.record(z.string(), tasks).default({}),
    defaultCase: tasks.default([]),
  },
  DO_WHILE: { loopCondition: text, loopOver: someTasks },
  SUB_WORKFLOW: {
    subWorkflowParam: fieldsOf({ name: text, version: z.number().int().min(1).optional() }, []),
  },
  SET_VARIABLE: {},
  TERMINATE: {},
  WAIT: {},
  HUMAN: {},
  NOOP: {},
} as const satisfies Record<TaskType, z.ZodRawShape>

const TYPES: readonly string[] = Object.keys(BODIES)

const BY_TYPE = Object.fromEntries(
  Object.entries(BODIES).map(([type, body]) => {
    // Units without a worker have a name too; it says nothing.
    const notes = type === 'SIMPLE' ? TASK_NOTES : [...TASK_NOTES, 'name']
    return [type, fieldsOf({ type: z.literal(type), ...BASE, ...body }, notes)] as const
  }),
)

const TASK: z.ZodType<WorkflowTask> = z.unknown().transform((value, context) => {
  const given = typeof value === 'object' && value !== null ? (value as { readonly type?: unknown }).type : ''
  const type = given === undefined || given === null || given === '' ? 'SIMPLE' : given
  const form = typeof type === 'string' && Object.hasOwn(BY_TYPE, type) ? BY_TYPE[type] : undefined
  if (form === undefined) {
    const message = `tasks of type ${typeof type === 'string' ? type : JSON.stringify(type)} are not supported; those that are: ${TYPES.join(', ')}`
    context.issues.push({ code: 'custom', message, input: value })
    return z.NEVER
  }
  const read = form.safeParse(typeof value === 'object' ? { ...value, type } : value)
  if (read.success) return read.data as unknown as WorkflowTask
  for (const issue of read.error.issues) context.issues.push({ ...issue, input: value } as never)
  return z.NEVER
})

/** Fields that tell people and tools something, and change nothing about a run. */
const WORKFLOW_NOTES = [
  ...['description', 'ownerEmail', 'ownerApp', 'createTime', 'updateTime', 'createdBy', 'updatedBy'],
  ...['accessPolicy', 'inputParameters', 'inputSchema', 'outputSchema', 'enforceSchema', 'metadata'],
  'workflowStatusListenerEnabled',
]

const WORKFLOW = fieldsOf(
  {
    name: z.string().default(''),
    version: z.number().int().min(1).default(1),
    schemaVersion: z.literal(2).optional(),
    tasks: someTasks,
    inputTemplate: jsonObject.default({}),
    outputParameters: jsonObject.default({}),
    restartable: z.boolean().default(true),
    timeoutSeconds: whole.default(0),
    timeoutPolicy: z.enum(['TIME_OUT_WF', 'ALERT_ONLY']).default('ALERT_ONLY'),
  },
  WORKFLOW_NOTES,
)

function printIssue(issue: z.core.$ZodIssue): string {
  const path = issue.path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
  const where = path === '' ? '' : `${path.replace(/^\./, '')}: `
  if (issue.code === 'unrecognized_keys')
    return `${where}the engine does not support ${issue.keys.join(', ')}`
  return where + issue.message
}
