/**
 * The publish fence: may the branch be advanced? It decides from four facts of the repository and from nothing else:
 * no attempt, no commit metadata, no clock.
 */

import { RefusedError } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'

export interface PublishFacts {
  /** What the task was given to read. */
  readonly inputRef: CommitRef
  /** The branch's commit now; `undefined` when there is no such branch. */
  readonly head: CommitRef | undefined
  /** `undefined` when the head has no parents. A second parent is no direct parent. */
  readonly headFirstParent: CommitRef | undefined
  /** Whether the attempt changed nothing, compared with the input ref. */
  readonly diffIsEmpty: boolean
}

export type PublishDecision =
  | { readonly action: 'merge' }
  | { readonly action: 'replace'; readonly supersededRef: CommitRef }
  | { readonly action: 'complete' }
  | { readonly action: 'relocate'; readonly supersededRef: CommitRef }
  | { readonly action: 'refuse'; readonly reason: 'branch-missing' | 'branch-moved' }

/**
 * Decides what may be done with the branch.
 *
 * ```ts
 * decidePublication({ inputRef: a, head: a, headFirstParent: undefined, diffIsEmpty: false }) // { action: 'merge' }
 * ```
 */
export function decidePublication(facts: PublishFacts): PublishDecision {
  const { inputRef, head, headFirstParent, diffIsEmpty } = facts
  if (head === undefined) return { action: 'refuse', reason: 'branch-missing' }
  if (head === inputRef) return { action: diffIsEmpty ? 'complete' : 'merge' }
  // One commit above our input is taken to be an earlier try at this same step, since one workflow writes a branch.
  // Anything further is work we have not seen, and writing over it unseen is what the fence exists to stop.
  if (headFirstParent === inputRef)
    return { action: diffIsEmpty ? 'relocate' : 'replace', supersededRef: head }
  return { action: 'refuse', reason: 'branch-moved' }
}

/**
 * Why a publication was refused. The first two are decided by the fence; the others are found before or after it:
 * `not-own`: only the task's own publication may be replaced, and somebody else published the head;
 * `landed-elsewhere`: a commit slipped in between the check and the merge, which was applied on top of it;
 * `moved-away`: what was published was taken off the branch before it could be confirmed;
 * `fence-not-held`: a merge with a hard fence stands on another commit than expected, so the server did not evaluate the fence.
 */
export type PublishRefusal =
  'branch-missing' | 'branch-moved' | 'not-own' | 'landed-elsewhere' | 'moved-away' | 'fence-not-held'

export interface PublishRefusalFacts {
  readonly branch: BranchName
  readonly inputRef: CommitRef
  readonly head: CommitRef | undefined
  readonly headFirstParent: CommitRef | undefined
  readonly stagedRef?: CommitRef | undefined
  /** The merge commit of a publication that reached the branch and does not count. */
  readonly publishedRef?: CommitRef | undefined
  /** Found before the body began, so that nothing was done that is lost. */
  readonly isBeforeBody?: true
}

const REFUSALS: Readonly<Record<PublishRefusal, (facts: PublishRefusalFacts) => string>> = {
  'branch-missing': () => 'there is no such branch',
  'branch-moved': ({ inputRef, head }) =>
    `its head is ${head ?? 'unknown'}, which is neither ${inputRef} nor a commit directly above it`,
  'not-own': ({ head }) =>
    `its head ${head ?? 'unknown'} is not a publication of this task, and only such may be replaced`,
  'landed-elsewhere': ({ inputRef, publishedRef }) =>
    `the branch moved in between, so that ${publishedRef ?? 'the merge'} does not stand directly above ${inputRef}`,
  'fence-not-held': ({ inputRef, headFirstParent, publishedRef }) =>
    `the hard fence did not hold: ${publishedRef ?? 'the merge'} stands on ${headFirstParent ?? 'nothing'}, not on ${inputRef}`,
  'moved-away': ({ publishedRef }) =>
    `${publishedRef ?? 'what was published'} was taken off the branch before it was confirmed`,
}

/** The branch is not in a state on which this attempt may publish. A retry would find the same branch. */
export class PublishFenceError extends RefusedError {
  readonly reason: PublishRefusal
  readonly facts: PublishRefusalFacts

  constructor(reason: PublishRefusal, facts: PublishRefusalFacts) {
    super(
      'fences/publish-refused',
      `publish on branch "${facts.branch}" from ${facts.inputRef}: ${REFUSALS[reason](facts)}` +
        (facts.isBeforeBody === true ? '; the body did not run' : ''),
      { details: { reason, ...facts }, next: nextAfterRefusal(facts) },
    )
    this.reason = reason
    this.facts = facts
  }
}

function nextAfterRefusal({ branch, head, isBeforeBody }: PublishRefusalFacts): string {
  if (isBeforeBody === true)
    return head === undefined
      ? `Create the branch "${branch}", or correct its name; then start again from its head.`
      : `Start again from the current head ${head}; a task that only reads may declare readOnly, and works on any commit.`
  const start = head === undefined ? `a commit of an existing branch` : `the current head ${head}`
  return (
    `Start a new workflow from ${start}, or let an operator decide from the facts in lakeFS ` +
    `(log of "${branch}", staging branch, evidence tags).`
  )
}
