/**
 * A claim announces where its branch goes next: the merge of a commit with the parents [head, head, target] into that head.
 * Whoever finds one at the head of a branch collapses it, which moves the branch to the target and may be repeated by anybody.
 */

import { errorKindOf } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import type { MetadataKey } from './commit-metadata.ts'
import { CLAIM_COLLAPSES_MAX } from './limits.ts'
import type { CallOptions, CommitRecord, VersionedRepo } from './ports.ts'

/** One request: the newest entry of the log is the head, and it names its parents. */
export async function readNewest(
  repo: VersionedRepo,
  branch: BranchName,
  options: CallOptions,
): Promise<CommitRecord | undefined> {
  try {
    for await (const head of repo.log(branch, { ...options, firstParent: true, limit: 1 })) return head
  } catch (error) {
    if (errorKindOf(error) !== 'missing') throw error
  }
  return undefined
}

/**
 * The head of the branch, after a claim that was left there is collapsed. A claim that cannot be collapsed, as on a branch
 * that was protected meanwhile, is a head like any other.
 */
export async function readSettledHead(
  repo: VersionedRepo,
  branch: BranchName,
  options: CallOptions,
): Promise<CommitRecord | undefined> {
  let head = await readNewest(repo, branch, options)
  for (let count = 0; head !== undefined && count < CLAIM_COLLAPSES_MAX; count++) {
    if ((await readClaim(repo, head, options)) === undefined) return head
    try {
      await repo.collapseClaim(branch, options)
    } catch (error) {
      if (errorKindOf(error) === 'refused') return head
      // Collapsed or not: the next look tells.
      if (errorKindOf(error) !== 'uncertain') throw error
    }
    head = await readNewest(repo, branch, options)
  }
  return head
}

/** Where the claim leads; `undefined`: the commit is none. By its metadata first, which costs no request, then by its shape. */
export async function readClaim(
  repo: VersionedRepo,
  { parents, metadata }: CommitRecord,
  options: CallOptions,
): Promise<CommitRef | undefined> {
  const announced = metadata['publish.claim' satisfies MetadataKey]
  const [head, record] = parents
  if (announced === undefined || record === undefined || parents.length !== 2) return undefined
  const claim = await repo.readCommit(record, options)
  const [first, second, target] = claim?.parents ?? []
  // One that was merged onto another head than it expects would take that head off the branch.
  return first === head && second === head && target === announced ? target : undefined
}
