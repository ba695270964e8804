/**
 * Publishes what one task did, or corrects the branch when it did nothing. The order never varies:
 *
 *   attempt fence → with changes: stage → attempt fence (beside it, what was staged is compared with the plan)
 *                                        → facts → publish fence → merge or replace
 *                 → without:                              facts → publish fence → complete or relocate
 *
 * Without changes the attempt and the facts are first read side by side: as long as nothing is to be written, neither reading
 * has to be newer than the other. Where a branch write is due, the facts are read after the attempt was confirmed. An actor
 * without an attempt has no attempt fence to pass; everything else is the same.
 *
 * 1. Nothing is staged before the first attempt check, and an attempt check stands right before every branch write.
 * 2. `publish` answers only when the branch was read afterwards and held what it says; everything else throws.
 * 3. A lost response is neither success nor failure: the facts are read and judged again, a bounded number of times.
 * 4. A staging branch outlives its publication only as evidence.
 */

import { errorKindOf, invariant, UncertainError, unreachable } from '../base/errors.ts'
import type { CommitRef } from '../base/ids.ts'
import {
  decidePublication,
  PublishFenceError,
  type PublishDecision,
  type PublishRefusal,
} from '../fences/publish-fence.ts'
import { describeAuthority } from './authority.ts'
import { removeStaging } from './clean-up.ts'
import { describeCommit, isOwn } from './commit-metadata.ts'
import { describeRefusal, keepRefusal } from './evidence.ts'
import { openStaging, openStagingSession } from './open-staging.ts'
import { confirmMerge, findOwnPublication } from './own-publication.ts'
import { checkPlan, isEmpty, type StoredChecksums } from './planned-changes.ts'
import type { CommitRecord } from './ports.ts'
import type { PublicationRequest, PublicationResult, PublicationRun, Settled } from './publication.ts'
import { moveAway } from './relocate.ts'
import { checkAuthority, readHead, untilSettled, writeBranch, type Move } from './session.ts'
import { stage } from './stage.ts'
import { verifyStaged } from './verify-staged.ts'

/**
 * ```ts
 * const authority = { kind: 'actor', actor: 'operator', subject: 'orders.fix', executionId: randomUUID() }
 * const { outputRef } = await publish({ repo, target, changes, authority })
 * ```
 */
export async function publish(request: PublicationRequest): Promise<PublicationResult> {
  checkPlan(request.changes, request.target.prefix)
  const { inputRef } = request.target
  const session = openStagingSession({ ...request, inputRef })
  const run = { ...session, request, metadata: describeCommit(session.authority, inputRef) }
  const progress: Progress = { isOpened: false, stagedRef: undefined, stored: new Map() }
  try {
    const settled = await stageAndPublish(run, progress)
    if (progress.isOpened && request.cleanUpLater === undefined) await removeStaging(run)
    if (progress.isOpened) request.cleanUpLater?.(() => removeStaging(run))
    return { ...settled, strength: run.strategy.strength, stored: progress.stored }
  } catch (error) {
    await settleFailure(run, progress, error)
    throw error
  }
}

interface Progress {
  /** A staging branch may be there. */
  isOpened: boolean
  /** The one commit on top of the input ref. */
  stagedRef: CommitRef | undefined
  stored: StoredChecksums
}

async function stageAndPublish(run: PublicationRun, progress: Progress): Promise<Settled> {
  if (isEmpty(run.request.changes)) {
    const settled = await judgeUnchanged(run)
    if (settled !== undefined) return settled
  } else {
    await checkAttemptAndOpen(run, progress)
    await stageAndCheckAttempt(run, progress)
  }
  return publishStaged(run, progress.stagedRef)
}

/** `undefined`: the attempt is current, and the branch is to be moved back. */
async function judgeUnchanged(run: PublicationRun): Promise<Settled | undefined> {
  const reading = readHead(run, run.request.target.branch)
  const head = await sideBySide(checkAuthority(run, 'before-relocation'), reading)
  if (judge(run, head, undefined).action === 'relocate') return undefined
  return decideAndWrite(run, head, undefined)
}

async function checkAttemptAndOpen(run: PublicationRun, progress: Progress): Promise<void> {
  const takeOver = async (): Promise<void> => {
    progress.isOpened = (await run.request.early?.takeOver()) === true
  }
  await sideBySide(checkAuthority(run, 'before-staging'), takeOver())
  if (progress.isOpened) return
  await openStaging(run, () => {
    progress.isOpened = true
  })
}

/** Compares what was staged with the plan while the attempt is checked: both only read, after the commit and before the next write. */
async function stageAndCheckAttempt(run: PublicationRun, progress: Progress): Promise<void> {
  const tree = await stage(run)
  const verify = async (): Promise<void> => {
    await run.steps.run('verify-staging', () => verifyStaged(run, tree))
    progress.stored = tree.stored
    // Only what was planned is kept as evidence.
    if (tree.ref !== run.inputRef) progress.stagedRef = tree.ref
  }
  await sideBySide(checkAuthority(run, 'before-publishing'), verify())
}

