/**
 * Carries out the steps of an offered action, one after the other; the first that fails ends it. Branches are moved by the guarded
 * writes of `publication` alone, and only from the head that was examined.
 */

import { randomUUID } from 'node:crypto'
import { DefectError, InvalidError, MissingError, RefusedError, UncertainError } from '../base/errors.ts'
import { branchName, type BranchName, type CommitRef } from '../base/ids.ts'
import type { Json, JsonObject } from '../base/json.ts'
import { NotAdoptedError } from '../publication/adoption-error.ts'
import type { ActorAuthority } from '../publication/authority.ts'
import { readSettledHead } from '../publication/claims.ts'
import { keepSuperseded } from '../publication/evidence.ts'
import { readLedger } from '../publication/ledger.ts'
import { judgeSignature } from '../publication/ledger-signature.ts'
import { putCommit } from '../publication/put-commit.ts'
import { relocate } from '../publication/relocate.ts'
import { openSession, type SessionOptions } from '../publication/session.ts'
import { renderTaskOutput } from '../worker/attempt/task-input.ts'
import { hasEnded } from '../worker/attempt/ended-tasks.ts'
import { deliverResult } from '../worker/results/deliver-result.ts'
import { readInput, type Findings } from './gather.ts'
import type { OfferedAction, RecoveryStep } from './plan.ts'
import type { RecoveryQueue, RecoveryWorld } from './ports.ts'

export interface CarryOutRequest {
  readonly findings: Findings
  readonly offered: OfferedAction
  /** Why, in the words of who asks. */
  readonly reason?: string | undefined
  /** To adopt: the result of the task. */
  readonly result?: Json | undefined
}

/** What was done, for the report. */
export interface StepDone {
  readonly step: RecoveryStep['do']
  readonly tag?: string
  readonly evidenceBranch?: BranchName
  readonly movedTo?: CommitRef
  readonly workflowId?: string
  readonly taskId?: string
}

export async function carryOut(world: RecoveryWorld, request: CarryOutRequest): Promise<readonly StepDone[]> {
  const { offered, findings, reason } = request
  if (offered.needsReason && (reason ?? '').trim() === '') throw reasonMissing(offered)
  const done: StepDone[] = []
  for (const step of offered.steps) done.push(await carryOutStep(world, request, step))
  const { repository, branch } = findings.place
  world.logger.info('recovered', { repository, branch, action: offered.action, reason, done })
  return done
}

function carryOutStep(world: RecoveryWorld, request: CarryOutRequest, step: RecoveryStep): Promise<StepDone> {
  switch (step.do) {
    case 'keep-head':
      return keepHead(world, request)
    case 'branch-off-head':
      return branchOff(world, request)
    case 'move-branch':
      return moveBranch(world, request, step.to)
    case 'send-result':
      return sendResult(world, request)
    case 'complete-task':
      return completeTask(world, request)
    case 'start-workflow':
      return startWorkflow(world, request)
  }
}

async function keepHead(world: RecoveryWorld, request: CarryOutRequest): Promise<StepDone> {
  const session = openSession(optionsOf(world, request))
  return { step: 'keep-head', tag: await keepSuperseded(session, headOf(request)) }
}

/** The name follows from the head, so that the same twice is one branch. */
async function branchOff(world: RecoveryWorld, request: CarryOutRequest): Promise<StepDone> {
  const { branch, repository } = request.findings.place
  const head = headOf(request)
  const evidenceBranch = branchName(`perago-evidence-${branch}-${head.slice(0, 16)}`)
  const repo = world.repoOf(repository)
  const { repeat } = openSession(optionsOf(world, request))
  await repeat((call) => repo.createBranch({ branch: evidenceBranch, from: head }, call))
  const found = await repeat((call) => repo.readBranch(evidenceBranch, call))
  if (found?.head === head) return { step: 'branch-off-head', evidenceBranch }
  throw new RefusedError(
    'recovery/evidence-branch-taken',
    `keep ${head} on branch "${evidenceBranch}": that branch stands at ${found?.head ?? 'nothing'}`,
    { details: { evidenceBranch, head }, next: "Remove or rename that branch, it is not perago's." },
  )
}

