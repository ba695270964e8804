/** The commit that work begins on, for whoever names it otherwise than by its id. */

import { MissingError } from '../base/errors.ts'
import { isBranchName, repositoryName } from '../base/ids.ts'
import type { Logger } from '../base/logger.ts'
import type { LakefsClient } from '../lakefs/client.ts'
import { resolveRef } from '../lakefs/resolve-ref.ts'
import { openLakefsRepo } from '../lakefs/versioned-repo.ts'
import type { PeragoConfiguration } from './configuration/configuration.ts'
import { openLakefs } from './connections/lakefs-connection.ts'
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

/** Where work starts that names a branch, and perhaps a commit. */
export interface StartPlace {
  readonly ref: string
  readonly head: string
}

/** The same from the configured lakeFS, with the head of the branch. */
export async function readStartPlace(
  configuration: PeragoConfiguration,
  place: BranchPlace & { readonly ref: string | undefined },
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<StartPlace> {
  const client = openLakefs(configuration, { logger, connections: 1 })
  try {
    const head = await commitOf(client, { ...place, ref: undefined }, signal)
    return { head, ref: place.ref === undefined ? head : await commitOf(client, place, signal) }
  } finally {
    await client.close()
  }
}
