/**
 * Gathers the facts about one branch, or about one task and the branch that it publishes to. Reads only: a claim at the head is
 * seen, and stays.
 */

import type { CommitRef } from '../base/ids.ts'
import { readClaim, readNewest } from '../publication/claims.ts'
import type { CommitRecord, VersionedRepo } from '../publication/ports.ts'
import { hasEnded, isOverFor } from '../worker/attempt/ended-tasks.ts'
import { readTaskInput, type WorkspaceRef } from '../worker/attempt/task-input.ts'
import { findOtherWriters } from '../worker/branches/second-writers.ts'
import type { TaskRecord, WorkflowId } from '../worker/ports.ts'
import type { HeldResult } from '../worker/results/outbox-entries.ts'
import { RECOVERY_OPEN_WORKFLOWS_MAX } from './limits.ts'
import { readStagedWork, type StagedWork } from './staged-work.ts'
import type { BranchPlace, RecordedWorkflow, RecoveryWorld } from './ports.ts'
import { placeOutput, placeHead, whoseIs } from './placement.ts'
import type { SituationFacts } from './situation.ts'

/** The task whose publication is examined. */
export interface ExaminedTask {
  readonly workflow: Pick<RecordedWorkflow, 'workflowId' | 'name' | 'status' | 'input'>
  readonly record: TaskRecord
}

export interface Findings {
  readonly place: BranchPlace
  readonly facts: SituationFacts
  readonly task: ExaminedTask | undefined
  /** What the task was given to read; without a task, what the head says that it stands on. */
  readonly inputRef: CommitRef | undefined
  readonly head: CommitRecord | undefined
  /** Where a claim at the head leads. */
  readonly claimed: CommitRef | undefined
  /** Of a completed task. */
  readonly outputRef: CommitRef | undefined
  readonly held: HeldResult | undefined
  readonly staged: StagedWork | undefined
  /** Others that have not ended and may write the branch, oldest first. */
  readonly others: readonly WorkflowId[]
}

export async function gather(
  world: RecoveryWorld,
  place: BranchPlace,
  task: ExaminedTask | 'unknown' | undefined,
): Promise<Findings> {
  const repo = world.repoOf(place.repository)
  const call = { signal: world.signal }
  const known = task === 'unknown' ? undefined : task
  const head = await readNewest(repo, place.branch, call)
  const claimed = head && (await readClaim(repo, head, call))?.target
  const inputRef = known === undefined ? inputOf(head) : readInput(known.record)?.ref
  const outputRef = known && outputOf(known.record)
  const held = known && (await findHeld(world, known.record))
  const staged = known && inputRef && (await readStagedWork(repo, { ...known.record, inputRef }, call))
  const others = await findOthers(world, place, known)
  const stand = await standOf(repo, { head, claimed, inputRef, signal: world.signal })
  const facts: SituationFacts = {
    stand,
    head: head === undefined ? 'foreign' : whoseIs(head, known?.record),
    task: task === 'unknown' ? 'unknown' : stateOf(known),
    output:
      outputRef === undefined || head === undefined
        ? 'none'
        : await placeOutput(repo, { head, outputRef }, call),
    result: held === undefined ? 'none' : held.isRefused ? 'refused' : 'waiting',
    staged: staged === undefined ? 'none' : 'kept',
    others: others.length === 0 ? 'none' : 'open',
  }
  return { place, facts, task: known, inputRef, head, claimed, outputRef, held, staged, others }
}

async function standOf(
  repo: VersionedRepo,
  of: Pick<Findings, 'head' | 'claimed' | 'inputRef'> & { readonly signal: AbortSignal | undefined },
): Promise<SituationFacts['stand']> {
  const { head, claimed, inputRef, signal } = of
  if (head === undefined) return 'missing'
  if (claimed !== undefined) return 'claim'
  if (inputRef === undefined) return 'no-input'
  return placeHead(repo, { head, inputRef }, { signal })
}

/** Of a commit that says itself what it stands on. */
function inputOf(head: CommitRecord | undefined): CommitRef | undefined {
  const input = head?.metadata['publish.input']
  return input === undefined || input === '' ? undefined : (input as CommitRef)
}

export function readInput({ input }: Pick<TaskRecord, 'input'>): WorkspaceRef | undefined {
  try {
    return readTaskInput(input, { workspace: true }).workspace
  } catch {
    // It is no task that works on a branch.
    return undefined
  }
}

/** The workspace of an output is written like that of an input. */
export function outputOf({ status, output }: TaskRecord): CommitRef | undefined {
  if (!status.startsWith('COMPLETED')) return undefined
  return readInput({ input: { params: null, workspace: output['workspace'] ?? null } })?.ref
}

function stateOf(task: ExaminedTask | undefined): SituationFacts['task'] {
  if (task === undefined) return 'none'
  const { record, workflow } = task
  if (record.status.startsWith('COMPLETED')) return 'completed'
  return hasEnded(record.status) || isOverFor(workflow.status) ? 'failed' : 'open'
}

async function findHeld(world: RecoveryWorld, record: TaskRecord): Promise<HeldResult | undefined> {
  const own = (await world.readHeldResults()).filter(({ attempt }) => attempt.taskId === record.taskId)
  // Of another claim of the same id it is too late.
  return (
    own.findLast(({ attempt }) => attempt.workerId === record.workerId) ??
    own.findLast(({ isRefused }) => isRefused)
  )
}

async function findOthers(
  { queue, signal }: RecoveryWorld,
  place: BranchPlace,
  task: ExaminedTask | undefined,
): Promise<readonly WorkflowId[]> {
  if (queue === undefined) return []
  const { workflows: open } = await queue.readOpenWorkflows(RECOVERY_OPEN_WORKFLOWS_MAX, { signal })
  // The definitions of the tasks are not known here, so that every one of them may write.
  const own = task?.workflow.workflowId
  return findOtherWriters({ open, own, targets: [place], tasks: new Map() }).map(
    ({ workflowId }) => workflowId,
  )
}