/** Awaits both; of two failures the first one's is thrown, so that a refusal of the attempt fence comes before any other. */
async function sideBySide<T>(first: Promise<void>, second: Promise<T>): Promise<T> {
  await Promise.allSettled([first, second])
  await first
  return second
}

/** Judges the branch and writes it, again after each lost response or moved head, until one decision is carried out. */
function publishStaged(run: PublicationRun, stagedRef: CommitRef | undefined): Promise<Settled> {
  const { branch, inputRef } = run.request.target
  return untilSettled<Settled>(run, branch, async (lost) => {
    if (lost !== undefined && stagedRef !== undefined) {
      const outputRef = await findOwnPublication(run, stagedRef)
      const move = outputRef === stagedRef ? lost.move : undefined
      if (outputRef !== undefined) return { outputRef, ...(move ?? { action: 'merged' }) }
    }
    // Read last, so that nothing newer is known than what is judged.
    const head = await readHead(run, branch)
    if (lost?.move !== undefined && stagedRef === undefined && head?.ref === inputRef)
      return { outputRef: inputRef, ...lost.move }
    return decideAndWrite(run, head, stagedRef)
  })
}

/** `undefined`: the branch had moved and was not written, so it must be judged again. */
async function decideAndWrite(
  run: PublicationRun,
  head: CommitRecord | undefined,
  stagedRef: CommitRef | undefined,
): Promise<Settled | undefined> {
  const { inputRef } = run
  const decision = judge(run, head, stagedRef)
  const outcome = decision.action === 'refuse' ? 'refused' : 'done'
  run.steps.report('publish-fence', { outcome, details: { ...decision } })
  const supersede = async (
    action: Move['action'],
    supersededRef: CommitRef,
    to: CommitRef,
  ): Promise<Settled> => {
    if (!mayReplace(run, head)) throw refuse(run, 'not-own', head, stagedRef)
    return moveAway(run, { branch: run.request.target.branch, action, supersededRef, to })
  }
  switch (decision.action) {
    case 'refuse':
      throw refuse(run, decision.reason, head, stagedRef)
    case 'complete':
      return { action: 'completed', outputRef: inputRef }
    case 'merge':
      return merge(run, required(stagedRef))
    case 'replace':
      return supersede('replaced', decision.supersededRef, required(stagedRef))
    case 'relocate':
      return supersede('relocated', decision.supersededRef, inputRef)
    default:
      return unreachable(decision, 'carry out a publication')
  }
}

async function merge(run: PublicationRun, stagedRef: CommitRef): Promise<Settled | undefined> {
  const { request, strategy, authority, metadata, inputRef, call } = run
  const { branch } = request.target
  const message = `Publish ${describeAuthority(authority)}`
  const write = { branch, expectedHead: inputRef, stagedRef, message, metadata }
  const outcome = await writeBranch(run, 'merge', () => strategy.merge(write, call))
  if (!outcome.written) return undefined
  try {
    return { action: 'merged', outputRef: await confirmMerge(run, { ref: outcome.ref, stagedRef }) }
  } catch (error) {
    if (errorKindOf(error) !== 'unavailable') throw error
    // "Surely not done" is true of the reading alone: the merge was done.
    throw new UncertainError(
      'publication/unconfirmed',
      `publish on branch "${branch}": ${outcome.ref} was merged, but the branch could not be read afterwards`,
      { details: { branch, mergedRef: outcome.ref }, read: `the log of branch "${branch}"`, cause: error },
    )
  }
}

function judge(
  { inputRef }: PublicationRun,
  head: CommitRecord | undefined,
  stagedRef: CommitRef | undefined,
): PublishDecision {
  const diffIsEmpty = stagedRef === undefined
  return decidePublication({ inputRef, head: head?.ref, headFirstParent: head?.parents[0], diffIsEmpty })
}

function mayReplace({ authority }: PublicationRun, head: CommitRecord | undefined): boolean {
  if (authority.kind === 'attempt' && authority.replace !== 'own') return true
  return head !== undefined && isOwn(head.metadata, authority)
}

function refuse(
  { request, inputRef }: PublicationRun,
  reason: PublishRefusal,
  head: CommitRecord | undefined,
  stagedRef: CommitRef | undefined,
): PublishFenceError {
  const { branch } = request.target
  const headFirstParent = head?.parents[0]
  return new PublishFenceError(reason, { branch, inputRef, head: head?.ref, headFirstParent, stagedRef })
}

function required(stagedRef: CommitRef | undefined): CommitRef {
  invariant(stagedRef !== undefined, 'only what was staged is merged or replaces another commit')
  return stagedRef
}

/** Keeps evidence where something was refused or is uncertain; otherwise nothing is left behind. */
async function settleFailure(run: PublicationRun, progress: Progress, error: unknown): Promise<void> {
  const { isOpened, stagedRef } = progress
  const { target, keepRecord } = run.request
  const record = describeRefusal(error, run, { branch: target.branch, stagedRef })
  if (record !== undefined) await keepRefusal(run, record, keepRecord)
  if (isOpened && (record === undefined || stagedRef === undefined)) await removeStaging(run)
}
