/** Follows a workflow until it has ended. A server that is away meanwhile is waited for. */

import { setTimeout as wait } from 'node:timers/promises'
import { isAborted } from '../base/abort-signals.ts'
import { RefusedError } from '../base/errors.ts'
import type { Workflow, Workflows } from '../runtime/workflows.ts'
import { WORKFLOW_LOOK_MS } from './limits.ts'
import { readPatiently } from './read-patiently.ts'
import type { FindUnpolled } from './unpolled.ts'
import { isOpen, openTreeReader, workflowsOf } from './workflow-tree.ts'
import type { WorkflowView } from './workflow-view.ts'

export interface Following {
  readonly workflows: Pick<Workflows, 'read'>
  readonly view: WorkflowView
  readonly findUnpolled: FindUnpolled
  readonly stop: AbortSignal
}

export async function followWorkflow(
  id: string,
  { workflows, view, findUnpolled, stop }: Following,
): Promise<Workflow> {
  const read = readPatiently(openTreeReader(workflows, id, stop), (what) => view.warn(what))
  try {
    for (;;) {
      const tree = await read()
      if (tree !== undefined) {
        view.show(tree)
        const { status } = tree.workflow
        if (!isOpen(status)) return tree.workflow
        const tasks = workflowsOf(tree).flatMap((each) => each.tasks)
        if (status === 'RUNNING') for (const warning of await findUnpolled({ tasks })) view.warn(warning)
      }
      // A signal ends the wait as well.
      await wait(WORKFLOW_LOOK_MS, undefined, { signal: stop }).catch(() => undefined)
      if (isAborted(stop)) throw stillRuns(id)
    }
  } catch (error) {
    // A request that the signal has cut says nothing of the workflow.
    throw isAborted(stop) ? stillRuns(id) : error
  } finally {
    view.close()
  }
}

/** Of one that has ended otherwise than it should. */
export function notCompleted({ name, workflowId, status, reasonForIncompletion }: Workflow): RefusedError {
  return new RefusedError(
    'cli/workflow-not-completed',
    `run ${JSON.stringify(name)}: it is ${status}: ${reasonForIncompletion ?? 'no reason is known'}`,
    {
      details: { workflow_id: workflowId, status },
      next: `Look at "perago show ${workflowId}" and "perago logs ${workflowId}"; "perago retry ${workflowId}" tries again what failed.`,
    },
  )
}

function stillRuns(id: string): RefusedError {
  return new RefusedError('cli/stopped', `follow workflow ${id}: stopped; the workflow goes on`, {
    next: `Look at "perago show ${id}", or end it with "perago cancel ${id}".`,
  })
}
