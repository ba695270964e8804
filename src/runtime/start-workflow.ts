/** Starting a workflow on a Conductor, alone on its branch. */

import type { ConductorClient } from '../conductor/client.ts'
import { createDefinitionRegistry, type WorkflowStart } from '../conductor/definitions.ts'
import { createHttpTaskQueue } from '../conductor/http-task-queue.ts'
import type { QueueCallOptions, WorkflowId } from '../worker/ports.ts'
import { startAlone } from '../worker/branches/start-workflow.ts'

/**
 * Starts a workflow, unless another one that has not ended may write a branch that its input names: that is refused with
 * `worker/branch-taken`. What only turns out to be its branch at run time is not seen here; the worker reports it.
 *
 * ```ts
 * const conductor = openConductorClient({ endpoint: 'http://localhost:8080/api' })
 * const workspace = { repository: 'lake', branch: 'main', refType: 'commit', ref: head }
 * const workflowId = await startWorkflow(conductor, { name: 'orders.daily', input: { workspace, day: '2026-01-15' } })
 * ```
 */
export function startWorkflow(
  client: ConductorClient,
  start: WorkflowStart,
  options: QueueCallOptions = {},
): Promise<WorkflowId> {
  const registry = createDefinitionRegistry(client)
  const queue = createHttpTaskQueue(client)
  return startAlone(
    {
      readOpenWorkflows: (max, call) => queue.readOpenWorkflows(max, call),
      start: (given, call) => registry.startWorkflow(given, call),
      terminate: (workflowId, reason, call) => registry.terminateWorkflow(workflowId, reason, call),
    },
    start,
    options,
  )
}
