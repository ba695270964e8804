/** Reads what happened in a world, and names every promise that did not hold. Everything here is about the target branch. */

import type { CommitRecord } from '../../publication/ports.ts'
import type { CommitRef } from '../../base/ids.ts'
import { isPeragoError } from '../../base/errors.ts'
import type { Move } from '../../publication/session.ts'
import { PublishFenceError } from '../../fences/publish-fence.ts'
import type { BranchUpdate } from '../scripted-world.ts'
import { ABANDONED, runOf, TARGET } from './work.ts'
import type { World } from './world.ts'

/** What must not happen. */
export type Violation =
  | 'unread head overwritten'
  | 'commit lost'
  | 'reported commit was not the head'
  | 'reported commit is not directly above its input'
  | 'published commit missing from the history'
  | 'reported work is not in the commit'
  | 'reported commit is of another task'
  | 'reported result is of another run'
  | 'own publication replaced'
  | 'commit of others replaced'
  | 'body ran beside its adoptable publication'
  | 'adopted without a check of its own'
  | 'adopted what was not the head'
  | 'result risked'
  | 'uncertain after one lost answer'
  | 'refusal was retried'
  | 'own staging branch taken for that of others'
  | 'more than one commit of one step'
  | 'stale attempt moved the branch of its successor'
  | 'write without a check of its own'
  | 'write on old answers'
  | 'write after its lease was lost'
  | 'result sent beside a renewal'
  | 'lease taken from a current attempt'
  | 'claim left at the head'
  | 'staging branch left'
  | 'unexpected error'
  | 'refused without a reason'
  | 'not ended'

/** What a fence without the server's help cannot prevent, as documented. */
export type Window =
  | 'merged onto an unread commit'
  | 'reset over an unread commit'
  | 'written by an attempt that is over'
  | 'own write took effect twice'

export interface Verdict {
  readonly violations: readonly Violation[]
  readonly windows: readonly Window[]
}

export function judge(world: World): Verdict {
  const violations = new Set<Violation>()
  const windows = new Set<Window>()
  const updates = world.repo.updates.filter(({ branch, client }) => branch === TARGET && client !== 'direct')
  for (const update of updates) judgeUpdate(world, update, { violations, windows })
  judgeWrites(world, violations)
  judgeReports(world, violations)
  judgeReplacements(world, violations)
  judgeAdoptions(world, violations)
  if (world.isResultRisked) violations.add('result risked')
  const acknowledged = [...world.foreign, ...world.queue.completed.map(({ outputRef }) => outputRef)]
  // In the window of a reset, which only servers without records have, it may be lost, and only there.
  if (acknowledged.some((ref) => !isKept(world, ref)) && !windows.has('reset over an unread commit'))
    violations.add('commit lost')
  if (!world.isPruned) judgeEnd(world, { violations, windows })
  return { violations: [...violations], windows: [...windows] }
}

function judgeWrites({ writes, leases }: World, violations: Set<Violation>): void {
  for (const { isChecked, isOld, isLeaseLost } of writes) {
    if (!isChecked) violations.add('write without a check of its own')
    if (isOld) violations.add('write on old answers')
    if (isLeaseLost) violations.add('write after its lease was lost')
  }
  if (leases.isResultBesideRenewal) violations.add('result sent beside a renewal')
  if (leases.isTakenFromCurrent) violations.add('lease taken from a current attempt')
}

interface Found {
  readonly violations: Set<Violation>
  readonly windows: Set<Window>
}

function judgeUpdate(world: World, update: BranchUpdate, { violations, windows }: Found): void {
  const isStale = world.staleUpdates.has(world.repo.updates.indexOf(update))
  const isCollapse = isCollapseOf(world, update)
  if (isStale && !isCollapse) {
    windows.add('written by an attempt that is over')
    if (isHard(world) && !isOnItsExpectation(world, update))
      violations.add('stale attempt moved the branch of its successor')
  }
  if (isCollapse) return
  const reading = lastReading(world, update)
  if (update.from === reading?.head) return
  if (isHard(world) || isOutsideWindow(world, update, reading?.order))
    violations.add('unread head overwritten')
  const from = update.from === undefined ? undefined : world.repo.model.commit(update.from)
  if (from?.metadata['publish.run'] === runOf(update.client) && !isMergedTwice(world, from))
    windows.add('own write took effect twice')
  else if (update.how !== 'reset') windows.add('merged onto an unread commit')
  else if (isMergedTwice(world, from))
    // Nothing but the second one goes, unless others have committed below it.
    windows.add(
      from?.parents[0] === update.to ? 'own write took effect twice' : 'reset over an unread commit',
    )
  else if (world.scenario.isOlder === true) windows.add('reset over an unread commit')
  else violations.add('unread head overwritten')
}

