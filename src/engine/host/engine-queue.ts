/**
 * The task queue of the embedded engine, as workers see it.
 *
 * - HQ-1 A task is handed out after its claim is stored, and a result is answered with `true` after it is.
 * - HQ-2 A poll returns as soon as there is one task; Conductor waits until there are as many as were asked for.
 */

import { followSignals, isAborted } from '../../base/abort-signals.ts'
import type { Clock } from '../../base/clock.ts'
import { InvalidError, isPeragoError, UnavailableError } from '../../base/errors.ts'
import type { TaskId, WorkflowId } from '../../fences/attempt-snapshot.ts'
import { CONDUCTOR_LOGS_PER_RESULT_MAX, CONDUCTOR_POLL_WAIT_MAX_MS } from '../../worker/limits.ts'
import { requirePayloadFits } from '../../worker/payload-limits.ts'
import type {
  OpenWorkflows,
  PollRequest,
  QueueCallOptions,
  TaskQueue,
  TaskRecord,
  TaskResult,
} from '../../worker/ports.ts'
import type { JsonObject } from '../../base/json.ts'
import type { HandOut } from '../scheduling/schedule.ts'
import { findRow, type Execution } from '../protocol/execution.ts'
import { inputRedactor } from '../protocol/input-secrets.ts'
import { isWorkflowOpen, TASK_TRANSITIONS } from '../protocol/state.ts'
import { applyResult, claimTask, isClaimable, renewTask } from '../protocol/updates.ts'
import { traceparentOf } from '../telemetry/execution-trace.ts'
import { STATE_TOO_LARGE } from './execution-store.ts'
import type { Decide, Executions } from './executions.ts'
import type { Ownership } from './ownership.ts'
import type { Rollbacks } from './rollbacks.ts'
import type { TaskLogs } from './task-logs.ts'

export interface QueueParts {
  readonly executions: Executions
  readonly ownership: Ownership
  readonly logs: TaskLogs
  readonly rollbacks: Rollbacks
  readonly clock: Clock
  readonly closed: AbortSignal
}

export class EngineQueue implements TaskQueue {
  readonly #parts: QueueParts

  constructor(parts: QueueParts) {
    this.#parts = parts
  }

  async poll(request: PollRequest, { signal }: QueueCallOptions = {}): Promise<readonly TaskRecord[]> {
    const { count, waitMs } = request
    if (!Number.isInteger(count) || count < 1 || !(waitMs >= 0 && waitMs <= CONDUCTOR_POLL_WAIT_MAX_MS))
      throw new InvalidError('task-queue/bad-poll', `poll for ${count} tasks, waiting ${waitMs} ms`)
    const { clock, executions, ownership, closed } = this.#parts
    // Answered with nothing, a worker would ask again at once, for ever.
    if (closed.aborted) throw notRunning(closed)
    const endMs = clock.monotonicMs() + waitMs
    for (;;) {
      signal?.throwIfAborted()
      if (isAborted(closed)) return []
      if (ownership.isOwner) await ownership.runDue()
      executions.queue.pollers.notePoll(request, executions.nowMs())
      // An instance that does not run the executions has nothing to hand out.
      const claimed = ownership.isOwner ? await this.#claim(request) : []
      const leftMs = endMs - clock.monotonicMs()
      if (claimed.length > 0 || leftMs <= 0) return claimed
      await this.#waitForTasks(request, leftMs, signal)
    }
  }

  async readTask(taskId: TaskId, { signal }: QueueCallOptions = {}): Promise<TaskRecord | undefined> {
    await this.#ready(signal)
    const owner = await this.#parts.executions.ownerOf(taskId)
    const execution = owner === undefined ? undefined : await this.#parts.executions.read(owner)
    return execution === undefined ? undefined : recordOf(execution, taskId)
  }

