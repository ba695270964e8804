/**
 * Publishes what one task did, or corrects the branch when it did nothing. The order never varies:
 *
 *   attempt fence → with changes: stage → compare what was staged with the plan → merge: inside its place, attempt fence
 *                                 → facts → publish fence → send; or replace: tag → inside its place, attempt and head → send
 *                 → without:      facts → publish fence → complete, or relocate like a replacement
 *
 * Without changes the attempt and the facts are first read side by side. An actor without an attempt has no attempt fence to
 * pass; everything else is the same.
 *
 * 1. Nothing is staged before the first attempt check. Every branch write has its place first, then confirms attempt and
 *    head, and is sent within a bounded time of both answers, once (`write-guard.ts`).
 * 2. `publish` answers only when the branch was read afterwards and held what it says; everything else throws.
 * 3. What did not certainly succeed is neither success nor failure: the facts are read and judged again, a bounded number of
 *    times (`branch-write.ts`).
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
import { untilSettled, writeBranch } from './branch-write.ts'
import { removeStaging } from './clean-up.ts'
import { describeCommit, isMadeBy, mayReplace } from './commit-metadata.ts'
import { describeRefusal, keepRefusal } from './evidence.ts'
import { openStaging, openStagingSession } from './open-staging.ts'
import { confirmMerge, findOwnPublication } from './own-publication.ts'
import { checkPlan, isEmpty, refuseActions, type StoredChecksums } from './planned-changes.ts'
import type { CommitRecord } from './ports.ts'
import type { PublicationRequest, PublicationResult, PublicationRun, Settled } from './publication.ts'
import { withLedger } from './record-result.ts'
import { moveAway } from './relocate.ts'
import { checkAuthority, readHead, withFence } from './session.ts'
import { stage } from './stage.ts'
import type { FenceStrength } from './strategy.ts'
import { verifyStaged, type StagedTree } from './verify-staged.ts'

/**
 * ```ts
 * const authority = { kind: 'actor', actor: 'operator', subject: 'orders.fix', executionId: randomUUID() }
 * const { outputRef } = await publish({ repo, target, changes, authority })
 * ```
 */
