/** Moving a branch by a claim and its collapse: what both strengths of the fence have in common. */

import type { Clock } from '../base/clock.ts'
import { errorKindOf, MissingError, UnavailableError, UncertainError } from '../base/errors.ts'
import type { BranchName, CommitRef, MetaRangeId } from '../base/ids.ts'
import { readNewest } from './claims.ts'
import { CLAIM_COLLAPSES_MAX } from './limits.ts'
import { mergeOnce } from './merge-once.ts'
import type { CallOptions, ClaimShape, CommitRecord, MergeRequest, Metadata, VersionedRepo } from './ports.ts'
import type { BranchWrite, GuardedOptions } from './strategy.ts'

/** A commit that no branch holds. `tree`: the commit whose tree it has. */
export interface DetachedFields {
  readonly parents: readonly CommitRef[]
  readonly tree: CommitRecord
  readonly generation: number
  readonly message: string
  readonly metadata: Metadata
}

/** The same fields twice are one commit, so a lost answer needs no more than a look. */
export function writeDetached(
  { repo, clock }: { readonly repo: VersionedRepo; readonly clock: Clock },
  { tree, ...fields }: DetachedFields,
  call: CallOptions,
): Promise<CommitRef> {
  // The tree is not the empty one, which has no id; the callers see to that.
  const metaRange = tree.metaRange as MetaRangeId
  return repo.writeCommit({ ...fields, metaRange, committer: 'perago', createdAt: clock.now() }, call)
}

/** Of a commit above these. */
export function generationAbove(parents: readonly CommitRecord[]): number {
  return 1 + Math.max(...parents.map(({ generation }) => generation))
}

export async function readRequired(
  repo: VersionedRepo,
  ref: CommitRef,
  call: CallOptions,
): Promise<CommitRecord> {
  const found = await repo.readCommit(ref, call)
  if (found !== undefined) return found
  throw new MissingError('publication/no-such-commit', `move a branch: there is no commit ${ref}`)
}

/** Merges a detached commit; a lost answer is settled by looking at the head. */
export async function mergeOrLook(
  repo: VersionedRepo,
  request: MergeRequest,
  of: { readonly expectedHead: CommitRef; readonly options: GuardedOptions },
): Promise<BranchWrite> {
  try {
    return await mergeOnce(repo, request, of.options)
  } catch (error) {
    if (errorKindOf(error) !== 'uncertain') throw error
    const head = await readNewest(repo, request.into, plain(of.options)).catch(() => undefined)
    const isOurs =
      request.squash === true
        ? head?.parents[0] === of.expectedHead && isSame(head.metadata, request.metadata)
        : head?.parents[1] === request.source
    if (head === undefined || !isOurs) throw error
    return { written: true, ref: head.ref }
  }
}

function isSame(found: Metadata, sent: Metadata = {}): boolean {
  return Object.entries(sent).every(([key, value]) => found[key] === value)
}

/** The commit that was merged, to be compared with what was expected. */
export async function readMerged(
  repo: VersionedRepo,
  ref: CommitRef,
  of: { readonly branch: BranchName; readonly options: GuardedOptions },
): Promise<CommitRecord | undefined> {
  try {
    return await repo.readCommit(ref, plain(of.options))
  } catch (cause) {
    throw errorKindOf(cause) === 'unavailable' ? unread(of.branch, ref, cause) : cause
  }
}

/** From a claim that is on the branch to its target. */
export async function collapse(
  repo: VersionedRepo,
  of: {
    readonly branch: BranchName
    readonly shape: ClaimShape
    readonly claim: CommitRef
    readonly to: CommitRef
  },
  call: CallOptions,
): Promise<BranchWrite> {
  const { branch, shape, claim, to } = of
  let cause: unknown
  for (let count = 0; count < CLAIM_COLLAPSES_MAX; count++) {
    try {
      await repo.collapseClaim({ branch, claim: shape }, call)
    } catch (error) {
      // Not done, or perhaps done: the head tells.
      if (errorKindOf(error) !== 'uncertain' && errorKindOf(error) !== 'unavailable') throw error
      cause = error
    }
    const head = await readAfterClaim(repo, branch, call)
    if (head?.ref === to) return { written: true, ref: to }
    // Somebody was quicker, on the commit or still on the claim.
    if (head?.ref !== claim) return { written: false, why: 'head-moved' }
  }
  throw afterClaim(branch, cause)
}

async function readAfterClaim(
  repo: VersionedRepo,
  branch: BranchName,
  call: CallOptions,
): Promise<CommitRecord | undefined> {
  try {
    return await readNewest(repo, branch, call)
  } catch (cause) {
    throw errorKindOf(cause) === 'unavailable' ? afterClaim(branch, cause) : cause
  }
}

/** Asked again where the answer was lost: it moves nothing. */
export async function takesReset(
  repo: VersionedRepo,
  branch: BranchName,
  call: CallOptions,
): Promise<boolean> {
  let cause: unknown
  for (let count = 0; count < CLAIM_COLLAPSES_MAX; count++) {
    try {
      return await repo.takesReset(branch, call)
    } catch (error) {
      if (errorKindOf(error) !== 'uncertain') throw error
      cause = error
    }
  }
  throw new UnavailableError(
    'publication/not-confirmed',
    `move branch "${branch}": whether it may be reset was not answered, so nothing was sent`,
    { details: { branch }, cause },
  )
}

/** Without the guard: it belongs to the write alone. */
export function plain({ signal }: GuardedOptions): CallOptions {
  return { signal }
}

function afterClaim(branch: BranchName, cause: unknown): UncertainError {
  return new UncertainError(
    'publication/claim-left',
    `move branch "${branch}": it is claimed, and could not be moved on; the next reader of the branch does it`,
    { details: { branch }, read: `the head of branch "${branch}"`, cause },
  )
}

function unread(branch: BranchName, ref: CommitRef, cause: unknown): UncertainError {
  return new UncertainError(
    'publication/unconfirmed',
    `publish on branch "${branch}": ${ref} was merged, but could not be read afterwards`,
    { details: { branch, mergedRef: ref }, read: `the log of branch "${branch}"`, cause },
  )
}
