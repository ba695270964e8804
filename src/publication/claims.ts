/**
 * A claim announces where its branch goes next. It is the merge of a record, a commit that no branch holds, into the head:
 *
 *   hard: the record has the parents [head, head, target]; the server has compared the head.
 *   soft: the record has the parents [head, fan], fan [head, …, head, leaf], and leaf [head, head, target]; whoever made it
 *         compared the head afterwards. How many parents the fan has its maker chooses: a collapse that is meant for another soft
 *         claim, because it comes late or one claim has landed on the other, leads nowhere.
 *
 * Whoever finds one at the head of a branch collapses it, which moves the branch to the target and may be repeated by anybody.
 */

import { errorKindOf } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import type { MetadataKey } from './commit-metadata.ts'
import { CLAIM_COLLAPSES_MAX } from './limits.ts'
import type { CallOptions, ClaimShape, CommitRecord, VersionedRepo } from './ports.ts'

export interface Claim {
  readonly shape: ClaimShape
  readonly target: CommitRef
}

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
    const claim = await readClaim(repo, head, options)
    if (claim === undefined) return head
    try {
      await repo.collapseClaim({ branch, claim: claim.shape }, options)
    } catch (error) {
      if (errorKindOf(error) === 'refused') return head
      // Collapsed or not: the next look tells.
      if (errorKindOf(error) !== 'uncertain') throw error
    }
    head = await readNewest(repo, branch, options)
  }
  return head
}

/** `undefined`: the commit is none. By its metadata first, which costs no request, then by its shape. */
export async function readClaim(
  repo: VersionedRepo,
  { parents, metadata }: CommitRecord,
  options: CallOptions,
): Promise<Claim | undefined> {
  const announced = metadata['publish.claim' satisfies MetadataKey]
  const [head, record] = parents
  if (announced === undefined || record === undefined || parents.length !== 2) return undefined
  const ofRecord = await parentsOf(repo, record, options)
  const fan =
    ofRecord.length === 2 && ofRecord[1] !== undefined ? await parentsOf(repo, ofRecord[1], options) : []
  const leaf = fan.at(-1)
  const [first, second, target] = leaf === undefined ? ofRecord : await parentsOf(repo, leaf, options)
  if (target === undefined || target !== announced) return undefined
  // One that was merged onto another head than it expects would take that head off the branch; onto its target, as where its merge
  // took effect once more after it was collapsed, nothing but itself.
  const isOnItsHead = first === head && second === head
  return isOnItsHead || head === target
    ? { shape: leaf === undefined ? 'hard' : { width: fan.length }, target }
    : undefined
}

async function parentsOf(
  repo: VersionedRepo,
  ref: CommitRef,
  options: CallOptions,
): Promise<readonly CommitRef[]> {
  return (await repo.readCommit(ref, options))?.parents ?? []
}
