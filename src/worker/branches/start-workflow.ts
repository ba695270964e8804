/**
 * Starts a workflow on a branch that no other one writes. The task queue cannot guarantee that, so open workflows are
 * searched before the start and again after it: of two that start at the same time at least one sees the other, and
 * terminates its own.
 */

import { RefusedError, UnavailableError } from '../../base/errors.ts'
import { START_WORKFLOWS_MAX } from '../limits.ts'
import type { OpenWorkflow, QueueCallOptions, TaskQueue, WorkflowId } from '../ports.ts'
import type { JsonObject } from '../../base/json.ts'
import { targetsIn, type BranchTarget } from '../../tasks/branch-targets.ts'
import { findOtherWriters } from './second-writers.ts'

/** The calls of a task queue that a start needs. */
export interface WorkflowStarter<Start> extends Pick<TaskQueue, 'readOpenWorkflows'> {
  start(start: Start, options: QueueCallOptions): Promise<WorkflowId>
  terminate(workflowId: WorkflowId, reason: string, options: QueueCallOptions): Promise<void>
}

/**
 * Throws `worker/branch-taken` if another workflow that has not ended may write a branch that the input names; this one
 * does not run then.
 */
export async function startAlone<Start extends { readonly name: string; readonly input?: JsonObject }>(
  starter: WorkflowStarter<Start>,
  start: Start,
  options: QueueCallOptions = {},
): Promise<WorkflowId> {
  const targets = targetsIn(start.input ?? {})
  if (targets.length === 0) return starter.start(start, options)
  const findOthers = async (own?: WorkflowId): Promise<readonly OpenWorkflow[]> => {
    const { workflows: open, isWhole } = await starter.readOpenWorkflows(START_WORKFLOWS_MAX, options)
    if (!isWhole) throw tooMany(start.name)
    // The tasks are not known here, so every workflow that gets the branch may write it.
    return findOtherWriters({ open, own, targets, tasks: new Map() })
  }
  const before = await findOthers()
  if (before.length > 0) throw branchTaken(start.name, targets, before)

  const own = await starter.start(start, options)
  let others: readonly OpenWorkflow[]
  try {
    others = await findOthers(own)
  } catch (error) {
    const reason = 'it could not be checked whether another workflow writes its branch'
    await starter.terminate(own, reason, options)
    throw error
  }
  if (others.length === 0) return own
  await starter.terminate(own, `another workflow writes its branch: ${namesOf(others)}`, options)
  throw branchTaken(start.name, targets, others)
}

function branchTaken(
  name: string,
  targets: readonly BranchTarget[],
  others: readonly OpenWorkflow[],
): RefusedError {
  const on = targets.map(({ repository, branch }) => `"${branch}" of "${repository}"`).join(', ')
  return new RefusedError(
    'worker/branch-taken',
    `start the workflow "${name}" on branch ${on}: ${namesOf(others)} has not ended and may write it`,
    {
      details: { targets, workflows: others.map(({ workflowId }) => workflowId) },
      next: 'Wait until it has ended, or terminate it; then start again from the head of the branch.',
    },
  )
}

function tooMany(name: string): UnavailableError {
  return new UnavailableError(
    'worker/too-many-workflows',
    `start the workflow "${name}": more than ${START_WORKFLOWS_MAX} workflows have not ended, too many to search`,
    { next: 'End those that nobody needs, or start it directly at the task queue.' },
  )
}

function namesOf(workflows: readonly OpenWorkflow[]): string {
  return workflows.map(({ name, workflowId }) => `${name} ${workflowId}`).join(', ')
}
