/**
 * Publishes what one attempt did, or corrects the branch when it did nothing. The order never varies:
 *
 *   attempt fence → with changes: stage → attempt fence (beside it, what was staged is held against the plan)
 *                                        → facts → publish fence → merge or replace
 *                 → without:                              facts → publish fence → complete or relocate
 *
 * Without changes the attempt and the facts are first read side by side: as long as nothing is to be written, neither reading
 * has to be newer than the other. Where a branch write is due, the facts are read after the attempt was confirmed.
 *
 * 1. Nothing is staged before the first attempt check, and an attempt check stands right before every branch write.
 * 2. `publish` answers only when the branch was read afterwards and held what it says; everything else throws.
 * 3. A lost answer is neither success nor failure: the facts are read and judged again, a bounded number of times.
 * 4. A staging branch outlives its publication only as evidence.
 */

import { errorKindOf, invariant, UncertainError, unreachable } from '../base/errors.ts'
import type { CommitRef } from '../base/ids.ts'
import { PUBLICATION_TURNS_MAX } from './limits.ts'
import {
  decidePublication,
  PublishFenceError,
  type PublishDecision,
  type PublishRefusal,
} from '../fences/publish-fence.ts'
import { passAttemptFence } from './attempt-guard.ts'
import { removeStaging } from './clean-up.ts'
import { isMadeForTask } from './commit-metadata.ts'
import { describeRefusal } from './evidence-record.ts'
import { keepRefusal, keepSuperseded } from './keep-evidence.ts'
import { confirmMerge, findOwnPublication } from './own-publication.ts'
import { checkPlan, isEmpty } from './planned-changes.ts'
import type { PublicationRequest, PublicationResult } from './publication.ts'
import { repeatWhenLost } from './repeat.ts'
import { openRun, type PublicationRun } from './run.ts'
import { openStaging } from './open-staging.ts'
import { stage, type Staged } from './stage.ts'
import type { BranchFacts, BranchWrite } from './strategy.ts'
import { verifyStaged } from './verify-staged.ts'

/**
 * ```ts
 * const { outputRef } = await publish({ repo, target, changes, guard: { attempt, readFresh }, task })
 * ```
 */
export async function publish(request: PublicationRequest): Promise<PublicationResult> {
  checkPlan(request.changes, request.target.prefix)
  const run = openRun(request)
  const progress: Progress = { opened: false, staged: undefined }
  try {
    const result = await stageAndPublish(run, progress)
    await cleanUpAfterSuccess(run, progress)
    return result
  } catch (error) {
    await settleFailure(run, progress, error)
    throw error
  }
}

interface Progress {
  /** A staging branch may be there. */
  opened: boolean
  staged: Staged | undefined
}

async function stageAndPublish(run: PublicationRun, progress: Progress): Promise<PublicationResult> {
  if (isEmpty(run.request.changes)) {
    const settledAtOnce = await judgeUnchanged(run)
    return settledAtOnce ?? publishStaged(run, progress, { attemptIsChecked: true })
  }
  await checkAttemptAndOpen(run, progress)
  await stageAndCheckAttempt(run, progress)
  return publishStaged(run, progress, { attemptIsChecked: true })
}

/** `undefined`: the attempt is current, and the branch is to be moved back. */
async function judgeUnchanged(run: PublicationRun): Promise<PublicationResult | undefined> {
  // Whatever the branch says, the attempt fence speaks first.
  const [checked, read] = await Promise.allSettled([checkAttempt(run, 'before-relocation'), readFacts(run)])
  if (checked.status === 'rejected') throw checked.reason
  if (read.status === 'rejected') throw read.reason
  const judged = { facts: read.value, staged: undefined }
  if (judge(run, judged).action === 'relocate') return undefined
  return carryOut(run, { ...judged, decision: decide(run, judged) })
}

async function checkAttemptAndOpen(run: PublicationRun, progress: Progress): Promise<void> {
  const { early } = run.request
  const mayBeOpen = (): void => {
    progress.opened = true
  }
  // Whatever became of the early branch, the fence speaks first.
  const [checked, taken] = await Promise.allSettled([checkAttempt(run, 'before-staging'), early?.takeOver()])
  const isOpen = taken.status === 'fulfilled' && taken.value === true
  if (isOpen) mayBeOpen()
  if (checked.status === 'rejected') throw checked.reason
  if (!isOpen) await openStaging(run, { mayBeOpen })
}

/** What was staged is compared with the plan while the attempt is checked: both read, after the commit and before the next write. */
async function stageAndCheckAttempt(run: PublicationRun, progress: Progress): Promise<void> {
  const tree = await stage(run)
  const verify = (): Promise<void> => run.steps.run('verify-staging', () => verifyStaged(run, tree))
  const [verified, checked] = await Promise.allSettled([verify(), checkAttempt(run, 'before-publishing')])
  // Evidence is only what was planned.
  if (verified.status === 'fulfilled' && tree.ref !== run.inputRef) progress.staged = { ref: tree.ref }
  if (checked.status === 'rejected') throw checked.reason
  if (verified.status === 'rejected') throw verified.reason
}

