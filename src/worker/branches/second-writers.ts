/**
 * Which other workflows that have not ended may write a branch. If two do, the publish fence refuses the later publication,
 * or takes the earlier one for an abandoned try at the same step and replaces it. Here it is noticed while both run.
 *
 * - A workflow is assumed to write every branch that its input names, at any depth.
 * - It does not count if none of its steps can write: all are known tasks that publish nothing, or steps that run no task.
 * - A workflow and the workflows that it runs as steps count as one.
 */

import { targetsIn, type BranchTarget } from '../../tasks/branch-targets.ts'
import { mayWrite } from '../../tasks/parallel-writers.ts'
import type { OpenWorkflow, WorkflowId } from '../ports.ts'
import type { TaskDefinition } from '../../tasks/task-definition.ts'
import { walkSteps, type WorkflowStep } from '../../tasks/workflow-steps.ts'

/** Those that may write one of the targets besides `own`, oldest first. */
export function findOtherWriters(of: {
  readonly open: readonly OpenWorkflow[]
  /** Unset before it is started. */
  readonly own?: WorkflowId | undefined
  readonly targets: readonly BranchTarget[]
  readonly tasks: ReadonlyMap<string, TaskDefinition>
}): readonly OpenWorkflow[] {
  const byId = new Map(of.open.map((workflow) => [workflow.workflowId, workflow]))
  const ownRoot = of.own === undefined ? undefined : rootOf(of.own, byId)
  return of.open
    .filter((workflow) => rootOf(workflow.workflowId, byId) !== ownRoot)
    .filter(({ input }) => targetsIn(input).some((target) => isAmong(target, of.targets)))
    .filter((workflow) => canWrite(workflow, of.tasks))
    .sort((a, b) => a.startTimeMs - b.startTimeMs)
}

export interface SharedBranch extends BranchTarget {
  /** Oldest first. */
  readonly workflows: readonly OpenWorkflow[]
}

/** The branches that more than one of them may write; a workflow and its sub-workflows count as one. */
export function findSharedBranches(
  open: readonly OpenWorkflow[],
  tasks: ReadonlyMap<string, TaskDefinition>,
): readonly SharedBranch[] {
  const byId = new Map(open.map((workflow) => [workflow.workflowId, workflow]))
  const shared = new Map<string, BranchTarget & { readonly roots: Map<WorkflowId, OpenWorkflow> }>()
  const oldestFirst = [...open].sort((a, b) => a.startTimeMs - b.startTimeMs)
  for (const workflow of oldestFirst.filter((each) => canWrite(each, tasks))) {
    const root = rootOf(workflow.workflowId, byId)
    for (const target of targetsIn(workflow.input)) {
      const key = JSON.stringify([target.repository, target.branch])
      const entry = shared.get(key) ?? { ...target, roots: new Map<WorkflowId, OpenWorkflow>() }
      shared.set(key, entry)
      if (!entry.roots.has(root)) entry.roots.set(root, byId.get(root) ?? workflow)
    }
  }
  return [...shared.values()]
    .filter(({ roots }) => roots.size > 1)
    .map(({ repository, branch, roots }) => ({ repository, branch, workflows: [...roots.values()] }))
}

function isAmong({ repository, branch }: BranchTarget, targets: readonly BranchTarget[]): boolean {
  return targets.some((target) => target.repository === repository && target.branch === branch)
}

/** The outermost workflow that runs it. */
function rootOf(workflowId: WorkflowId, byId: ReadonlyMap<WorkflowId, OpenWorkflow>): WorkflowId {
  let root = workflowId
  // No chain is longer than the number of workflows, even if the queue's answer has a circle.
  for (let step = 0; step <= byId.size; step++) {
    const parentId = byId.get(root)?.parentId
    if (parentId === undefined) return root
    root = parentId
  }
  return root
}

/** Steps that run what their input says. */
const DISPATCHES = new Set(['SUB_WORKFLOW', 'START_WORKFLOW', 'DYNAMIC', 'FORK_JOIN_DYNAMIC'])

function canWrite({ steps }: OpenWorkflow, tasks: ReadonlyMap<string, TaskDefinition>): boolean {
  // Its steps are not known.
  if (steps.length === 0) return true
  // The queue accepted them as steps when the workflow was defined.
  return walkSteps(steps as readonly WorkflowStep[]).some(
    (step) => DISPATCHES.has(step.type ?? 'SIMPLE') || mayWrite(step, tasks),
  )
}
