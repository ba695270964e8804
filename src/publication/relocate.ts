/**
 * Moves a branch away from its head: to another commit on the same input, or back to an earlier one (a rollback). What
 * leaves the history stays reachable under an evidence tag. The branch moves only from the head that the caller expects;
 * the same request again, after a lost response or by a caller that was restarted, answers the same.
 */

import { errorKindOf, RefusedError } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import { describeCommit } from './commit-metadata.ts'
import { keepSuperseded } from './evidence.ts'
import { RELOCATION_COMMITS_MAX } from './limits.ts'
import type { CommitRecord, Metadata } from './ports.ts'
import { LostWrite, untilSettled, writeBranch } from './branch-write.ts'
import {
  checkAuthority,
  openSession,
  readHead,
  type Move,
  type Session,
  type SessionOptions,
  withFence,
} from './session.ts'
import type { FenceStrength } from './strategy.ts'

export interface RelocationRequest extends SessionOptions {
  readonly branch: BranchName
  /** Where the branch must stand; from anywhere else it does not move. */
  readonly expectedHead: CommitRef
  /** An earlier commit of the first-parent history of `expectedHead`. */
  readonly to: CommitRef
  /** Throws where one of the commits that would leave the branch, newest first, must stay. Default: all may leave. */
  readonly judgeLeaving?: ((leaving: readonly CommitRecord[]) => void) | undefined
}

export interface RelocationResult extends Move {
  readonly action: 'relocated'
  /** `to`, at which the branch was read afterwards. */
  readonly outputRef: CommitRef
  readonly strength: FenceStrength
}

/**
 * ```ts
 * const { evidenceTag } = await relocate({ repo, authority, branch, expectedHead: head, to: yesterday })
 * ```
 */
export async function relocate(request: RelocationRequest): Promise<RelocationResult> {
  const session = openSession(request)
  await requireEarlier(session, request)
  return moveFrom(session, request, 'relocated')
}

/** Moves the branch from `expectedHead` and from nowhere else. The caller has judged `to`. */
export async function moveFrom<Action extends Move['action']>(
  opened: Session,
  request: Pick<RelocationRequest, 'branch' | 'expectedHead' | 'to' | 'authority'>,
  action: Action,
): Promise<Move & Pick<RelocationResult, 'outputRef' | 'strength'> & { readonly action: Action }> {
  const { branch, expectedHead, to } = request
  await checkAuthority(opened, 'before-relocation')
  const session = await withFence(opened, { branch, trees: [to, expectedHead] })
  const { strategy, steps } = session
  const metadata = describeCommit(request.authority, to)
  return untilSettled(session, branch, async () => {
    const head = await readHead(session, branch)
    const isKnown = head?.ref === expectedHead || head?.ref === to
    steps.report('publish-fence', { outcome: isKnown ? 'done' : 'refused', details: { expectedHead, to } })
    if (!isKnown) throw headMoved(request, head?.ref)
    const move = { branch, action, supersededRef: expectedHead, to, metadata }
    const moved = await moveAway(session, move, head.ref === to)
    return moved && { ...moved, strength: strategy.strength }
  })
}

/**
 * The head leaves the branch's history, and stays reachable under its tag. `isThere`: the branch was moved already.
 * `undefined`: it had another head by then, and stays as it is.
 */
export async function moveAway<Action extends Move['action']>(
  session: Session,
  of: {
    readonly branch: BranchName
    readonly action: Action
    readonly supersededRef: CommitRef
    readonly to: CommitRef
    readonly metadata: Metadata
  },
  isThere = false,
): Promise<(Move & { readonly action: Action; readonly outputRef: CommitRef }) | undefined> {
  const { branch, action, supersededRef, to, metadata } = of
  // Before attempt and head are confirmed, so that no slow tag stands between that and the move.
  // Also for a branch that was moved already: the tag may be missing all the same.
  const move = { action, supersededRef, evidenceTag: await keepSuperseded(session, supersededRef) }
  if (!isThere) {
    const step = action === 'replaced' ? 'replace' : 'relocate'
    const judge = (head: CommitRecord | undefined): boolean => head?.ref === supersededRef
    const mayGoForward = action === 'replaced'
    const write = { branch, expectedHead: supersededRef, to, metadata, mayGoForward }
    const outcome = await writeBranch(session, { step, branch, judge, move }, (options) =>
      session.strategy.move(write, options),
    )
    if (!outcome.written && outcome.why === 'withheld') return undefined
    // The branch is elsewhere: perhaps it never came to our commit, perhaps it has moved on from there.
    if (!outcome.written) throw new LostWrite(move)
    return { ...move, outputRef: outcome.ref }
  }
  return { ...move, outputRef: to }
}

/** Commits do not change, so what is read once of the history below `expectedHead` stays true. */
async function requireEarlier(session: Session, request: RelocationRequest): Promise<void> {
  const { branch, expectedHead, to, judgeLeaving } = request
  const leaving = expectedHead === to ? undefined : await readLeaving(session, expectedHead, to)
  if (leaving !== undefined) return judgeLeaving?.(leaving)
  throw new RefusedError(
    'publication/not-in-history',
    `move branch "${branch}" back to ${to}: it is not among the ${RELOCATION_COMMITS_MAX} commits before ${expectedHead}`,
    { details: { expectedHead, to }, next: `Choose a commit from the log of "${branch}".` },
  )
}

/** The commits above `to`, newest first; `undefined`: `to` is not below `head`. */
export async function readLeaving(
  { repo, call }: Session,
  head: CommitRef,
  to: CommitRef,
): Promise<readonly CommitRecord[] | undefined> {
  const limits = { firstParent: true, limit: RELOCATION_COMMITS_MAX + 1, stopAt: to }
  const leaving: CommitRecord[] = []
  try {
    for await (const commit of repo.log(head, { ...call, ...limits })) {
      if (commit.ref === to) return leaving
      leaving.push(commit)
    }
  } catch (error) {
    if (errorKindOf(error) !== 'missing') throw error
  }
  return undefined
}

function headMoved(
  { branch, expectedHead, to }: Pick<RelocationRequest, 'branch' | 'expectedHead' | 'to'>,
  head: CommitRef | undefined,
): RefusedError {
  return new RefusedError(
    'publication/head-moved',
    `move branch "${branch}" from ${expectedHead} to ${to}: its head is ${head ?? 'missing'}`,
    {
      details: { branch, expectedHead, to, head },
      next: `Read the log of "${branch}", decide again, and name the head that you saw.`,
    },
  )
}
