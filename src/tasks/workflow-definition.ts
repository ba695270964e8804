/**
 * A workflow as its author declares it: a definition of Conductor, in which a step may refer to a declared task. Errors that
 * can be detected before run time are refused here.
 */

import { defined } from '../base/defined.ts'
import { InvalidError } from '../base/errors.ts'
import { findParallelWriters } from './parallel-writers.ts'
import type { JsonObject } from '../base/json.ts'
import { unknownKeys } from './known-keys.ts'
import type { TaskDefinition } from './task-definition.ts'
import { referencesIn, walkSteps, type WorkflowStep } from './workflow-steps.ts'

/** A step that runs a declared task; all other fields are Conductor's. */
export interface TaskStep {
  readonly task: TaskDefinition
  readonly taskReferenceName: string
  readonly inputParameters: JsonObject
  readonly retryCount?: number
  readonly startDelay?: number
  readonly optional?: boolean
}

/** Any other step in Conductor's form: `FORK_JOIN`, `JOIN`, `SWITCH`, tasks of other workers. Steps inside it may be `TaskStep`s. */
export interface PlainStep {
  readonly name: string
  readonly taskReferenceName: string
  readonly task?: never
  readonly type?: string
  readonly inputParameters?: JsonObject
  readonly forkTasks?: readonly (readonly StepInput[])[]
  readonly decisionCases?: Readonly<Record<string, readonly StepInput[]>>
  readonly defaultCase?: readonly StepInput[]
  readonly loopOver?: readonly StepInput[]
  readonly [field: string]: unknown
}

export type StepInput = TaskStep | PlainStep

export interface WorkflowInput {
  /** Under which it is registered and started: letters, digits, `_`, `-` and `.`, at most 200. */
  readonly name: string
  /** Default: 1. */
  readonly version?: number
  /** What it does, for people; none unless given. */
  readonly description?: string
  /** E-mail address of the person or team responsible for this workflow. */
  readonly owner: string
  /** The names of its inputs, as documentation. */
  readonly inputParameters?: readonly string[]
  /** Its output, with expressions such as `${load.output.result}`. Unless given: the output of its last task. */
  readonly outputParameters?: JsonObject
  /** How long an execution may take, in seconds; 0, the default, is no limit. */
  readonly timeoutSeconds?: number
  /** After the time limit: `TIME_OUT_WF`, the default if there is one, ends the execution; with `ALERT_ONLY` it goes on. */
  readonly timeoutPolicy?: 'TIME_OUT_WF' | 'ALERT_ONLY'
  /** What it runs, in this order; at least one. */
  readonly steps: readonly StepInput[]
}

/** The definition that Conductor gets, plain JSON. */
export interface WorkflowDefDocument {
  readonly name: string
  readonly version: number
  readonly description?: string
  /** Only a definition that was not declared here has none. */
  readonly ownerEmail?: string
  readonly schemaVersion: 2
  readonly restartable: boolean
  readonly inputParameters: readonly string[]
  readonly outputParameters: JsonObject
  readonly timeoutSeconds: number
  readonly timeoutPolicy: 'TIME_OUT_WF' | 'ALERT_ONLY'
  readonly tasks: readonly WorkflowStep[]
}

const WORKFLOW_KEYS = [
  ...['name', 'version', 'description', 'owner', 'inputParameters', 'outputParameters'],
  ...['timeoutSeconds', 'timeoutPolicy', 'steps'],
] as const

const WORKFLOW = Symbol.for('perago.workflow')

/** A checked workflow. */
export interface WorkflowDefinition {
  /** Marks a declared workflow, from any copy of the package. */
  readonly [WORKFLOW]: true
  /** Under which it is registered and started. */
  readonly name: string
  /** A whole number from 1. */
  readonly version: number
  /** The definition in Conductor's form, as it is registered. */
  readonly document: WorkflowDefDocument
  /** The declared tasks it refers to. */
  readonly tasks: readonly TaskDefinition[]
}

/**
 * Declares a workflow. Throws, with all problems at once, for: a reference name that is used twice, an expression that
 * refers to a missing step, a workspace task without its input, and two steps that may write a branch at the same time.
 *
 * ```ts
 * export const daily = defineWorkflow({
 *   name: 'orders.daily',
 *   owner: 'data@example.org',
 *   inputParameters: ['workspace', 'day'],
 *   steps: [
 *     {
 *       task: ingest,
 *       taskReferenceName: 'ingest',
 *       inputParameters: { workspace: '${workflow.input.workspace}', params: { day: '${workflow.input.day}' } },
 *     },
 *     { task: clean, taskReferenceName: 'clean', inputParameters: { workspace: '${ingest.output.workspace}', params: {} } },
 *   ],
 * })
 * ```
 */
