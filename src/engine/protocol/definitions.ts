/**
 * Definitions of tasks and workflows, with fields named as in Conductor. An unsupported field is refused, so that nobody relies
 * on a setting without effect. `definitions/conductor` makes graphs of workflows.
 */

import { z } from 'zod'
import { InvalidError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'

export interface TestTaskDef {
  readonly name: string
  readonly retryCount?: number
  readonly retryLogic?: 'FIXED' | 'EXPONENTIAL_BACKOFF' | 'LINEAR_BACKOFF'
  readonly retryDelaySeconds?: number
  readonly maxRetryDelaySeconds?: number
  readonly backoffScaleFactor?: number
  /** At most this much is added to each delay, at random. */
  readonly backoffJitterMs?: number
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
  /** Default: `SIMPLE`, a task that a worker polls for. */
  readonly type?: string
  readonly inputParameters?: JsonObject
  /** Overrides that of the task definition. */
  readonly retryCount?: number
  readonly startDelay?: number
  /** Those of other types, such as `forkTasks` or `decisionCases`. */
  readonly [field: string]: unknown
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

const TASK_DEFAULTS: Omit<WholeTaskDef, 'name'> = {
  retryCount: 3,
  retryLogic: 'FIXED',
  retryDelaySeconds: 60,
  maxRetryDelaySeconds: 0,
  backoffScaleFactor: 1,
  backoffJitterMs: 0,
  responseTimeoutSeconds: 3600,
  timeoutSeconds: 0,
  timeoutPolicy: 'TIME_OUT_WF',
  concurrentExecLimit: 0,
  inputTemplate: {},
}

const count = z.number().int().min(0)
const seconds = z.number().min(0)

/** As far as the engine can follow it. */
const TASK_DEF = z.strictObject({
  name: z.string().min(1, 'it has no name'),
  retryCount: z.number().int().min(0, 'retryCount is below 0'),
  retryLogic: z.enum(['FIXED', 'EXPONENTIAL_BACKOFF', 'LINEAR_BACKOFF']),
  retryDelaySeconds: seconds,
  maxRetryDelaySeconds: seconds,
  backoffScaleFactor: z.number().min(1),
  backoffJitterMs: seconds,
  responseTimeoutSeconds: z.number().min(1, 'responseTimeoutSeconds is below 1'),
  timeoutSeconds: seconds,
  timeoutPolicy: z.enum(['RETRY', 'TIME_OUT_WF', 'ALERT_ONLY']),
  concurrentExecLimit: count,
  inputTemplate: z.custom<JsonObject>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'must be an object',
  ),
})
/** For readers. */
const NOTES: readonly string[] = ['ownerEmail', 'description']

export function wholeTaskDef(def: TestTaskDef | JsonObject): WholeTaskDef {
  const { name } = def
  const what = `task definition ${JSON.stringify(name ?? '')}`
  const stated = Object.entries(def).filter(([field]) => !NOTES.includes(field))
  const read = TASK_DEF.safeParse({ ...TASK_DEFAULTS, ...Object.fromEntries(stated) })
  if (!read.success) throw invalid(what, read.error.issues.map(printIssue).join('; '))
  const whole = read.data
  if (whole.timeoutSeconds !== 0 && whole.responseTimeoutSeconds > whole.timeoutSeconds)
    throw invalid(what, 'responseTimeoutSeconds is above timeoutSeconds')
  return whole
}

function printIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `${issue.keys.join(', ')}: not supported by this engine`
  const [field = 'it'] = issue.path
  return issue.message.includes(String(field)) || field === 'name'
    ? issue.message
    : `${String(field)}: ${issue.message}`
}

function invalid(what: string, why: string): InvalidError {
  return new InvalidError('task-queue/bad-definition', `register the ${what}: ${why}`)
}