  async readWorkflowStatus(
    workflowId: WorkflowId,
    { signal }: QueueCallOptions = {},
  ): ReturnType<TaskQueue['readWorkflowStatus']> {
    await this.#ready(signal)
    return (await this.#parts.executions.read(workflowId))?.status
  }

  async readOpenWorkflows(max: number, { signal }: QueueCallOptions = {}): Promise<OpenWorkflows> {
    await this.#ready(signal)
    const held = [...this.#parts.executions.held()].filter(({ status }) => isWorkflowOpen(status))
    const open = held.sort((a, b) => b.startTimeMs - a.startTimeMs)
    const workflows = open
      .slice(0, max)
      .map(({ workflowId, graph, status, parentId, startTimeMs, input }) => ({
        ...{ workflowId, name: graph.name, status, parentId, startTimeMs, input },
        steps: graph.units as unknown as readonly JsonObject[],
      }))
    return { workflows, isWhole: workflows.length === open.length }
  }

  async renewLease(
    { taskId }: Pick<TaskRecord, 'taskId'>,
    { signal }: QueueCallOptions = {},
  ): Promise<boolean> {
    await this.#ready(signal)
    const { executions } = this.#parts
    const owner = executions.queue.ownerOf(taskId)
    // One that is not in memory has ended, and its lease does not matter; whether it exists does.
    if (owner === undefined) return (await this.readTask(taskId, { signal })) !== undefined
    await executions.renew(owner, (execution) => {
      const row = findRow(execution, taskId)
      return row === undefined ? execution : renewTask(execution, row, executions.nowMs())
    })
    return true
  }

  async postResult(result: TaskResult, { signal }: QueueCallOptions = {}): Promise<boolean> {
    requirePayloadFits('task output', result.output)
    await this.#ready(signal)
    const { executions, rollbacks } = this.#parts
    const owner = await executions.ownerOf(result.taskId)
    if (owner === undefined) return false
    const isOwn = owner === result.workflowId
    const other = isOwn ? undefined : await executions.read(result.workflowId)
    if (!isOwn && other === undefined) return false
    const counted = await this.#changeUnlessTooLarge(owner, (execution, moment) => {
      rollbacks.requireNone(owner)
      const row = findRow(execution, result.taskId)
      if (row === undefined) return { execution, answer: undefined }
      const isOpen = isWorkflowOpen((other ?? execution).status)
      const counts = isOpen && TASK_TRANSITIONS[row.record.status].complete !== 'ignore'
      return { execution: applyResult(execution, result, { isOwn, isOpen, moment }), answer: counts }
    })
    if (counted === true)
      await this.#log(owner, result.taskId, (result.logs ?? []).slice(0, CONDUCTOR_LOGS_PER_RESULT_MAX))
    return counted !== undefined
  }

  async appendLog(taskId: TaskId, line: string, { signal }: QueueCallOptions = {}): Promise<void> {
    await this.#ready(signal)
    const owner = line === '' ? undefined : await this.#parts.executions.ownerOf(taskId)
    if (owner !== undefined) await this.#log(owner, taskId, [line])
  }

