/** A workflow with those that it runs as its steps. */

import { MissingError } from '../base/errors.ts'
import type { Workflow, Workflows, WorkflowStatus, WorkflowTask } from '../runtime/workflows.ts'
import { WORKFLOW_TREE_MAX } from './limits.ts'

export interface WorkflowTree {
  readonly workflow: Workflow
  /** By the id of the task that runs it. */
  readonly children: ReadonlyMap<string, WorkflowTree>
}

/** Reads it again each time; those below it that have ended are read once. Throws `cli/no-such-workflow`. */
export function openTreeReader(
  workflows: Pick<Workflows, 'read'>,
  id: string,
  signal?: AbortSignal,
): () => Promise<WorkflowTree> {
  const ended = new Map<string, Workflow>()
  const read = async (workflowId: string, hasEnded: boolean): Promise<Workflow | undefined> => {
    // One that is tried again opens the task that runs it, too.
    const known = hasEnded ? ended.get(workflowId) : undefined
    const found = known ?? (await workflows.read(workflowId, { signal }))
    if (found !== undefined && !isOpen(found.status)) ended.set(workflowId, found)
    return found
  }
  return async () => {
    const root = await readWorkflow(workflows, id, signal)
    let left = WORKFLOW_TREE_MAX - 1
    const grow = async (workflow: Workflow): Promise<WorkflowTree> => {
      const children = new Map<string, WorkflowTree>()
      for (const { taskId, childId, status } of latestAttempts(workflow)) {
        if (childId === undefined || left <= 0) continue
        left -= 1
        const child = await read(childId, status !== 'IN_PROGRESS' && status !== 'SCHEDULED')
        if (child !== undefined) children.set(taskId, await grow(child))
      }
      return { workflow, children }
    }
    return grow(root)
  }
}

/** Throws `cli/no-such-workflow`. */
export async function readWorkflow(
  workflows: Pick<Workflows, 'read'>,
  id: string,
  signal?: AbortSignal,
): Promise<Workflow> {
  const found = await workflows.read(id, { signal })
  if (found !== undefined) return found
  throw new MissingError('cli/no-such-workflow', `read workflow ${JSON.stringify(id)}: it does not exist`, {
    next: 'Correct the id; "perago workflow ls" lists the last ones.',
  })
}

/** The latest attempt at each task, in the order in which the tasks were scheduled first. */
export function latestAttempts({ tasks }: Pick<Workflow, 'tasks'>): readonly WorkflowTask[] {
  const latest = new Map<string, WorkflowTask>()
  for (const task of tasks) latest.set(task.referenceTaskName, task)
  return [...latest.values()]
}

/** Of all workflows of the tree, each after the one that runs it. */
export function workflowsOf({ workflow, children }: WorkflowTree): readonly Workflow[] {
  return [workflow, ...[...children.values()].flatMap(workflowsOf)]
}

export function isOpen(status: WorkflowStatus): boolean {
  return status === 'RUNNING' || status === 'PAUSED'
}