export function defineWorkflow(input: WorkflowInput): WorkflowDefinition {
  const tasks = new Map<string, TaskDefinition>()
  const problems: string[] = [...unknownKeys(input, WORKFLOW_KEYS)]
  const document: WorkflowDefDocument = {
    name: input.name,
    version: input.version ?? 1,
    ...defined({ description: input.description }),
    ownerEmail: input.owner,
    schemaVersion: 2,
    restartable: true,
    inputParameters: input.inputParameters ?? [],
    outputParameters: input.outputParameters ?? {},
    timeoutSeconds: input.timeoutSeconds ?? 0,
    // A workflow without a time limit has nothing to end.
    timeoutPolicy: input.timeoutPolicy ?? (input.timeoutSeconds === undefined ? 'ALERT_ONLY' : 'TIME_OUT_WF'),
    tasks: input.steps.map((step) => plainStep(step, tasks, problems)),
  }
  problems.push(...findProblems(document, [...tasks.values()]))
  if (problems.length > 0) {
    throw new InvalidError(
      'worker/invalid-workflow',
      `declare workflow ${JSON.stringify(input.name)}: ${problems.join('; ')}`,
      { details: { problems } },
    )
  }
  return workflowOf(document, [...tasks.values()])
}

/** A workflow of a document that is checked, or that is checked when its module is read. */
export function workflowOf(
  document: WorkflowDefDocument,
  tasks: readonly TaskDefinition[] = [],
): WorkflowDefinition {
  const { name, version } = document
  return { [WORKFLOW]: true, name, version, document, tasks }
}

/** True for a declared workflow, from any copy of the package. */
export function isWorkflowDefinition(value: unknown): value is WorkflowDefinition {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[WORKFLOW] === true
}

/** The problems of a workflow, given the declared tasks it refers to. */
export function findProblems(
  document: WorkflowDefDocument,
  tasks: readonly TaskDefinition[],
): readonly string[] {
  const byName = new Map(tasks.map((task) => [task.name, task]))
  const steps = walkSteps(document.tasks)
  return [
    ...findNameProblems(document),
    ...findTwice(steps),
    ...findUnknownReferences(document, steps),
    ...steps.flatMap((step) => findInputProblems(step, byName.get(step.name))),
    ...findParallelWriters(document.tasks, byName),
  ]
}

const MAIL = /^[^\s@]+@[^\s@]+$/

function findNameProblems(document: WorkflowDefDocument): readonly string[] {
  const { name, version, ownerEmail, tasks } = document
  return [
    ...(/^[\w.-]{1,200}$/.test(name)
      ? []
      : [`name ${JSON.stringify(name)}: must have letters, digits, "_", "-" and ".", at most 200`]),
    ...(Number.isInteger(version) && version > 0
      ? []
      : [`version ${version}: must be a whole number from 1 on`]),
    ...(!('ownerEmail' in document) || MAIL.test(String(ownerEmail))
      ? []
      : [`owner ${JSON.stringify(ownerEmail)}: must be an e-mail address`]),
    ...(tasks.length === 0 ? ['steps: there must be at least one'] : []),
  ]
}

function findTwice(steps: readonly WorkflowStep[]): readonly string[] {
  const names = steps.map(({ taskReferenceName }) => taskReferenceName)
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))].map(
    (name) => `taskReferenceName "${name}" is used twice`,
  )
}

/** The server refuses these too, but only when the definition is registered. */
function findUnknownReferences(
  document: WorkflowDefDocument,
  steps: readonly WorkflowStep[],
): readonly string[] {
  const known = new Set([
    'workflow',
    'CPEWF_TASK_ID',
    ...steps.map(({ taskReferenceName }) => taskReferenceName),
  ])
  const inSteps = steps.flatMap((step) =>
    referencesIn(step.inputParameters).map((root) => ({ root, where: step.taskReferenceName })),
  )
  const inOutput = referencesIn(document.outputParameters).map((root) => ({
    root,
    where: 'outputParameters',
  }))
  return [...inSteps, ...inOutput]
    .filter(({ root }) => !known.has(root))
    .map(({ root, where }) => `${where}: an expression names "${root}", which is not a step of it`)
}

function findInputProblems(step: WorkflowStep, task: TaskDefinition | undefined): readonly string[] {
  if (task === undefined) return []
  const wanted = task.workspace === undefined ? ['params'] : ['workspace', 'params']
  return wanted
    .filter((name) => step.inputParameters?.[name] === undefined)
    .map(
      (name) =>
        `${step.taskReferenceName}: inputParameters has no "${name}", which task "${task.name}" reads`,
    )
}

function plainStep(step: StepInput, tasks: Map<string, TaskDefinition>, problems: string[]): WorkflowStep {
  const nested = (steps: readonly StepInput[]): readonly WorkflowStep[] =>
    steps.map((inner) => plainStep(inner, tasks, problems))
  if (step.task !== undefined) {
    const { task, ...rest } = step
    const known = tasks.get(task.name)
    if (known !== undefined && known !== task) problems.push(`two tasks are named "${task.name}"`)
    tasks.set(task.name, task)
    return { name: task.name, type: 'SIMPLE', ...rest }
  }
  const { forkTasks, decisionCases, defaultCase, loopOver, ...rest } = step
  return {
    type: 'SIMPLE',
    ...rest,
    ...defined({
      forkTasks: forkTasks?.map(nested),
      decisionCases:
        decisionCases &&
        Object.fromEntries(Object.entries(decisionCases).map(([value, steps]) => [value, nested(steps)])),
      defaultCase: defaultCase && nested(defaultCase),
      loopOver: loopOver && nested(loopOver),
    }),
  }
}