  async #log(owner: WorkflowId, taskId: TaskId, lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return
    const { executions, logs } = this.#parts
    const execution = await executions.read(owner)
    // It was removed meanwhile.
    if (execution === undefined) return
    const redactor = inputRedactor(execution, findRow(execution, taskId))
    await logs.append(
      owner,
      taskId,
      lines.map((line) => redactor.text(line)),
    )
  }

  /** `false`: the execution has failed instead. It arrived, and does not count, which the task shows. */
  async #changeUnlessTooLarge(
    workflowId: WorkflowId,
    decide: Decide<boolean | undefined>,
  ): Promise<boolean | undefined> {
    try {
      return await this.#parts.executions.change(workflowId, decide)
    } catch (error) {
      if (isPeragoError(error) && error.code === STATE_TOO_LARGE) return false
      throw error
    }
  }

  async #ready(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    requireOwner(this.#parts)
    await this.#parts.ownership.runDue()
    signal?.throwIfAborted()
  }

  async #claim(request: PollRequest): Promise<readonly TaskRecord[]> {
    const { queue } = this.#parts.executions
    const chosen = queue.choose(request)
    try {
      const byExecution = groupByExecution(chosen)
      const claims = [...byExecution].map(([workflowId, tasks]) => this.#claimIn(workflowId, tasks, request))
      const outcomes = await Promise.allSettled(claims)
      const claimed = outcomes.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
      const failed = outcomes.find((each) => each.status === 'rejected')
      const ids = new Set(claimed.map(({ taskId }) => taskId))
      queue.report(chosen.filter(({ taskId }) => ids.has(taskId)))
      // What is claimed is handed out; what failed is offered again, or runs out of time.
      if (claimed.length === 0 && failed !== undefined) throw failed.reason
      return claimed
    } finally {
      queue.giveBack(chosen.map(({ taskId }) => taskId))
    }
  }

  /** Stores the claims of one execution as one step. */
  async #claimIn(
    workflowId: WorkflowId,
    tasks: readonly HandOut[],
    { workerId }: PollRequest,
  ): Promise<readonly TaskRecord[]> {
    const claimed = await this.#parts.executions.change(workflowId, (execution, { nowMs }) => {
      let current = execution
      const ids: TaskId[] = []
      for (const { taskId } of tasks) {
        const row = findRow(current, taskId)
        // Something else may have happened to it while this step waited for its turn.
        if (this.#parts.rollbacks.isOpen(workflowId)) break
        if (row === undefined || !isClaimable(row, nowMs)) continue
        current = claimTask(current, row, { workerId, nowMs })
        ids.push(taskId)
      }
      const records = ids.flatMap((taskId) => recordOf(current, taskId) ?? [])
      return { execution: current, answer: records }
    })
    return claimed ?? []
  }

  async #waitForTasks(
    request: PollRequest,
    longestMs: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { clock, executions, closed } = this.#parts
    const stop = followSignals(signal, closed)
    let stopWaiting: () => void = () => undefined
    const added = new Promise<void>((resolve) => {
      stopWaiting = executions.queue.pollers.wait(request, resolve)
    })
    try {
      const lookMs = executions.queue.waitMs(request)
      const slept = clock.sleep(Math.min(longestMs, lookMs, POLL_LOOK_MS), stop.signal)
      await Promise.race([slept.catch(() => undefined), added])
    } finally {
      stopWaiting()
      stop.release()
      stop.abort()
    }
    signal?.throwIfAborted()
  }
}

/** A poll looks again after this time, whatever wakes it: another instance may have taken over. */
const POLL_LOOK_MS = 1_000

export function requireOwner({ ownership, closed }: Pick<QueueParts, 'ownership' | 'closed'>): void {
  if (ownership.isOwner && !closed.aborted) return
  throw notRunning(closed)
}

/** The record of a task, with its place in the trace. */
function recordOf(execution: Execution, taskId: TaskId): TaskRecord | undefined {
  const record = findRow(execution, taskId)?.record
  const traceparent = traceparentOf(execution, taskId)
  return record === undefined || traceparent === undefined ? record : { ...record, traceparent }
}

function notRunning(closed: AbortSignal): UnavailableError {
  return new UnavailableError(
    'engine/not-running',
    closed.aborted
      ? 'use the engine: it is closed'
      : 'use the engine: another instance runs the executions of this store, or the store does not answer',
    { retryAfterMs: 1_000, next: 'Try again, or ask the other instance.' },
  )
}

function groupByExecution(chosen: readonly HandOut[]): ReadonlyMap<WorkflowId, readonly HandOut[]> {
  const groups = new Map<WorkflowId, HandOut[]>()
  for (const each of chosen) {
    const group = groups.get(each.workflowId)
    if (group === undefined) groups.set(each.workflowId, [each])
    else group.push(each)
  }
  return groups
}
