/**
 * Whether a publication would be refused as the branch is now: asked before work begins that could only be thrown away. One
 * request, and nothing is written.
 *
 * 1. It refuses only what the publish fence refuses in the same state, and replaces none of the fences: the branch may move
 *    afterwards.
 * 2. What may still settle by itself is left to them: a claim at the head, which whoever publishes collapses first, and a commit
 *    of this very task elsewhere than above the input, as where its merge has taken effect twice and one is about to be dropped.
 */

import type { BranchName, CommitRef } from '../base/ids.ts'
import { decidePublication, PublishFenceError, type PublishRefusal } from '../fences/publish-fence.ts'
import type { Authority } from './authority.ts'
import { readNewest } from './claims.ts'
import { isOwn, mayReplace, type MetadataKey } from './commit-metadata.ts'
import type { CommitRecord } from './ports.ts'
import { openSession, type SessionOptions } from './session.ts'

export interface LookAheadRequest extends SessionOptions {
  readonly target: { readonly branch: BranchName; readonly inputRef: CommitRef }
  /** What was read already, just before: a second reading could show what the first one was to find. */
  readonly seen?: { readonly head: CommitRecord | undefined } | undefined
}

/**
 * Gives the head that was seen. Throws `PublishFenceError` where the publication would be refused, and what the repository throws
 * where it does not exist.
 */
export async function lookAhead(request: LookAheadRequest): Promise<CommitRef | undefined> {
  const { repo, authority, target, seen } = request
  const { branch, inputRef } = target
  const { repeat } = openSession(request)
  const head = seen === undefined ? await repeat((call) => readNewest(repo, branch, call)) : seen.head
  // A repository that does not exist is told in the same way. Only this question tells them apart.
  if (head === undefined && (await repeat((call) => repo.readBranch(branch, call))) !== undefined)
    return undefined
  const reason = refusalOf(head, inputRef, authority)
  if (reason === undefined) return head?.ref
  const facts = { head: head?.ref, headFirstParent: head?.parents[0] }
  throw new PublishFenceError(reason, { branch, inputRef, ...facts, isBeforeBody: true })
}

function refusalOf(
  head: CommitRecord | undefined,
  inputRef: CommitRef,
  authority: Authority,
): PublishRefusal | undefined {
  if (head?.metadata['publish.claim' satisfies MetadataKey] !== undefined) return undefined
  const facts = { inputRef, head: head?.ref, headFirstParent: head?.parents[0] }
  // Whether something will change is not known yet; the rows of the table do not depend on it.
  const decision = decidePublication({ ...facts, diffIsEmpty: false })
  if (decision.action === 'replace' && !mayReplace(head, authority)) return 'not-own'
  if (decision.action !== 'refuse') return undefined
  return head !== undefined && isOwn(head.metadata, authority) ? undefined : decision.reason
}