async function moveBranch(
  world: RecoveryWorld,
  request: CarryOutRequest,
  where: Extract<RecoveryStep, { do: 'move-branch' }>['to'],
): Promise<StepDone> {
  const { findings } = request
  if (where === 'claimed') return finishClaim(world, request)
  const { inputRef, staged, outputRef, place } = findings
  const to = { input: inputRef, staged: staged?.ref, output: outputRef }[where]
  if (to === undefined)
    throw new DefectError('recovery/nowhere-to-move', `move a branch: no ${where} is known`)
  const { branch } = place
  const move = { ...optionsOf(world, request), branch, expectedHead: headOf(request), to }
  const { outputRef: movedTo, evidenceTag: tag } = await (where === 'input'
    ? relocate(move)
    : putCommit(move))
  return { step: 'move-branch', movedTo, tag }
}

/** It leads only where the claim says, and does nothing on any other head. */
async function finishClaim(world: RecoveryWorld, { findings }: CarryOutRequest): Promise<StepDone> {
  const { place, claimed, head } = findings
  const now = await readSettledHead(world.repoOf(place.repository), place.branch, { signal: world.signal })
  if (now !== undefined && now.ref !== head?.ref) return { step: 'move-branch', movedTo: now.ref }
  throw new RefusedError(
    'recovery/claim-stays',
    `finish the claim of branch "${place.branch}": it stays, instead of moving to ${claimed ?? 'nothing'}`,
    { next: `Lift the protection of "${place.branch}" for the move, and try again.` },
  )
}

async function sendResult(world: RecoveryWorld, { findings }: CarryOutRequest): Promise<StepDone> {
  const { held } = findings
  const queue = queueOf(world)
  if (held === undefined) throw new DefectError('recovery/no-result', 'send a result: none was found')
  const { attempt, result } = held
  const { clock, logger, signal } = world
  // Its worker may do the same: the task is read before each post, and a result that is there already counts as delivered.
  const delivery = await deliverResult({ queue, attempt, result, clock, logger, ...(signal && { signal }) })
  if (delivery.delivered) return { step: 'send-result', taskId: attempt.taskId }
  throw new RefusedError(
    'recovery/result-too-late',
    `send the result of task ${attempt.taskId}: ${delivery.status === 'refused' ? 'Conductor refuses it' : `the task is ${delivery.status}`}`,
    { details: { status: delivery.status }, next: 'Examine it again: the facts have changed.' },
  )
}

/** The task and the branch are read right before; an attempt that goes on stops at its fence. */
async function completeTask(world: RecoveryWorld, request: CarryOutRequest): Promise<StepDone> {
  const { findings, reason } = request
  const queue = queueOf(world)
  refuseUnsigned(world, findings)
  const result = request.result ?? recordedResult(findings)
  if (result === undefined) throw resultMissing()
  const head = headOf(request)
  const { task } = findings
  const input = task && readInput(task.record)
  if (task === undefined || input === undefined)
    throw new DefectError('recovery/no-task', 'adopt: no task is known')
  const { taskId, workflowId } = task.record
  const now = await queue.readTask(taskId, { signal: world.signal })
  if (now === undefined || hasEnded(now.status)) throw taskEnded(taskId, now?.status)
  await requireHead(world, findings, head)
  const output = renderTaskOutput({ workspace: { ...input, ref: head }, result })
  await queue.appendLog(taskId, `adopted ${head} by hand: ${reason ?? ''}`, { signal: world.signal })
  await queue.postResult(
    { taskId, workflowId, workerId: now.workerId, status: 'COMPLETED', output },
    { signal: world.signal },
  )
  await requireAdopted(queue, findings, head, world)
  return { step: 'complete-task', taskId, movedTo: head }
}

/**
 * Where keys are configured, workers sign what they publish: another entry is not this task's word, and a result given by hand does not
 * make it so. Without keys nobody can tell.
 */
function refuseUnsigned({ ledgerKeys }: RecoveryWorld, { head }: Findings): void {
  if (ledgerKeys === undefined || head === undefined) return
  const { ref: outputRef, metadata } = head
  const reading = readLedger(metadata)
  if (reading.kind === 'none') throw new NotAdoptedError('no-ledger', { outputRef })
  if (reading.kind === 'unreadable')
    throw new NotAdoptedError('unreadable', { outputRef, problems: reading.problems })
  const verdict = judgeSignature(metadata, ledgerKeys)
  if (verdict !== 'valid') throw new NotAdoptedError(verdict, { outputRef })
}

