/** Managing a task queue: definitions, starts and an operator's commands. */

import type { TaskId, WorkflowId, WorkflowStatus } from '../../fences/attempt-snapshot.ts'
import type { TaskRecord } from '../../worker/ports.ts'
import type { JsonObject } from '../../base/json.ts'
import type { TestTaskDef, TestWorkflowDef } from './definitions.ts'

export interface WorkflowStartRequest {
  readonly name: string
  /** Default: the latest. */
  readonly version?: number
  readonly input?: JsonObject
  readonly correlationId?: string
  /** 0 to 99; higher values go first. */
  readonly priority?: number
  /** By task type; `*` for all. In a list such as `fast,NO_DOMAIN` the first one with a poller is used. */
  readonly taskToDomain?: Readonly<Record<string, string>>
  /** Of who asks, as W3C Trace Context writes it: the execution belongs to that trace. */
  readonly traceparent?: string
}

export interface WorkflowView {
  readonly workflowId: WorkflowId
  readonly name: string
  readonly version: number
  readonly correlationId: string | undefined
  readonly parentId: WorkflowId | undefined
  readonly startTimeMs: number
  /** When it changed last: once it has ended, its end. */
  readonly updateTimeMs: number
  readonly status: WorkflowStatus
  readonly input: JsonObject
  readonly output: JsonObject
  readonly reasonForIncompletion: string | undefined
  readonly tasks: readonly TaskRecord[]
}

/** Throws a `RefusedError` for what Conductor refuses, a `MissingError` for what does not exist. */
export interface QueueControl {
  registerTask(def: TestTaskDef | JsonObject): Promise<void>
  registerWorkflow(def: TestWorkflowDef | JsonObject): Promise<void>
  start(request: WorkflowStartRequest): Promise<WorkflowId>
  readWorkflow(workflowId: WorkflowId): Promise<WorkflowView | undefined>
  /** The lines of a task's log, unordered. */
  readLogs(taskId: TaskId): Promise<readonly string[]>
  pause(workflowId: WorkflowId): Promise<void>
  resume(workflowId: WorkflowId): Promise<void>
  terminate(workflowId: WorkflowId, options?: { readonly reason?: string }): Promise<void>
  /** Starts again with the same workflow id; earlier tasks are removed. */
  restart(workflowId: WorkflowId): Promise<void>
  /** A new attempt at every failed task. */
  retry(workflowId: WorkflowId): Promise<void>
  /** Reopens a task with the same id; without `fromTaskId` starts from the beginning. */
  rerun(
    workflowId: WorkflowId,
    options?: { readonly fromTaskId?: TaskId; readonly taskInput?: JsonObject },
  ): Promise<void>
  remove(workflowId: WorkflowId): Promise<void>
  /** Skips a task that is not scheduled yet. */
  skip(workflowId: WorkflowId, referenceTaskName: string): Promise<void>
  /** Puts every open task of a type into the queue again, also those in progress. */
  requeue(taskType: string): Promise<void>
  /** Decides the workflow now, without waiting for the sweeper. */
  decide(workflowId: WorkflowId): Promise<void>
}
