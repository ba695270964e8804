/** What every operation on one repository needs, and how a "not found" is told apart. */

import { MissingError } from '../base/errors.ts'
import type { BranchName, CommitRef, RepositoryName } from '../base/ids.ts'
import type { CallOptions } from '../publication/ports.ts'
import type { LakefsClient } from './client.ts'
import { toCommit } from './readers.ts'

export interface RepoContext {
  readonly client: LakefsClient
  readonly repository: RepositoryName
}

/**
 * To be asked after a 404: the server says the same for a missing repository as for what is missing inside it. Throws
 * when it is the repository.
 */
export async function missingRepository(
  { client, repository }: RepoContext,
  options: CallOptions,
): Promise<void> {
  const result = await client.calls.json(
    { operation: 'getRepository', target: { repository }, signal: options.signal },
    (api, init) => api.GET('/repositories/{repository}', { ...init, params: { path: { repository } } }),
    () => undefined,
  )
  if (result.is === 'done') return
  throw new MissingError('lakefs/no-such-repository', `repository ${repository}: there is none`, {
    details: { repository },
    next: 'Create the repository, or correct its name.',
  })
}

/** As above, for what is missing at a ref: throws when it is the ref itself, or the repository. */
export async function missingRef(
  context: RepoContext,
  ref: CommitRef | BranchName,
  options: CallOptions,
): Promise<void> {
  const { client, repository } = context
  const result = await client.calls.json(
    { operation: 'getCommit', target: { repository, ref }, signal: options.signal },
    (api, init) =>
      api.GET('/repositories/{repository}/commits/{commitId}', {
        ...init,
        params: { path: { repository, commitId: ref } },
      }),
    toCommit,
  )
  if (result.is === 'done') return
  await missingRepository(context, options)
  throw new MissingError('lakefs/no-such-ref', `ref ${ref} of ${repository}: there is none`, {
    details: { repository, ref },
    next: 'Check the name of the branch or the id of the commit.',
  })
}
