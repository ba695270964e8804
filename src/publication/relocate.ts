/**
 * Moves a branch back to an earlier commit of its own history: a rollback. What leaves the history stays reachable under
 * an evidence tag. The branch moves only from the head that the caller expects; repeated after a lost response, or by a
 * caller that died in between, it answers the same.
 */

import { errorKindOf, RefusedError } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import { keepSuperseded } from './evidence.ts'
import { RELOCATION_COMMITS_MAX } from './limits.ts'
import {
  checkAuthority,
  openSession,
  readFacts,
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
  const { strategy, steps, call } = session
  await requireEarlier(session, request)
  await checkAuthority(session, 'before-relocation')
  return untilSettled(session, branch, async () => {
    const { head } = await readFacts(session, branch)
    const isKnown = head?.ref === expectedHead || head?.ref === to
    steps.report('publish-fence', { outcome: isKnown ? 'done' : 'refused', details: { expectedHead, to } })
    if (!isKnown) throw headMoved(request, head?.ref)
    // Also where the branch stands at `to` already: whoever moved it may not have come to the tag.
    const evidenceTag = await keepSuperseded(session, expectedHead)
    const move = { action: 'relocated', supersededRef: expectedHead, evidenceTag } as const
    const result = { ...move, outputRef: to, strength: strategy.strength }
    if (head.ref === to) return result
    const write = (): ReturnType<typeof strategy.move> => strategy.move({ branch, expectedHead, to }, call)
    const { written } = await writeBranch(session, 'relocate', write, move)
    return written ? result : undefined
  })
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
