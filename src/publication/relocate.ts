/**
 * Moves a branch away from its head: to another commit on the same input, or back to an earlier one (a rollback). What
 * leaves the history stays reachable under an evidence tag. The branch moves only from the head that the caller expects;
 * the same request again, after a lost response or by a caller that was restarted, answers the same.
 */

import { errorKindOf, RefusedError } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import { keepSuperseded } from './evidence.ts'
import { RELOCATION_COMMITS_MAX } from './limits.ts'
import {
  checkAuthority,
  LostWrite,
  openSession,
  readHead,
  untilSettled,
  writeBranch,
  type Move,
  type Session,
  type SessionOptions,
} from './session.ts'
import type { FenceStrength } from './strategy.ts'

export interface RelocationRequest extends SessionOptions {
  readonly branch: BranchName
  /** Where the branch must stand; from anywhere else it does not move. */
  readonly expectedHead: CommitRef
  /** An earlier commit of the first-parent history of `expectedHead`. */
  readonly to: CommitRef
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
  const { branch, expectedHead, to } = request
  const session = openSession(request)
  const { strategy, steps } = session
  await requireEarlier(session, request)
  await checkAuthority(session, 'before-relocation')
  return untilSettled(session, branch, async () => {
    const head = await readHead(session, branch)
    const isKnown = head?.ref === expectedHead || head?.ref === to
    steps.report('publish-fence', { outcome: isKnown ? 'done' : 'refused', details: { expectedHead, to } })
    if (!isKnown) throw headMoved(request, head?.ref)
    const move = { branch, action: 'relocated', supersededRef: expectedHead, to } as const
    const isThere = head.ref === to
    return { ...(await moveAway(session, move, isThere)), strength: strategy.strength }
  })
}

/** The head leaves the branch's history, and stays reachable under its tag. `isThere`: the branch was moved already. */
export async function moveAway<Action extends Move['action']>(
  session: Session,
  of: {
    readonly branch: BranchName
    readonly action: Action
    readonly supersededRef: CommitRef
    readonly to: CommitRef
  },
  isThere = false,
): Promise<Move & { readonly action: Action; readonly outputRef: CommitRef }> {
  const { branch, action, supersededRef, to } = of
  // Also for a branch that was moved already: the tag may be missing all the same.
  const move = { action, supersededRef, evidenceTag: await keepSuperseded(session, supersededRef) }
  if (!isThere) {
    const step = action === 'replaced' ? 'replace' : 'relocate'
    const write = { branch, expectedHead: supersededRef, to }
    const outcome = await writeBranch(session, step, () => session.strategy.move(write, session.call), move)
    // The branch is elsewhere: perhaps it never came to our commit, perhaps it has moved on from there.
    if (!outcome.written) throw new LostWrite(move)
  }
  return { ...move, outputRef: to }
}

async function requireEarlier({ repo, call }: Session, request: RelocationRequest): Promise<void> {
  const { expectedHead, to } = request
  const limits = { firstParent: true, limit: RELOCATION_COMMITS_MAX + 1, stopAt: to }
  try {
    for await (const { ref } of repo.log(expectedHead, { ...call, ...limits }))
      if (ref === to && ref !== expectedHead) return
  } catch (error) {
    if (errorKindOf(error) !== 'missing') throw error
  }
  throw new RefusedError(
    'publication/not-in-history',
    `move branch "${request.branch}" back to ${to}: it is not among the ${RELOCATION_COMMITS_MAX} commits before ${expectedHead}`,
    { details: { expectedHead, to }, next: `Choose a commit from the log of "${request.branch}".` },
  )
}

function headMoved(
  { branch, expectedHead, to }: RelocationRequest,
  head: CommitRef | undefined,
): RefusedError {
  return new RefusedError(
    'publication/head-moved',
    `move branch "${branch}" from ${expectedHead} back to ${to}: its head is ${head ?? 'missing'}`,
    {
      details: { branch, expectedHead, to, head },
      next: `Read the log of "${branch}", decide again, and name the head that you saw.`,
    },
  )
}