/** Where the server does not keep its part, there is the soft fence, and what was reported must be true all the same. */
function isHard({ scenario: { strength, isFenceOff } }: World): boolean {
  return strength === 'hard' && isFenceOff !== true
}

function lastReading(
  world: World,
  { client, sentAfter }: BranchUpdate,
): { readonly head: CommitRef | undefined; readonly order: number } | undefined {
  return world.repo.readings.findLast(
    (reading) => reading.branch === TARGET && reading.client === client && reading.order <= sentAfter,
  )
}

/** The window: from the last reading before the request to its effect, however late that comes. A head that was set before it should have been seen. */
function isOutsideWindow(world: World, update: BranchUpdate, readAt: number | undefined): boolean {
  if (readAt === undefined) return true
  const set = world.repo.updates.findLast(({ branch, order }) => branch === TARGET && order < update.order)
  return set === undefined || set.order < readAt
}

/** A claim whose merge took effect twice: what was meant for the first is followed on the second. */
function isMergedTwice({ repo: { model, updates } }: World, claim: CommitRecord | undefined): boolean {
  const [, record] = claim?.parents ?? []
  const merges = updates.filter(({ how, to }) => how === 'merge' && model.commit(to)?.parents[1] === record)
  return record !== undefined && merges.length > 1
}

/** From a claim to where it leads, whoever does it. */
function isCollapseOf({ repo: { model } }: World, { how, from, to }: BranchUpdate): boolean {
  const head = from === undefined ? undefined : model.commit(from)
  const record = head?.parents[1] === undefined ? undefined : model.commit(head.parents[1])
  const [, fan] = record?.parents.length === 2 ? record.parents : []
  const leaf = fan === undefined ? undefined : model.commit(fan)?.parents.at(-1)
  const path = leaf === undefined ? record : model.commit(leaf)
  return how === 'reset' && path?.parents[2] === to && record?.parents[0] === head?.parents[0]
}

/** A write of an attempt that is over is harmless where the branch stands as that attempt was told. */
function isOnItsExpectation(world: World, { from, to }: BranchUpdate): boolean {
  return world.repo.model.commit(to)?.metadata['publish.expected_head'] === from
}

function judgeReports(world: World, violations: Set<Violation>): void {
  const { repo, queue } = world
  for (const completed of queue.completed) {
    const { step, inputRef, outputRef, client } = completed
    const wasHead = repo.updates.some(({ branch, to }) => branch === TARGET && to === outputRef)
    if (!wasHead) violations.add('reported commit was not the head')
    const commit = repo.model.commit(outputRef)
    const below = commit?.parents[0]
    const isForward = below !== undefined && commit?.metadata['publish.replaces'] === below
    if (outputRef !== inputRef && below !== inputRef && !isForward)
      violations.add('reported commit is not directly above its input')
    const maker = outputRef === inputRef ? client : makerOf(world, outputRef)
    if (!isOfStep(world, maker, step)) violations.add('reported commit is of another task')
    const read = (path: string): string | undefined => textIn(world, outputRef, path)
    const holds = world.work.holds({ maker: queue.ofClient(maker), makerName: maker, completed, read })
    if (!holds.result) violations.add('reported result is of another run')
    if (!holds.work) violations.add('reported work is not in the commit')
  }
}

/** Who made the commit, by who put it on a branch first, be it a staging branch; what was there before is abandoned work. */
function makerOf({ repo: { updates, model } }: World, ref: CommitRef): string {
  const client = updates.find(({ to }) => to === ref)?.client
  return client === 'direct' || client === undefined
    ? (model.commit(ref)?.metadata['publish.run'] ?? '')
    : client
}

function isOfStep({ queue }: World, client: string, step: number): boolean {
  return client === ABANDONED ? step === 0 : queue.ofClient(client)?.step === step
}

function textIn({ repo: { model } }: World, ref: CommitRef, path: string): string | undefined {
  const bytes = model.treeAt(ref)?.get(path)?.bytes
  return bytes === undefined ? undefined : Buffer.from(bytes).toString()
}

function judgeReplacements(world: World, violations: Set<Violation>): void {
  const { scenario, results, queue } = world
  for (const [client, result] of results) {
    const { supersededRef } = Object(result) as Partial<Move>
    const step = queue.ofClient(client)?.step
    if (supersededRef === undefined || step === undefined) continue
    const maker = makerOf(world, supersededRef)
    if (maker === client) violations.add('own publication replaced')
    if (scenario.replace === 'own' && !isOfStep(world, maker, step))
      violations.add('commit of others replaced')
  }
}

