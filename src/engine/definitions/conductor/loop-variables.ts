/** What `$.name` means in the condition of a DO_WHILE: the output of a task in the loop, or an input of the loop. */

import { referencesIn, wholeExpression } from '../../../tasks/workflow-steps.ts'
import type { FindVariable } from './loop-condition.ts'
import { walkTasks, type TaskOf } from './workflow-document.ts'

export function parameterFinder(loop: TaskOf<'DO_WHILE'>): FindVariable {
  const { taskReferenceName: own, inputParameters, loopOver } = loop
  const inside = new Set([own, ...walkTasks(loopOver).map(({ taskReferenceName }) => taskReferenceName)])
  return ([first = '', second]) => {
    if (inside.has(first)) {
      if (second === undefined) return 'is the whole output of a task; name a part of it'
      return named(`${first}.${second}`, 2)
    }
    const value = inputParameters[first]
    if (value === undefined)
      return 'is neither a task of the loop nor one of its inputParameters; add it to these'
    if (!referencesIn({ value }).some((root) => inside.has(root))) return named(`${own}.${first}`, 1)
    // The inputs of a loop are read when it begins: what changes with every iteration is read where it is.
    const [, task = '', key = ''] =
      /^([^.[\]]+)\.output\.([^.[\]]+)$/.exec(wholeExpression(value) ?? '') ?? []
    return inside.has(task)
      ? named(`${task}.${key}`, 1)
      : `is ${JSON.stringify(value)}, which changes in the loop; only an expression such as \${TASK.output.NAME} is supported`
  }
}

/** Names of variables are more limited than keys of outputs. */
function named(variable: string, steps: number): ReturnType<FindVariable> {
  return /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/.test(variable)
    ? { variable, steps }
    : `has a name that conditions cannot read: letters, digits, "_" and "-" are possible`
}
