/** The head of a branch, for whoever starts work on it by its name. */

import { MissingError } from '../base/errors.ts'
import { branchName, repositoryName, type CommitRef } from '../base/ids.ts'
import type { Logger } from '../base/logger.ts'
import { openLakefsRepo } from '../lakefs/versioned-repo.ts'
import { readSettledHead } from '../publication/claims.ts'
import type { VersionedRepo } from '../publication/ports.ts'
import type { PeragoConfiguration } from './configuration/configuration.ts'
import { openLakefs } from './connections/lakefs-connection.ts'

export interface BranchPlace {
  readonly repository: string
  readonly branch: string
}

/** Where work starts that names a branch, and perhaps a commit. */
export interface StartPlace {
  readonly ref: string
  readonly head: string
}

/**
 * The commit that is named: its id, the first digits of it, a tag, or anything else that lakeFS takes for a commit; the head of the
 * branch where nothing is. Throws `runtime/no-such-branch` and `runtime/no-such-commit`.
 */
export async function readStartPlace(
  configuration: PeragoConfiguration,
  { repository, branch, ref }: BranchPlace & { readonly ref: string | undefined },
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<StartPlace> {
  const client = openLakefs(configuration, { logger, connections: 1 })
  try {
    const repo = openLakefsRepo(client, repositoryName(repository))
    const head = await headOf(repo, branch, signal)
    if (ref === undefined) return { ref: head, head }
    // lakeFS answers what a name stands for where it is asked for a commit.
    const found = NAMES.test(ref) ? await repo.readCommit(ref as CommitRef, { signal }) : undefined
    if (found !== undefined) return { ref: found.ref, head }
    throw new MissingError(
      'runtime/no-such-commit',
      `read commit "${ref}" of "${repository}": it does not exist`,
      {
        next: 'Give more digits of its id, or leave it out to work on the head of the branch.',
      },
    )
  } finally {
    await client.close()
  }
}

const NAMES = /^[\w.-]+$/

/** After a claim that was left there is collapsed, so that no work begins on a commit that leaves the branch. Throws `runtime/no-such-branch`. */
export async function headOf(repo: VersionedRepo, branch: string, signal: AbortSignal): Promise<string> {
  const found = await readSettledHead(repo, branchName(branch), { signal })
  if (found !== undefined) return found.ref
  throw new MissingError(
    'runtime/no-such-branch',
    `read branch "${branch}" of "${repo.repository}": it does not exist`,
    { next: 'Correct the name, or create the branch.' },
  )
}
