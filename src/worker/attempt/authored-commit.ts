/** Message and metadata of the commit as the task's author wants them. Called before anything is staged. */

import { InvalidError, messageOf } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import { originOf } from '../../base/error-origin.ts'
import { authorCommit, type AuthoredCommit } from '../../tasks/commit-spec.ts'
import { readWith } from '../../tasks/task-definition.ts'
import type { AttemptState } from './attempt-state.ts'

/** Without secrets: everybody reads them who reads the repository. */
export async function authoredCommit(
  { task, info, redactor }: AttemptState,
  given: { readonly params: Json; readonly result: Json },
): Promise<AuthoredCommit | undefined> {
  if (task.commit === undefined) return undefined
  const params = await readWith(task.params, given.params, { task: task.name, side: 'params' })
  let authored: ReturnType<typeof authorCommit>
  try {
    authored = authorCommit(task.commit, { params, result: given.result, attempt: info })
  } catch (error) {
    throw invalid(task.name, [messageOf(error)], error)
  }
  const { message, metadata, problems } = authored
  if (problems.length > 0) throw invalid(task.name, problems)
  return {
    message: message === undefined ? undefined : redactor.text(message),
    metadata: Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, redactor.text(value)])),
  }
}

function invalid(task: string, problems: readonly string[], cause?: unknown): InvalidError {
  const where = originOf(cause)
  return new InvalidError(
    'worker/invalid-commit',
    `make the commit of task "${task}": ${problems.join('; ')}`,
    {
      details: { problems },
      cause,
      next: `Correct "commit" in the declaration of the task${where === undefined ? '' : `, at ${where}`}.`,
    },
  )
}
