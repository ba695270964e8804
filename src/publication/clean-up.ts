/** Removes staging branches: the publication's own, and those that former attempts left behind. */

import type { BranchName } from '../base/ids.ts'
import { PUBLICATION_CLEANUP_MS } from './limits.ts'
import type { BranchHead, CallOptions, VersionedRepo } from './ports.ts'
import type { Session } from './session.ts'
import { stagingPrefix } from './staging-name.ts'

/** Never throws: the result is decided by now. What is left behind is collected later. */
export async function removeStaging(
  session: Pick<Session, 'steps' | 'repo' | 'repeat'> & { readonly stagingBranch: BranchName },
): Promise<void> {
  const { steps, repo, stagingBranch, repeat } = session
  // The attempt may have been aborted; its branch is removed all the same.
  const signal = AbortSignal.timeout(PUBLICATION_CLEANUP_MS)
  let isLost = false
  const remove = async (call: CallOptions): Promise<void> => {
    // A server that was away has to be back first.
    if (isLost && (await repo.readBranch(stagingBranch, call)) === undefined) return
    isLost = true
    await repo.deleteBranch(stagingBranch, call)
  }
  // The observer is told of a failure.
  await steps
    .runAlways(
      'clean-up',
      () => repeat(remove, signal),
      () => ({ stagingBranch }),
    )
    .catch(() => undefined)
}

export interface LeftoverQuery {
  readonly repo: VersionedRepo
  readonly workflowId: string
  /** Only those of one task. */
  readonly referenceTaskName?: string
  /** Which to remove; the caller knows which attempts have ended. Evidence is a reason to say no. */
  readonly isLeftover: (found: Leftover) => boolean | Promise<boolean>
}

export interface Leftover extends BranchHead {
  /** True when the branch is kept as evidence of a refused publication. */
  readonly isEvidence: boolean
}

/** Removes the staging branches of a workflow, or of one of its tasks, that the caller calls leftovers. */
export async function collectLeftovers(
  query: LeftoverQuery,
  options: CallOptions = {},
): Promise<readonly BranchName[]> {
  const { repo, isLeftover } = query
  const removed: BranchName[] = []
  const found: BranchHead[] = []
  // Listed to the end before the first is removed: a listing that shrinks under its own pages skips entries.
  for await (const head of repo.listBranches({ prefix: stagingPrefix(query) }, options)) found.push(head)
  for (const { branch, head } of found) {
    const commit = await repo.readCommit(head, options)
    const isEvidence = commit?.metadata['publish.evidence'] !== undefined
    if (!(await isLeftover({ branch, head, isEvidence }))) continue
    const { deleted } = await repo.deleteBranch(branch, options)
    if (deleted) removed.push(branch)
  }
  return removed
}
