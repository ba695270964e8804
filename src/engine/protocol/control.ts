/**
 * What is done to a task queue from outside the worker: definitions, starts, and an operator's interventions. The
 * in-process queue offers it; a test may meet it over a real Conductor's API.
 */

import type { TaskId, WorkflowId, WorkflowStatus } from '../../fences/attempt-snapshot.ts'
import type { TaskRecord } from '../../worker/ports.ts'
import type { JsonObject } from '../../base/json.ts'
import type { TestTaskDef, TestWorkflowDef } from './definitions.ts'

export interface WorkflowStartRequest {
  readonly name: string
  /** The latest when not given. */
  readonly version?: number
  readonly input?: JsonObject
  readonly correlationId?: string
  /** 0 to 99; the higher goes first. */
  readonly priority?: number
  /** By task type; `*` for all. A list such as `fast,NO_DOMAIN` means the first with a poller. */
  readonly taskToDomain?: Readonly<Record<string, string>>
}

export interface WorkflowView {
  readonly workflowId: WorkflowId
  readonly status: WorkflowStatus
  readonly input: JsonObject
  readonly output: JsonObject
  readonly reasonForIncompletion: string | undefined
  readonly tasks: readonly TaskRecord[]
}

/** Refusals are `RefusedError`s; what is not there is a `MissingError`. */
export interface QueueControl {
  registerTask(def: TestTaskDef): Promise<void>
  registerWorkflow(def: TestWorkflowDef): Promise<void>
  start(request: WorkflowStartRequest): Promise<WorkflowId>
  readWorkflow(workflowId: WorkflowId): Promise<WorkflowView | undefined>
  /** The lines of a task's log, in no particular order. */
  readLogs(taskId: TaskId): Promise<readonly string[]>
  pause(workflowId: WorkflowId): Promise<void>
  resume(workflowId: WorkflowId): Promise<void>
  terminate(workflowId: WorkflowId, options?: { readonly reason?: string }): Promise<void>
  /** The same workflow id from the beginning; its earlier tasks are gone. */
  restart(workflowId: WorkflowId): Promise<void>
  /** A new attempt at whatever did not end well. */
  retry(workflowId: WorkflowId): Promise<void>
  /** Opens a task again under its old id; without one, from the beginning. */
  rerun(
    workflowId: WorkflowId,
    options?: { readonly fromTaskId?: TaskId; readonly taskInput?: JsonObject },
  ): Promise<void>
  remove(workflowId: WorkflowId): Promise<void>
  /** Passes over a task that is not scheduled yet. */
  skip(workflowId: WorkflowId, referenceTaskName: string): Promise<void>
  /** Puts every open task of a type into the queue once more, those in progress as well. */
  requeue(taskType: string): Promise<void>
  /** Looks at the workflow now, instead of when the sweeper comes by. */
  decide(workflowId: WorkflowId): Promise<void>
}
