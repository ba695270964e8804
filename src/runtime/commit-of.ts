/** The commit that work begins on, for whoever names it otherwise than by its id. */

import { MissingError } from '../base/errors.ts'
import { isBranchName, isCommitRef, repositoryName } from '../base/ids.ts'
import type { LakefsClient } from '../lakefs/client.ts'
import { resolveRef } from '../lakefs/resolve-ref.ts'
import { openLakefsRepo } from '../lakefs/versioned-repo.ts'
import { headOf, type BranchPlace } from './read-head.ts'

/** Of any name of it; the head of the branch without one. Throws `runtime/no-such-branch` and `runtime/no-such-commit`. */
export async function commitOf(
  client: LakefsClient,
  { repository, branch, ref }: BranchPlace & { readonly ref?: string | undefined },
  signal: AbortSignal,
): Promise<string> {
  const name = repositoryName(repository)
  const repo = openLakefsRepo(client, name)
  if (ref === undefined) return headOf(repo, branch, signal)
  if (isCommitRef(ref)) return ref
  // As lakeFS resolves it: a branch comes before anything else of that name.
  const isBranch = isBranchName(ref) && (await repo.readBranch(ref, { signal })) !== undefined
  const found = isBranch
    ? await headOf(repo, ref, signal)
    : await resolveRef(client, { repository: name, ref }, { signal })
  if (found !== undefined) return found
  throw new MissingError(
    'runtime/no-such-commit',
    `read ref ${JSON.stringify(ref)} of "${repository}": no branch, tag or commit has that name`,
    {
      next: 'Correct it, or leave it out for the head of the branch; of a commit id give at least four digits.',
    },
  )
}
