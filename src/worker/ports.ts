/**
 * What a worker needs of a task queue: Conductor's own poll, update, extend and get calls. The caller owns this
 * interface; `conductor/` meets it over HTTP, the in-process queue meets it without a server.
 *
 * Facts every implementation and every caller lives with (Conductor 3.32.3):
 * - an update is answered "accepted" whether it counted or not: only reading the task tells;
 * - a lease renewal in flight may undo a completion: renew and post strictly one after the other;
 * - a task id may be handed out again (rerun, requeue): see `AttemptSnapshot`.
 *
 * Thrown are `PeragoError`s: `unavailable` (surely not done), `uncertain` (sent, answer lost), `invalid`,
 * `refused` (credentials, permissions), `defect`. What is simply not there is `undefined`.
 */

import type { JsonObject } from '../base/json.ts'
import type {
  AttemptSnapshot,
  TaskId,
  TaskStatus,
  WorkflowId,
  WorkflowStatus,
} from '../fences/attempt-snapshot.ts'

// Adapters may import port files only, and speak these words with us.
export { TASK_STATUSES, WORKFLOW_STATUSES } from '../fences/attempt-snapshot.ts'
export type { AttemptSnapshot, TaskId, TaskStatus, WorkflowId, WorkflowStatus }

export interface QueueCallOptions {
  readonly signal?: AbortSignal
}

/** A task as the queue holds it. */
export interface TaskRecord extends AttemptSnapshot {
  readonly status: TaskStatus
  /** The name a worker polls for. */
  readonly taskType: string
  readonly taskDefName: string
  readonly referenceTaskName: string
  readonly seq: number
  readonly iteration: number
  readonly scheduledTimeMs: number
  readonly updateTimeMs: number
  readonly responseTimeoutSeconds: number
  readonly workflowType: string
  readonly correlationId: string | undefined
  readonly domain: string | undefined
  readonly input: JsonObject
  readonly output: JsonObject
  /** Set when the payload was too large to be kept inline: `input` is empty then. */
  readonly externalInputPath: string | undefined
  readonly externalOutputPath: string | undefined
  readonly reasonForIncompletion: string | undefined
  /** True when a later attempt has taken over. */
  readonly isRetried: boolean
}

export interface PollRequest {
  readonly taskType: string
  /** Unique for this claim. */
  readonly workerId: string
  readonly domain?: string
  readonly count: number
  /** How long the server may wait for work; it waits until `count` tasks are there. */
  readonly waitMs: number
}

/** A workflow that has not ended, with what tells which branches it may write. */
export interface OpenWorkflow {
  readonly workflowId: WorkflowId
  readonly name: string
  /** The workflow that runs it as one of its steps. */
  readonly parentId: WorkflowId | undefined
  readonly startTimeMs: number
  readonly input: JsonObject
  /** Of its definition, as the queue holds them; none when it does not say. */
  readonly steps: readonly JsonObject[]
}

export interface OpenWorkflows {
  /** Newest first. */
  readonly workflows: readonly OpenWorkflow[]
  /** False when there are more than were asked for. */
  readonly isWhole: boolean
}

/** The statuses a worker may post. */
export type ResultStatus = 'COMPLETED' | 'FAILED' | 'FAILED_WITH_TERMINAL_ERROR' | 'IN_PROGRESS'

export interface TaskResult {
  readonly taskId: TaskId
  readonly workflowId: WorkflowId
  readonly workerId: string
  readonly status: ResultStatus
  readonly output: JsonObject
  readonly reasonForIncompletion?: string
  /** With `IN_PROGRESS` only: the task is handed back and offered again after this time. */
  readonly callbackAfterSeconds?: number
  readonly logs?: readonly string[]
}

export interface TaskQueue {
  /**
   * Claims up to `count` tasks; an empty list when there is nothing to do. Aborting the signal does not withdraw the poll
   * at the server: Conductor goes on waiting and claims for nobody what comes, until the response timeout frees it. To
   * stop, let a poll end and honour what it carries.
   */
  poll(request: PollRequest, options?: QueueCallOptions): Promise<readonly TaskRecord[]>
  /** `undefined`: the task is gone (its workflow was restarted or removed). */
  readTask(taskId: TaskId, options?: QueueCallOptions): Promise<TaskRecord | undefined>
  readWorkflowStatus(workflowId: WorkflowId, options?: QueueCallOptions): Promise<WorkflowStatus | undefined>
  /** Workflows that run or are paused, at most `max`. One that has just begun or ended may show late. */
  readOpenWorkflows(max: number, options?: QueueCallOptions): Promise<OpenWorkflows>
  /** `false`: there is no such task any more. `true` proves nothing about whose task it is. */
  renewLease(attempt: AttemptSnapshot, options?: QueueCallOptions): Promise<boolean>
  /** Answers that it arrived, which does not prove that it counted. `false`: there is no such task any more. */
  postResult(result: TaskResult, options?: QueueCallOptions): Promise<boolean>
  appendLog(taskId: TaskId, line: string, options?: QueueCallOptions): Promise<void>
}