/** As the ledger of the publication has it; one that is damaged says nothing. */
function recordedResult({ head }: Findings): Json | undefined {
  const reading = head && readLedger(head.metadata)
  return reading?.kind === 'entry' && reading.ledger.result.kind === 'inline'
    ? reading.ledger.result.value
    : undefined
}

async function requireAdopted(
  queue: RecoveryQueue,
  { task, place }: Findings,
  head: CommitRef,
  { repoOf, signal }: RecoveryWorld,
): Promise<void> {
  const now = task && (await queue.readTask(task.record.taskId, { signal }))
  const branch = await repoOf(place.repository).readBranch(place.branch, { signal })
  if (now?.status === 'COMPLETED' && branch?.head === head) return
  throw new UncertainError(
    'recovery/not-adopted',
    `adopt ${head}: the task is ${now?.status ?? 'gone'}, and branch "${place.branch}" stands at ${branch?.head ?? 'nothing'}`,
    {
      read: 'the task and the branch',
      next: 'Examine it again; an attempt may have acted at the same time.',
    },
  )
}

async function startWorkflow(world: RecoveryWorld, { findings }: CarryOutRequest): Promise<StepDone> {
  const { task, place, head } = findings
  if (task === undefined || head === undefined)
    throw new DefectError('recovery/no-task', 'restart: no task is known')
  const { name, input } = task.workflow
  const workflowId = await queueOf(world).startWorkflow({ name, input: withHead(input, place, head.ref) })
  return { step: 'start-workflow', workflowId }
}

/** The input with this branch at another commit, wherever it is named. */
function withHead(
  input: JsonObject,
  place: { readonly repository: string; readonly branch: string },
  head: CommitRef,
): JsonObject {
  const isPlace = (value: JsonObject): boolean =>
    value['repository'] === place.repository && value['branch'] === place.branch && 'ref' in value
  return JSON.parse(
    JSON.stringify(input, (_, value: Json) =>
      typeof value === 'object' && value !== null && !Array.isArray(value) && isPlace(value as JsonObject)
        ? { ...(value as JsonObject), ref: head }
        : value,
    ),
  ) as JsonObject
}

async function requireHead(world: RecoveryWorld, { place }: Findings, head: CommitRef): Promise<void> {
  const now = await world.repoOf(place.repository).readBranch(place.branch, { signal: world.signal })
  if (now?.head === head) return
  throw new RefusedError(
    'recovery/facts-changed',
    `recover branch "${place.branch}": its head is ${now?.head ?? 'missing'}, and was ${head}`,
    { details: { branch: place.branch, head, now: now?.head }, next: 'Examine it again.' },
  )
}

function optionsOf(world: RecoveryWorld, { findings, offered }: CarryOutRequest): SessionOptions {
  const { clock, fences, signal } = world
  const authority: ActorAuthority = {
    kind: 'actor',
    actor: 'recovery',
    subject: offered.action,
    workflowId: findings.task?.workflow.workflowId,
    executionId: randomUUID(),
  }
  return { repo: world.repoOf(findings.place.repository), authority, clock, fences, signal }
}

function headOf({ findings: { head, place } }: CarryOutRequest): CommitRef {
  if (head !== undefined) return head.ref
  throw new MissingError('recovery/no-head', `recover branch "${place.branch}": it does not exist`)
}

function queueOf({ queue }: RecoveryWorld): RecoveryQueue {
  if (queue !== undefined) return queue
  throw new InvalidError('recovery/no-conductor', 'recover a task: no Conductor is configured', {
    next: 'Set conductor.serverUrl.',
  })
}

function reasonMissing({ action }: OfferedAction): InvalidError {
  return new InvalidError('recovery/no-reason', `${action}: no reason is given`, {
    next: 'Say why with --reason; it is logged with what is done.',
  })
}

function resultMissing(): InvalidError {
  return new InvalidError(
    'recovery/no-result',
    'adopt: the publication has no readable result, and none is given',
    {
      next: 'Give the result as JSON with --result.',
    },
  )
}

function taskEnded(taskId: string, status: string | undefined): RefusedError {
  return new RefusedError('recovery/facts-changed', `adopt: task ${taskId} is ${status ?? 'gone'} by now`, {
    next: 'Examine it again.',
  })
}