function judgeAdoptions(world: World, violations: Set<Violation>): void {
  const { scenario, bodies, adoptions, repo, queue } = world
  if (scenario.onRetry !== 'adopt') return
  for (const { attempt, head } of bodies) {
    const { parents = [] } = (head === undefined ? undefined : repo.model.commit(head)) ?? {}
    const isAbove = head !== attempt.inputRef && parents.length === 1 && parents[0] === attempt.inputRef
    if (head !== undefined && isAbove && isOfStep(world, makerOf(world, head), attempt.step))
      violations.add('body ran beside its adoptable publication')
  }
  for (const { attempt, head, isChecked } of adoptions) {
    if (!isChecked) violations.add('adopted without a check of its own')
    const reported = queue.completed.find(({ client }) => client === attempt.client)
    if (reported !== undefined && reported.outputRef !== head) violations.add('adopted what was not the head')
  }
}

function isKept(world: World, ref: CommitRef): boolean {
  const { model } = world.repo
  const head = world.repo.head(TARGET)
  const keepers = [...model.tags.values(), ...(head === undefined ? [] : [head])]
  return keepers.some((keeper) => model.isAncestor(ref, keeper))
}

/** Nobody else writes to staging branches here. */
const STAGING_REFUSALS: ReadonlySet<string> = new Set([
  'publication/staged-unlike-plan',
  'publication/staging-exists',
  'publication/staging-moved',
])

function judgeEnd(world: World, { violations, windows }: Found): void {
  const { repo, queue, results } = world
  if (queue.workflow === 'RUNNING') violations.add('not ended')
  for (const result of results.values())
    if (result instanceof Error && (!isPeragoError(result) || result.kind === 'defect'))
      violations.add('unexpected error')
  for (const result of results.values())
    if (isPeragoError(result) && STAGING_REFUSALS.has(result.code))
      violations.add('own staging branch taken for that of others')
  if (world.isAnsweredButOnce)
    for (const result of results.values())
      if (isPeragoError(result) && result.kind === 'uncertain')
        violations.add('uncertain after one lost answer')
  for (const { client, status } of queue.attempts)
    if (status === 'FAILED' && results.get(client) instanceof PublishFenceError)
      violations.add('refusal was retried')
  const isRefused = queue.attempts.some(({ status }) => status === 'FAILED_WITH_TERMINAL_ERROR')
  const isLeftAlone = world.foreign.length === 0 && !world.isRolledBack && windows.size === 0
  // After a replacement that could only go forward the input is not directly below the head any more.
  const { replace, isProtected } = world.scenario
  if (isRefused && isLeftAlone && replace !== 'own' && isProtected !== true)
    violations.add('refused without a reason')
  if (queue.workflow !== 'COMPLETED') return
  const head = repo.head(TARGET)
  const isDisturbed = world.foreign.length > 0 || world.isRolledBack
  const isOver = windows.size > 0 || isDisturbed
  const claim = head && repo.model.commit(head)?.metadata['publish.claim']
  if (claim !== undefined && !isOver && world.scenario.isProtected !== true)
    violations.add('claim left at the head')
  if (isOver || head === undefined) return
  const log = readLog(world, head)
  const outputs = queue.completed.filter(({ inputRef, outputRef }) => inputRef !== outputRef)
  const missing = outputs.some(({ outputRef }) => !log.includes(outputRef))
  if (missing) violations.add('published commit missing from the history')
  const replaced = new Set(log.map((ref) => repo.model.commit(ref)?.metadata['publish.replaces']))
  if (log.filter((ref) => !replaced.has(ref)).length > outputs.length)
    violations.add('more than one commit of one step')
  judgeLeftovers(world, violations)
}

/** Where nobody died and nothing was lost, nothing is left. */
function judgeLeftovers(world: World, violations: Set<Violation>): void {
  const { budget } = world.scenario
  if (budget.crashes + budget.faults + budget.timeouts > 0) return
  if (world.repo.model.branches.size > 1) violations.add('staging branch left')
}

/** First-parent history, newest first, down to the first input. */
function readLog(world: World, head: CommitRef): CommitRef[] {
  const log: CommitRef[] = []
  for (const { ref } of world.repo.model.ancestors(head, { firstParent: true })) {
    if (ref === world.firstInput) return log
    log.push(ref)
  }
  return log
}
