/** The input of a task: read as a whole, before anything is laid out. */

import { InvalidError } from '../../base/errors.ts'
import { readGivenParams } from '../../tasks/given-params.ts'
import { UNKNOWN_PARAMS_SHOWN } from '../../tasks/limits.ts'
import { readWith } from '../../tasks/task-definition.ts'
import type { AttemptState } from './attempt-state.ts'
import { readTaskInput, type TaskInput } from './task-input.ts'
import { toJson } from './to-json.ts'

export async function readInput(state: AttemptState): Promise<TaskInput> {
  const { task, readInput: read } = state
  const input = readTaskInput(read(), { workspace: task.workspace !== undefined })
  const given = readGivenParams(task.params, input.params)
  if (given.unknown.length > 0) reportUnknown(state, given.unknown)
  const params = await readWith(task.params, given.params, { task: task.name, side: 'params' })
  // A function reads its parameters itself, where it runs: what a schema makes of them need not be JSON.
  return { ...input, params: task.body.kind === 'command' ? toJson(params, task) : given.params }
}

/** A schema leaves unknown keys out, and a misspelt one would lose its value without a word. */
function reportUnknown({ task, log }: AttemptState, problems: readonly string[]): void {
  const { unknownParams } = task.controls
  if (unknownParams === 'ignore') return
  const more = problems.length - UNKNOWN_PARAMS_SHOWN
  const shown = problems.slice(0, UNKNOWN_PARAMS_SHOWN).join('; ') + (more > 0 ? `; and ${more} more` : '')
  if (unknownParams === 'tell') {
    log.logger.warn(`the task does not read all of its parameters: ${shown}`)
    return
  }
  throw new InvalidError('worker/invalid-params', `read the parameters of task "${task.name}": ${shown}`, {
    details: { problems },
    next: 'Correct inputParameters in the workflow definition, or add the parameter to the schema of the task.',
  })
}
