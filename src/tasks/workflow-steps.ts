/** The steps of a workflow definition in Conductor's form, and functions to walk them. */

import type { Json, JsonObject } from '../base/json.ts'

export interface WorkflowStep {
  readonly name: string
  readonly taskReferenceName: string
  /** Default: `SIMPLE`, a task that a worker polls for. */
  readonly type?: string
  readonly inputParameters?: JsonObject
  readonly forkTasks?: readonly (readonly WorkflowStep[])[]
  readonly decisionCases?: Readonly<Record<string, readonly WorkflowStep[]>>
  readonly defaultCase?: readonly WorkflowStep[]
  readonly loopOver?: readonly WorkflowStep[]
  readonly joinOn?: readonly string[]
  readonly [field: string]: unknown
}

/** Every step at any depth, in order. */
export function walkSteps(steps: readonly WorkflowStep[]): readonly WorkflowStep[] {
  return steps.flatMap((step) => [step, ...rowsInside(step).flatMap(walkSteps)])
}

/** The rows of steps directly inside a step. */
export function rowsInside(step: WorkflowStep): readonly (readonly WorkflowStep[])[] {
  return [
    ...(step.forkTasks ?? []),
    ...Object.values(step.decisionCases ?? {}),
    step.defaultCase ?? [],
    step.loopOver ?? [],
  ]
}

/** The first names of the expressions in a value: `workflow`, or the reference name of a step. */
export function referencesIn(value: JsonObject | undefined): readonly string[] {
  const text = JSON.stringify(value ?? {})
  return [...text.matchAll(/(?<!\$)\$\{\s*([^.}[\s]+)/g)].map(([, root]) => root ?? '')
}

/** The expression, without braces, of a value that is exactly one; otherwise `undefined`. */
export function wholeExpression(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? /^\$\{\s*([^{}]+?)\s*\}$/.exec(value)?.[1] : undefined
}
