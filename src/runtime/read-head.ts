/** The head of a branch, for whoever starts work on it by its name. */

import { MissingError } from '../base/errors.ts'
import { branchName, repositoryName } from '../base/ids.ts'
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

/** From the configured lakeFS. Throws `runtime/no-such-branch`. */
export async function readHead(
  configuration: PeragoConfiguration,
  { repository, branch }: BranchPlace,
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<string> {
  const client = openLakefs(configuration, { logger, connections: 1 })
  try {
    return await headOf(openLakefsRepo(client, repositoryName(repository)), branch, signal)
  } finally {
    await client.close()
  }
}

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
