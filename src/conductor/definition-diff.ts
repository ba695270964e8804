/**
 * How a declared definition differs from the one on the server. Pure.
 *
 * An update replaces everything, so a field that is not declared becomes the server's default: those defaults, as
 * Conductor 3.32.3 fills them in, are part of the comparison. A field that is neither declared nor known here is
 * ignored, so that a newer server is not a difference.
 */

import type { components } from './generated/conductor-api.ts'

/** The JSON Schema of a task's input or output; the contract does not name these fields. */
interface TaskSchema {
  readonly data: unknown
}

export type TaskDef = components['schemas']['TaskDef'] & {
  readonly inputSchema?: TaskSchema
  readonly outputSchema?: TaskSchema
}
export type WorkflowDef = components['schemas']['WorkflowDef']

export interface FieldChange {
  /** Such as `retryCount` or `tasks[0].inputParameters`. */
  readonly field: string
  readonly registered: unknown
  readonly declared: unknown
}

const SCHEMA_FIELDS = ['inputSchema', 'outputSchema'] as const
type SchemaField = (typeof SCHEMA_FIELDS)[number]

const TASK_DEF_DEFAULTS = {
  description: undefined,
  ownerEmail: undefined,
  retryCount: 3,
  retryLogic: 'FIXED',
  retryDelaySeconds: 60,
  maxRetryDelaySeconds: 0,
  backoffScaleFactor: 1,
  backoffJitterMs: 0,
  responseTimeoutSeconds: 3600,
  timeoutSeconds: 0,
  totalTimeoutSeconds: 0,
  // Absent on the server unless it was set, and 0 means the same.
  pollTimeoutSeconds: 0,
  timeoutPolicy: 'TIME_OUT_WF',
  concurrentExecLimit: 0,
  rateLimitPerFrequency: 0,
  rateLimitFrequencyInSeconds: 1,
  inputKeys: [],
  outputKeys: [],
  inputTemplate: {},
} as const satisfies Record<Exclude<keyof TaskDef, 'name' | SchemaField>, unknown>

const WORKFLOW_DEF_DEFAULTS = {
  description: undefined,
  ownerEmail: undefined,
  version: 1,
  schemaVersion: 2,
  restartable: true,
  timeoutPolicy: 'ALERT_ONLY',
  timeoutSeconds: 0,
  failureWorkflow: undefined,
  inputParameters: [],
  outputParameters: {},
  inputTemplate: {},
  variables: {},
} as const

const WORKFLOW_TASK_DEFAULTS = {
  type: 'SIMPLE',
  inputParameters: {},
  decisionCases: {},
  defaultCase: [],
  forkTasks: [],
  startDelay: 0,
  joinOn: [],
  optional: false,
  defaultExclusiveJoinTask: [],
  asyncComplete: false,
  loopOver: [],
  permissive: false,
} as const

/** Where a workflow task holds further ones, at whatever depth of lists and maps. */
const NESTED_TASKS: ReadonlySet<string> = new Set(['decisionCases', 'defaultCase', 'forkTasks', 'loopOver'])

type Fields = Readonly<Record<string, unknown>>

export function diffTaskDef(declared: TaskDef, registered: TaskDef): readonly FieldChange[] {
  const rest = Object.fromEntries(Object.entries(declared).filter(([name]) => !isSchemaField(name)))
  return [
    ...diffFields({ path: '', declared: rest, registered, defaults: TASK_DEF_DEFAULTS }),
    ...SCHEMA_FIELDS.flatMap((field) => diffSchema(field, declared[field], registered[field])),
  ]
}

/** Whether a difference is one of schemas, which tell people and tools what a task takes, and change nothing of a run. */
export function isSchemaChange({ field }: FieldChange): boolean {
  return isSchemaField(field)
}

function isSchemaField(name: string): boolean {
  return SCHEMA_FIELDS.some((field) => field === name)
}

/** One that is not declared is not compared. The server adds times to what it was given. */
function diffSchema(field: string, declared?: TaskSchema, registered?: TaskSchema): FieldChange[] {
  if (declared === undefined || isEqual(declared.data, registered?.data)) return []
  return [{ field, registered: registered?.data, declared: declared.data }]
}

export function diffWorkflowDef(declared: WorkflowDef, registered: WorkflowDef): readonly FieldChange[] {
  const { tasks: declaredTasks, ...declaredRest } = declared
  const { tasks: registeredTasks, ...registeredRest } = registered
  return [
    ...diffFields({
      path: '',
      declared: declaredRest,
      registered: registeredRest,
      defaults: WORKFLOW_DEF_DEFAULTS,
    }),
    ...diffTasks('tasks', declaredTasks, registeredTasks),
  ]
}

function diffFields(request: {
  readonly path: string
  readonly declared: Fields
  readonly registered: Fields
  readonly defaults: Fields
}): FieldChange[] {
  const { path, declared, registered, defaults } = request
  const names = new Set([...Object.keys(defaults), ...Object.keys(declared)])
  return [...names].flatMap((name) => {
    const field = path === '' ? name : `${path}.${name}`
    const wanted = declared[name] ?? defaults[name]
    const present = registered[name] ?? defaults[name]
    if (NESTED_TASKS.has(name)) return diffTasks(field, wanted, present)
    return isEqual(wanted, present) ? [] : [{ field, registered: present, declared: wanted }]
  })
}

/** Lists and maps are walked down to the workflow tasks in them, which are compared with their own defaults. */
function diffTasks(field: string, declared: unknown, registered: unknown): FieldChange[] {
  if (isFields(declared) && isFields(registered)) {
    if ('taskReferenceName' in declared && 'taskReferenceName' in registered)
      return diffFields({ path: field, declared, registered, defaults: WORKFLOW_TASK_DEFAULTS })
    if (Object.keys(declared).sort().join('\n') === Object.keys(registered).sort().join('\n'))
      return Object.keys(declared).flatMap((name) =>
        diffTasks(`${field}.${name}`, declared[name], registered[name]),
      )
  }
  if (Array.isArray(declared) && Array.isArray(registered) && declared.length === registered.length)
    return declared.flatMap((item: unknown, index) =>
      diffTasks(`${field}[${index}]`, item, registered[index] as unknown),
    )
  return isEqual(declared, registered) ? [] : [{ field, registered, declared }]
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Equal as JSON: the order of keys does not matter, and `undefined` is absent. */
function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isEqual(item, b[index]))
  if (!isFields(a) || !isFields(b)) return false
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...names].every((name) => isEqual(a[name], b[name]))
}