/** Judges the branch and acts, again after each lost answer or moved head, until one judgement is carried out. */
async function publishStaged(
  run: PublicationRun,
  { staged }: Progress,
  options: { readonly attemptIsChecked: boolean },
): Promise<PublicationResult> {
  const { inputRef } = run.request.target
  let lost: LostWrite | undefined
  for (let turn = 1; turn <= PUBLICATION_TURNS_MAX; turn++) {
    if (turn > 1 || !options.attemptIsChecked) await checkAttempt(run, 'before-publishing')
    const landed = lost && staged && (await lookUp(run, lost, staged))
    if (landed !== undefined) return landed
    // Read last, so that nothing newer is known than what is judged.
    const facts = await readFacts(run)
    if (lost?.move !== undefined && staged === undefined && facts.head?.ref === inputRef)
      return settled(run, inputRef, lost.move)
    const decision = decide(run, { facts, staged })
    try {
      const result = await carryOut(run, { decision, facts, staged })
      if (result !== undefined) return result
    } catch (error) {
      // Only a branch write whose answer is lost is looked up: everything else that fails ends the attempt.
      if (!(error instanceof LostWrite)) throw error
      lost = error
    }
  }
  throw new UncertainError(
    'publication/unsettled',
    `publish on branch "${run.request.target.branch}": ${PUBLICATION_TURNS_MAX} times the branch was judged and nothing could be confirmed`,
    {
      details: { branch: run.request.target.branch, stagedRef: staged?.ref },
      read: `the log of branch "${run.request.target.branch}"`,
      next: 'See that lakeFS answers and that nobody else writes the branch; the next attempt starts from the facts.',
    },
  )
}

/** What became of a branch write whose answer was lost; `undefined` when the facts must be judged anew. */
async function lookUp(
  run: PublicationRun,
  lost: LostWrite,
  staged: Staged,
): Promise<PublicationResult | undefined> {
  const ref = await findOwnPublication(run, staged)
  return ref && settled(run, ref, ref === staged.ref ? lost.move : undefined)
}

interface Judged {
  readonly decision: PublishDecision
  readonly facts: BranchFacts
  readonly staged: Staged | undefined
}

/** `undefined`: the branch had moved and was not written, so it must be judged again. */
async function carryOut(run: PublicationRun, judged: Judged): Promise<PublicationResult | undefined> {
  const { decision } = judged
  const { strategy, request } = run
  const { inputRef } = request.target
  switch (decision.action) {
    case 'refuse':
      throw refuse(run, judged, decision.reason)
    case 'complete':
      return { action: 'completed', outputRef: inputRef, strength: strategy.strength }
    case 'merge':
      return merge(run, stagedOf(judged))
    case 'replace':
      return supersede(run, judged, { ...decision, action: 'replaced', to: stagedOf(judged).ref })
    case 'relocate':
      return supersede(run, judged, { ...decision, action: 'relocated', to: inputRef })
    default:
      return unreachable(decision, 'carry out a publication')
  }
}

async function merge(run: PublicationRun, staged: Staged): Promise<PublicationResult | undefined> {
  const { request, strategy, metadata } = run
  const { branch, inputRef } = request.target
  const message = `Publish ${request.task.referenceTaskName}, attempt ${request.guard.attempt.retryCount}`
  const write = { branch, expectedHead: inputRef, stagedRef: staged.ref, message, metadata }
  const outcome = await writeBranch(run, 'merge', () => strategy.merge(write, run.call))
  if (!outcome.written) return undefined
  try {
    return settled(run, await confirmMerge(run, { ref: outcome.ref, staged }), undefined)
  } catch (error) {
    // Merged, and then not to be seen: "surely not done" is true of the reading alone.
    if (errorKindOf(error) === 'unavailable') throw unconfirmed(run, outcome.ref, error)
    throw error
  }
}

function unconfirmed({ request }: PublicationRun, mergedRef: CommitRef, cause: unknown): UncertainError {
  const { branch } = request.target
  return new UncertainError(
    'publication/unconfirmed',
    `publish on branch "${branch}": ${mergedRef} was merged, but the branch could not be read afterwards`,
    { details: { branch, mergedRef }, read: `the log of branch "${branch}"`, cause },
  )
}

interface Move {
  readonly action: 'replaced' | 'relocated'
  readonly supersededRef: CommitRef
  readonly evidenceTag: string
}

