/**
 * Moves a branch to a commit that exists already and was staged or published for it: one above its head, or one beside it, on the
 * same parent. For a recovery; a publication decides by its own fence. What leaves the history stays reachable under its tag.
 */

import { RefusedError } from '../base/errors.ts'
import { moveFrom, readLeaving, type RelocationRequest, type RelocationResult } from './relocate.ts'
import { openSession, type Move, type Session } from './session.ts'

/**
 * ```ts
 * await putCommit({ repo, authority, branch, expectedHead: head, to: stagedRef })
 * ```
 */
export async function putCommit(
  request: Omit<RelocationRequest, 'judgeLeaving'>,
): Promise<Move & Pick<RelocationResult, 'outputRef' | 'strength'>> {
  const session = openSession(request)
  if (!(await isPlaced(session, request))) throw notPlaced(request)
  return moveFrom(session, request, 'replaced')
}

/** Commits do not change, so what is read of them once stays true. */
async function isPlaced(
  session: Session,
  { expectedHead, to }: Pick<RelocationRequest, 'expectedHead' | 'to'>,
): Promise<boolean> {
  const { repo, repeat } = session
  const [head, target] = await Promise.all(
    [expectedHead, to].map((ref) => repeat((call) => repo.readCommit(ref, call))),
  )
  const parent = head?.parents[0]
  if (target === undefined || head === undefined || expectedHead === to) return false
  if (parent !== undefined && target.parents[0] === parent) return true
  return (await readLeaving(session, to, expectedHead)) !== undefined
}

function notPlaced({ branch, expectedHead, to }: Omit<RelocationRequest, 'judgeLeaving'>): RefusedError {
  return new RefusedError(
    'publication/not-placed',
    `put ${to} on branch "${branch}": it stands neither above ${expectedHead} nor on the same parent`,
    { details: { branch, expectedHead, to }, next: 'Read the log of both commits, and decide again.' },
  )
}