export async function publish(request: PublicationRequest): Promise<PublicationResult> {
  checkPlan(request.changes, request.target.prefix)
  if (request.changesActions !== true) refuseActions(request.changes)
  const { inputRef } = request.target
  const session = openStagingSession({ ...request, inputRef })
  const run = { ...session, request, metadata: describeCommit(session.authority, inputRef) }
  const progress: Progress = { isOpened: false, stagedRef: undefined, stored: new Map() }
  try {
    const settled = await stageAndPublish(run, progress)
    if (progress.isOpened && request.cleanUpLater === undefined) await removeStaging(run)
    if (progress.isOpened) request.cleanUpLater?.(() => removeStaging(run))
    return { ...settled, stored: progress.stored }
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

async function stageAndPublish(
  run: PublicationRun,
  progress: Progress,
): Promise<Settled & { readonly strength: FenceStrength }> {
  let fenced: PublicationRun
  if (isEmpty(run.request.changes)) {
    const settled = await settleUnchanged(run)
    if ('outputRef' in settled) return { ...settled, strength: run.strategy.strength }
    fenced = await relyOn(run, [run.inputRef, settled.supersededRef])
  } else {
    await checkAuthority(run, 'before-staging')
    const recorded = await withLedger(run)
    await openStaging(recorded, () => {
      progress.isOpened = true
    })
    await run.request.beforeUpload
    fenced = await stageAndVerify(recorded, progress)
  }
  const settled = await publishStaged(fenced, progress.stagedRef)
  return { ...settled, strength: fenced.strategy.strength }
}

/** Verified before the attempt is confirmed: that comes last, and nothing slow stands between it and the write. */
async function stageAndVerify(run: PublicationRun, progress: Progress): Promise<PublicationRun> {
  const tree = await stage(run)
  const fenced = await run.steps.run(
    'verify-staging',
    () => verifyAll(run, tree),
    ({ strategy }) => ({ strength: strategy.strength }),
  )
  progress.stored = tree.stored
  // Only what was planned is kept as evidence.
  if (tree.ref !== run.inputRef) progress.stagedRef = tree.ref
  else await checkAuthority(run, 'before-publishing')
  return fenced
}

/** Side by side: two ask the server, the third looks at files. None of them runs any more when this returns. */
async function verifyAll(run: PublicationRun, tree: StagedTree): Promise<PublicationRun> {
  const staged = verifyStaged(run, tree)
  const source = run.request.assertSourceUnchanged?.()
  const fenced = relyOn(run, [tree.ref])
  await Promise.allSettled([staged, source, fenced])
  await source
  await staged
  return fenced
}

/** The fence is read in the very commit that will be merged: that is where the server looks for it. */
function relyOn(run: PublicationRun, trees: readonly CommitRef[]): Promise<PublicationRun> {
  return withFence(run, { branch: run.request.target.branch, trees })
}

/**
 * Attempt and branch are read side by side: as long as nothing is written, neither has to be newer than the other.
 * With `supersededRef` alone: the attempt is current, and the branch is to be moved back from there.
 */
async function settleUnchanged(
  run: PublicationRun,
): Promise<Settled | { readonly supersededRef: CommitRef }> {
  const reading = readHead(run, run.request.target.branch)
  const checking = checkAuthority(run, 'before-relocation')
  await Promise.allSettled([checking, reading])
  // Of two failures the fence's is thrown, so that its refusal comes before any other.
  await checking
  const head = await reading
  const decision = judge(run, head, undefined)
  if (decision.action === 'relocate') return { supersededRef: decision.supersededRef }
  const settled = await decideAndWrite(run, head, undefined)
  invariant(settled !== undefined, 'a branch that is not written is settled at once')
  return settled
}

/** Judges the branch and writes it, again after each lost response or moved head, until one decision is carried out. */
function publishStaged(run: PublicationRun, stagedRef: CommitRef | undefined): Promise<Settled> {
  const { branch, inputRef } = run.request.target
  return untilSettled<Settled>(run, branch, async (lost) => {
    if (stagedRef !== undefined) {
      const outputRef = lost && (await findOwnPublication(run, stagedRef))
      // A merge never ends at the staged commit, and a hard one not in the place of another.
      const isMoved = outputRef === stagedRef || run.strategy.strength === 'hard'
      const move = isMoved ? lost?.move : undefined
      if (outputRef !== undefined) return { outputRef, ...(move ?? { action: 'merged' }) }
      return merge(run, stagedRef, lost !== undefined)
    }
    const head = await readHead(run, branch)
    if (lost?.move !== undefined && head?.ref === inputRef) return { outputRef: inputRef, ...lost.move }
    return decideAndWrite(run, head, undefined)
  })
}

/**
 * A merge is what is due most often, so it is begun without a look of its own: the guard's look is the one that the publish
 * fence judges. Where the fence decides otherwise nothing was sent, and that is carried out.
 */
async function merge(
  run: PublicationRun,
  stagedRef: CommitRef,
  isLost: boolean,
): Promise<Settled | undefined> {
  const { request, strategy, authority, metadata, inputRef } = run
  const { branch } = request.target
  const message = request.commit?.message ?? `Publish ${describeAuthority(authority)}`
  const write = { branch, expectedHead: inputRef, stagedRef, message, metadata }
  let otherwise: { readonly head: CommitRecord | undefined } | undefined
  const isMerge = (head: CommitRecord | undefined): boolean => {
    otherwise = judge(run, head, stagedRef).action === 'merge' ? undefined : { head }
    if (otherwise === undefined) reportDecision(run, { action: 'merge' })
    return otherwise === undefined
  }
  const outcome = await writeBranch(run, { step: 'merge', branch, judge: isMerge }, (options) =>
    strategy.merge(write, options),
  )
  if (outcome.written) return confirmed(run, { ref: outcome.ref, stagedRef })
  if (otherwise === undefined) return undefined
  // The merge whose response was lost came late: it is found by the next look.
  if (isLost && isOurs(run, otherwise.head)) return undefined
  return decideAndWrite(run, otherwise.head, stagedRef)
}

/** Carries out any decision but a merge. `undefined`: the branch had moved and was not written, so it must be judged again. */
async function decideAndWrite(
  run: PublicationRun,
  head: CommitRecord | undefined,
  stagedRef: CommitRef | undefined,
): Promise<Settled | undefined> {
  const { inputRef } = run
  const { branch } = run.request.target
  const decision = judge(run, head, stagedRef)
  reportDecision(run, decision)
  switch (decision.action) {
    case 'refuse':
      throw refuse(run, decision.reason, head, stagedRef)
    case 'complete':
      return { action: 'completed', outputRef: inputRef }
    case 'merge':
      // It is judged by its guard, and was not what that decided.
      return undefined
    case 'replace':
    case 'relocate': {
      if (!mayReplace(head, run.authority)) throw refuse(run, 'not-own', head, stagedRef)
      const { supersededRef } = decision
      const { metadata } = run
      return decision.action === 'replace'
        ? moveAway(run, { branch, action: 'replaced', supersededRef, to: required(stagedRef), metadata })
        : moveAway(run, { branch, action: 'relocated', supersededRef, to: inputRef, metadata })
    }
    default:
      return unreachable(decision, 'carry out a publication')
  }
}

function reportDecision({ steps }: PublicationRun, decision: PublishDecision): void {
  const outcome = decision.action === 'refuse' ? 'refused' : 'done'
  steps.report('publish-fence', { outcome, details: { ...decision } })
}

async function confirmed(
  run: PublicationRun,
  merged: { readonly ref: CommitRef; readonly stagedRef: CommitRef },
): Promise<Settled> {
  const { branch } = run.request.target
  try {
    return { action: 'merged', outputRef: await confirmMerge(run, merged) }
  } catch (error) {
    if (errorKindOf(error) !== 'unavailable') throw error
    // "Surely not done" is true of the reading alone: the merge was done.
    throw new UncertainError(
      'publication/unconfirmed',
      `publish on branch "${branch}": ${merged.ref} was merged, but the branch could not be read afterwards`,
      { details: { branch, mergedRef: merged.ref }, read: `the log of branch "${branch}"`, cause: error },
    )
  }
}

function isOurs({ authority, inputRef }: PublicationRun, head: CommitRecord | undefined): boolean {
  return head?.parents[0] === inputRef && isMadeBy(head.metadata, authority.executionId)
}

function judge(
  { inputRef }: PublicationRun,
  head: CommitRecord | undefined,
  stagedRef: CommitRef | undefined,
): PublishDecision {
  const diffIsEmpty = stagedRef === undefined
  return decidePublication({ inputRef, head: head?.ref, headFirstParent: head?.parents[0], diffIsEmpty })
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
