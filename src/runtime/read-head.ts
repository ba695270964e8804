/** The head of a branch, for whoever starts work on it by its name. */

import { MissingError } from '../base/errors.ts'
import { branchName } from '../base/ids.ts'
import { readSettledHead } from '../publication/claims.ts'
import type { VersionedRepo } from '../publication/ports.ts'

export interface BranchPlace {
  readonly repository: string
  readonly branch: string
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
