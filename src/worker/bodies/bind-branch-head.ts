/** The built-in task that reads the head of a branch, as this worker runs it. */

import { errorKindOf, messageOf } from '../../base/errors.ts'
import { branchName, repositoryName, type RepositoryName } from '../../base/ids.ts'
import { readSettledHead } from '../../publication/claims.ts'
import type { VersionedRepo } from '../../publication/ports.ts'
import { TerminalError } from '../../tasks/author-errors.ts'
import { branchHeadOver, isBranchHead } from '../../tasks/branch-head.ts'
import type { TaskDefinition } from '../../tasks/task-definition.ts'

/** Any other task stays as it is. */
export function bindBranchHead(
  task: TaskDefinition,
  openRepo: (repository: RepositoryName) => VersionedRepo,
): TaskDefinition {
  if (!isBranchHead(task)) return task
  const { body } = branchHeadOver(async ({ repository, branch }, signal) => {
    // A claim that was left there is collapsed, so that no work begins on a commit that leaves the branch.
    const head = await readHead(openRepo, { repository, branch, signal })
    if (head !== undefined) return head.ref
    throw new TerminalError(`read branch "${branch}" of "${repository}": it does not exist`, {
      next: 'Correct the name, or create the branch.',
    })
  })
  return { ...task, body }
}

async function readHead(
  openRepo: (repository: RepositoryName) => VersionedRepo,
  place: { readonly repository: string; readonly branch: string; readonly signal: AbortSignal },
) {
  const { repository, branch, signal } = place
  try {
    return await readSettledHead(openRepo(repositoryName(repository)), branchName(branch), { signal })
  } catch (error) {
    const kind = errorKindOf(error)
    if (kind !== 'missing' && kind !== 'invalid') throw error
    // Neither a name that is wrong nor a repository that is not there gets right by a retry.
    throw new TerminalError(messageOf(error), { cause: error })
  }
}
