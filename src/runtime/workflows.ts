/** Workflows of a Conductor, or of an engine that speaks its API, for people: started, listed, read, controlled. */

import type { Logger } from '../base/logger.ts'
import { createHttpTaskQueue } from '../conductor/http-task-queue.ts'
import type { FoundWorkflow } from '../conductor/search-workflows.ts'
import {
  createWorkflowOperator,
  type LastPoll,
  type WorkflowOperator,
  type WorkflowReading,
  type WorkflowTaskReading,
} from '../conductor/workflows.ts'
import type { WorkflowStart } from '../conductor/definitions.ts'
import type { RetryPolicy } from '../base/retry.ts'
import type { OpenWorkflows, QueueCallOptions, WorkflowId, WorkflowStatus } from '../worker/ports.ts'
import type { PeragoConfiguration } from './configuration/configuration.ts'
import { withConductor } from './connections/conductor-connection.ts'
import { startWorkflow } from './start-workflow.ts'

export type Workflow = WorkflowReading
export type WorkflowTask = WorkflowTaskReading
export type { FoundWorkflow, LastPoll, WorkflowStatus }

export interface Workflows extends WorkflowOperator {
  /** Alone on its branch: refused while another open one may write it. */
  start(start: WorkflowStart, options?: QueueCallOptions): Promise<WorkflowId>
  /** Those that have not ended, the newest first. */
  listOpen(max: number, options?: QueueCallOptions): Promise<OpenWorkflows>
}

/** Opens a connection, and closes it after the work. */
export function withWorkflows<T>(
  configuration: PeragoConfiguration,
  options: { readonly logger: Logger; readonly retry: Partial<RetryPolicy> },
  work: (workflows: Workflows) => Promise<T>,
): Promise<T> {
  return withConductor(configuration, options, (client) =>
    work({
      ...createWorkflowOperator(client),
      start: (start, call) => startWorkflow(client, start, call),
      listOpen: (max, call) => createHttpTaskQueue(client).readOpenWorkflows(max, call),
    }),
  )
}
