/**
 * What a worker needs of a task queue: Conductor's own poll, update, extend and get calls. The worker owns this interface;
 * `conductor/` implements it over HTTP, the in-process queue without a server.
 *
 * Facts for every implementation and every caller (Conductor 3.32.3):
 * - an update is answered "accepted" whether it counted or not: only reading the task shows it;
 * - a lease renewal in flight may undo a completion: renew and post strictly one after the other;
 * - a task id may be handed out again (rerun, requeue): see `AttemptSnapshot`.
 *
 * Errors are `PeragoError`s: `unavailable` (certainly not done), `uncertain` (sent, response lost), `invalid`, `refused`
 * (credentials, permissions), `defect`. What does not exist is `undefined`.
 */

import type { JsonObject } from '../base/json.ts'
import type {
  AttemptSnapshot,
  TaskId,
  TaskStatus,
  WorkflowId,
  WorkflowStatus,
} from '../fences/attempt-snapshot.ts'

// Adapters may import port files only.
export { TASK_STATUSES, WORKFLOW_STATUSES } from '../fences/attempt-snapshot.ts'
export type { AttemptSnapshot, TaskId, TaskStatus, WorkflowId, WorkflowStatus }

/** In the answer to a poll, from a server that answers a waiting poll as soon as there is a task. */
export const POLLS_WOKEN_HEADER = 'perago-polls-woken'

export interface QueueCallOptions {
  readonly signal?: AbortSignal | undefined
}

export interface PostOptions extends QueueCallOptions {
  /** A result that has not begun to be sent after this time is not sent: `unavailable`. */
  readonly sendWithinMs?: number | undefined
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
  /** Set if the payload was too large to be stored inline: `input` is empty then. */
  readonly externalInputPath: string | undefined
  readonly externalOutputPath: string | undefined
  readonly reasonForIncompletion: string | undefined
  /** True when a later attempt has taken over. */
  readonly isRetried: boolean
  /** The span that this attempt is, as W3C Trace Context writes it, from a queue that has one. */
  readonly traceparent?: string | undefined
}

export interface PollRequest {
  readonly taskType: string
  /** Unique for this claim. */
  readonly workerId: string
  readonly domain?: string | undefined
  readonly count: number
  /** How long the server may wait; it waits until there are `count` tasks. */
  readonly waitMs: number
}

/** A workflow that has not ended, with what shows which branches it may write. */
export interface OpenWorkflow {
  readonly workflowId: WorkflowId
  readonly name: string
  /** Absent where the queue does not say which of the open ones it is. */
  readonly status?: WorkflowStatus
  /** The workflow that runs it as one of its steps. */
  readonly parentId: WorkflowId | undefined
  readonly startTimeMs: number
  readonly input: JsonObject
  /** The steps of its definition, as the queue holds them; empty if they are not known. */
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
   * Claims up to `count` tasks; empty if there are none. Aborting the signal does not cancel the poll at the server: Conductor
   * keeps waiting and claims a task for nobody, until its response timeout. To stop, let a poll end and handle its tasks.
   */
  poll(request: PollRequest, options?: QueueCallOptions): Promise<readonly TaskRecord[]>
  /**
   * Whether a poll that waits may be answered well after a task was queued: Conductor looks every 100 ms. A server that
   * answers at once says so in `POLLS_WOKEN_HEADER`.
   */
  readonly findsLate?: boolean
  /** `undefined`: the task is gone (its workflow was restarted or removed). */
  readTask(taskId: TaskId, options?: QueueCallOptions): Promise<TaskRecord | undefined>
  readWorkflowStatus(workflowId: WorkflowId, options?: QueueCallOptions): Promise<WorkflowStatus | undefined>
  /** Workflows that run or are paused, at most `max`. A start or end may show late. */
  readOpenWorkflows(max: number, options?: QueueCallOptions): Promise<OpenWorkflows>
  /** `false`: the task does not exist any more. `true` does not prove whose task it is. */
  renewLease(attempt: AttemptSnapshot, options?: QueueCallOptions): Promise<boolean>
  /**
   * `true`: it arrived, which does not prove that it counted. `false`: the task does not exist any more. `invalid`: the queue
   * itself will never take this result; what somebody else answered in its place, such as a proxy, is `uncertain`.
   *
   * Sent once: it counts for whoever has the task by then, so the caller reads the task before it posts again.
   */
  postResult(result: TaskResult, options?: PostOptions): Promise<boolean>
  appendLog(taskId: TaskId, line: string, options?: QueueCallOptions): Promise<void>
}