/** Replacement and relocation: the head leaves the branch's history, and stays reachable under its tag. */
async function supersede(
  run: PublicationRun,
  judged: Judged,
  wanted: { readonly action: Move['action']; readonly supersededRef: CommitRef; readonly to: CommitRef },
): Promise<PublicationResult | undefined> {
  const { request, strategy } = run
  const { action, supersededRef, to } = wanted
  if (request.replace === 'own' && !isOwnHead(run, judged.facts)) throw refuse(run, judged, 'not-own')
  const move = { action, supersededRef, evidenceTag: await keepSuperseded(run, supersededRef) }
  const write = { branch: request.target.branch, expectedHead: supersededRef, to }
  const step = action === 'replaced' ? 'replace' : 'relocate'
  const outcome = await writeBranch(run, step, () => strategy.move(write, run.call), move)
  // Told to be elsewhere: perhaps it never came to our commit, perhaps it has moved on from there.
  if (!outcome.written) throw new LostWrite(move)
  return settled(run, to, move)
}

function settled(
  { strategy }: PublicationRun,
  outputRef: CommitRef,
  move: Move | undefined,
): PublicationResult {
  return { outputRef, strength: strategy.strength, ...(move ?? { action: 'merged' }) }
}

async function writeBranch(
  run: PublicationRun,
  step: 'merge' | 'replace' | 'relocate',
  write: () => Promise<BranchWrite>,
  move?: Move,
): Promise<BranchWrite> {
  try {
    return await run.steps.run(step, write, (outcome) => ({ ...outcome }))
  } catch (error) {
    // A write made of several requests can be "surely not done" in its last one only; if nothing can be done at all,
    // reading the facts will say so.
    const kind = errorKindOf(error)
    if (kind === 'uncertain' || kind === 'unavailable') throw new LostWrite(move, { cause: error })
    throw error
  }
}

/** Never leaves this file. */
class LostWrite extends Error {
  readonly move: Move | undefined

  constructor(move: Move | undefined, options?: ErrorOptions) {
    super('it is not known what a branch write did', options)
    this.move = move
  }
}

type FencePosition = 'before-staging' | 'before-relocation' | 'before-publishing'

async function checkAttempt(run: PublicationRun, position: FencePosition): Promise<void> {
  const { guard, signal } = run.request
  await run.steps.run(
    'attempt-fence',
    () => passAttemptFence(guard, signal),
    () => ({ position }),
  )
}

function readFacts(run: PublicationRun): Promise<BranchFacts> {
  const { branch } = run.request.target
  return run.steps.run(
    'read-facts',
    () => repeatWhenLost(() => run.strategy.readFacts(branch, run.call), run.repeat),
    ({ head }) => ({ head: head?.ref, headFirstParent: head?.parents[0] }),
  )
}

type Judgeable = Pick<Judged, 'facts' | 'staged'>

function judge({ request }: PublicationRun, { facts, staged }: Judgeable): PublishDecision {
  return decidePublication({
    inputRef: request.target.inputRef,
    head: facts.head?.ref,
    headFirstParent: facts.head?.parents[0],
    diffIsEmpty: staged === undefined,
  })
}

/** Judges, and tells of it. */
function decide(run: PublicationRun, judgeable: Judgeable): PublishDecision {
  const decision = judge(run, judgeable)
  const outcome = decision.action === 'refuse' ? 'refused' : 'done'
  run.steps.tell('publish-fence', { outcome, details: { ...decision } })
  return decision
}

function isOwnHead({ request }: PublicationRun, { head }: BranchFacts): boolean {
  return (
    head !== undefined && isMadeForTask(head.metadata, { attempt: request.guard.attempt, task: request.task })
  )
}

function refuse({ request }: PublicationRun, judged: Judged, reason: PublishRefusal): PublishFenceError {
  const { branch, inputRef } = request.target
  const { head } = judged.facts
  return new PublishFenceError(reason, {
    branch,
    inputRef,
    head: head?.ref,
    headFirstParent: head?.parents[0],
    stagedRef: judged.staged?.ref,
  })
}

function stagedOf({ staged }: Judged): Staged {
  invariant(staged !== undefined, 'only what was staged is merged or put in place of another commit')
  return staged
}

async function cleanUpAfterSuccess(run: PublicationRun, { opened }: Progress): Promise<void> {
  if (!opened) return
  const { cleanUpLater } = run.request
  if (cleanUpLater === undefined) await removeStaging(run)
  else cleanUpLater(() => removeStaging(run))
}

/** Evidence where something was refused or is uncertain, and otherwise nothing left behind. */
async function settleFailure(
  run: PublicationRun,
  { opened, staged }: Progress,
  error: unknown,
): Promise<void> {
  const { guard, task, target } = run.request
  const record = describeRefusal(error, {
    branch: target.branch,
    inputRef: target.inputRef,
    stagingBranch: run.stagingBranch,
    stagedRef: staged?.ref,
    attempt: guard.attempt,
    executionId: task.executionId,
  })
  if (record !== undefined) await keepRefusal(run, record)
  if (opened && (record === undefined || staged === undefined)) await removeStaging(run)
}
