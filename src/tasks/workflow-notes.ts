/** What a workflow gives its tasks that is no mistake and may surprise. */

import { paramKeysOf, type ParamKey } from './given-params.ts'
import type { TaskDefinition } from './task-definition.ts'
import type { WorkflowDefDocument } from './workflow-definition.ts'
import { walkSteps, wholeExpression, type WorkflowStep } from './workflow-steps.ts'

/** One sentence each, with the reference name of the step. */
export function findNotes(
  document: Pick<WorkflowDefDocument, 'tasks'>,
  tasks: readonly TaskDefinition[],
): readonly string[] {
  const byName = new Map(tasks.map((task) => [task.name, task]))
  return walkSteps(document.tasks).flatMap((step) => {
    const task = byName.get(step.name)
    return task === undefined ? [] : notesOf(step, task)
  })
}

function notesOf(
  { taskReferenceName, inputParameters }: WorkflowStep,
  task: TaskDefinition,
): readonly string[] {
  const { unknownParams } = task.controls
  return paramKeysOf(task.params, inputParameters?.['params'] ?? null).flatMap((key) =>
    [describeAbsent(key), unknownParams === 'ignore' ? undefined : describeUnknown(key, unknownParams)]
      .filter((note) => note !== undefined)
      .map((note) => `${taskReferenceName}: ${note}`),
  )
}

const UNKNOWN = { tell: 'the task does not read it', refuse: 'the task is refused with it' } as const

function describeUnknown({ unknown }: ParamKey, unknownParams: keyof typeof UNKNOWN): string | undefined {
  return unknown && `${unknown}; ${UNKNOWN[unknownParams]}`
}

function describeAbsent({ path, value, isAbsentAsNull, default: fallback }: ParamKey): string | undefined {
  const expression = wholeExpression(value)
  if (typeof value !== 'string' || !isAbsentAsNull || expression === undefined) return undefined
  if (!/^workflow\.input\b/.test(expression)) return undefined
  const then =
    fallback === undefined ? 'the task goes without it' : `its default is ${JSON.stringify(fallback)}`
  return `${path} is ${value}, null if the workflow is started without it: null counts as absent, ${then}`
}
