/**
 * Hosts the rules of `engine/protocol` over memory: it stores definitions and workflows, and calls the rules.
 *
 * Nothing runs in the background: before each request, everything that is due is done in the order in which it was due.
 */

import { randomUUID } from 'node:crypto'
import { followSignals, unlessAborted } from '../base/abort-signals.ts'
import { systemClock, type Clock } from '../base/clock.ts'
import { InvalidError, isPeragoError, MissingError, RefusedError } from '../base/errors.ts'
import { CONDUCTOR_LOGS_PER_RESULT_MAX, CONDUCTOR_POLL_WAIT_MAX_MS } from '../worker/limits.ts'
import { requirePayloadFits } from '../worker/payload-limits.ts'
import type { TaskId, WorkflowId } from '../fences/attempt-snapshot.ts'
import type { OpenWorkflows, PollRequest, QueueCallOptions, TaskRecord, TaskResult } from '../worker/ports.ts'
import type { Json, JsonObject } from '../base/json.ts'
import type { QueueControl, WorkflowStartRequest } from '../engine/protocol/control.ts'
import { viewExecution } from '../engine/protocol/view-execution.ts'
import { decide } from '../engine/protocol/decide.ts'
import type { Graph } from '../engine/graph/graph.ts'
import { wholeTaskDef, type WholeTaskDef } from '../engine/protocol/definitions.ts'
import { childrenToCancel, openChildren, variablesSet, type ChildStart } from '../engine/protocol/effects.ts'
import {
  findRow,
  startExecution,
  type ChildEnd,
  type Execution,
  type Moment,
} from '../engine/protocol/execution.ts'
import { requeueTasks, terminateExecution, type Operated } from '../engine/protocol/operator.ts'
import { chooseDomain, findClaimable, nextEventMs, nextSweep, type Placed } from '../engine/protocol/queue.ts'
import { isWorkflowOpen, TASK_TRANSITIONS } from '../engine/protocol/state.ts'
import { taskTypesOf } from '../engine/protocol/task-settings.ts'
import { applyResult, claimTask, renewTask } from '../engine/protocol/updates.ts'
import { MemoryScopes } from './memory-scopes.ts'

/** Weaknesses of a real server that can be simulated. */
export interface Deficiencies {
  /** How long after a deadline the sweeper runs. On a real server that is up to two minutes. */
  readonly sweepLagMs?: number
  /** A renewal reads the task, and writes all of it back after this time: changes in between are lost. */
  readonly renewalWritesAfterMs?: number
  /** A poll that was aborted by its worker goes on at the server, and may claim tasks that nobody gets. */
  readonly abandonedPollsClaim?: boolean
}

export interface MemoryQueueOptions {
  /** For timeouts, delays and the waits of polls; a virtual one lets a test move the time. Default: the machine's clock. */
  readonly clock?: Clock
  /** Weaknesses of a real server to simulate. Default: none. */
  readonly deficiencies?: Deficiencies
  /** Default: random ids. */
  readonly nextId?: () => string
}

/** A domain whose last poll is older than this has no poller. */
const POLLER_ALIVE_MS = 10_000

export class MemoryQueue {
  readonly #clock: Clock
  readonly #deficiencies: Deficiencies
  readonly #nextId: () => string
  readonly #taskDefs = new Map<string, WholeTaskDef>()
  readonly #workflowDefs = new Map<string, Graph[]>()
  readonly #executions = new Map<WorkflowId, Execution>()
  readonly #scopes = new MemoryScopes()
  readonly #owners = new Map<TaskId, WorkflowId>()
  readonly #logs = new Map<TaskId, string[]>()
  readonly #lastPollMs = new Map<string, number>()
  /** Wakes waiting polls. */
  readonly #waiting = new Set<() => void>()

  constructor(options: MemoryQueueOptions) {
    this.#clock = options.clock ?? systemClock
    this.#deficiencies = options.deficiencies ?? {}
    this.#nextId = options.nextId ?? randomUUID
  }

  async poll(request: PollRequest, { signal }: QueueCallOptions = {}): Promise<readonly TaskRecord[]> {
    const { count, waitMs } = request
    if (!Number.isInteger(count) || count < 1 || !(waitMs >= 0 && waitMs <= CONDUCTOR_POLL_WAIT_MAX_MS))
      throw new InvalidError('task-queue/bad-poll', `poll for ${count} tasks, waiting ${waitMs} ms`)
    signal?.throwIfAborted()
    if (this.#deficiencies.abandonedPollsClaim !== true) return this.#serve(request, signal)
    return unlessAborted(this.#serve(request, undefined), signal)
  }

  async #serve(request: PollRequest, signal: AbortSignal | undefined): Promise<readonly TaskRecord[]> {
    const { count, waitMs } = request
    const endMs = this.#clock.monotonicMs() + waitMs
    for (;;) {
      this.#sweep()
      this.#lastPollMs.set(queueKey(request.taskType, request.domain), this.#nowMs())
      const leftMs = endMs - this.#clock.monotonicMs()
      // Like Conductor, it waits until all of them are there.
      if (leftMs <= 0 || this.#claimable(request).length >= count) return this.#claim(request)
      await this.#waitForChange(leftMs, signal)
    }
  }

  readTask(taskId: TaskId, signal?: AbortSignal): TaskRecord | undefined {
    this.#sweep(signal)
    return this.#find(taskId)?.row.record
  }

  readStatus(workflowId: WorkflowId, signal?: AbortSignal): Execution['status'] | undefined {
    this.#sweep(signal)
    return this.#executions.get(workflowId)?.status
  }

  readOpen(max: number, signal?: AbortSignal): OpenWorkflows {
    this.#sweep(signal)
    const open = [...this.#executions.values()]
      .filter(({ status }) => isWorkflowOpen(status))
      .sort((a, b) => b.startTimeMs - a.startTimeMs)
    const workflows = open.slice(0, max).map(({ workflowId, graph, startTimeMs, input, parentId }) => ({
      workflowId,
      name: graph.name,
      parentId,
      startTimeMs,
      input,
      steps: graph.units as unknown as readonly JsonObject[],
    }))
    return { workflows, isWhole: workflows.length === open.length }
  }

  async renew(taskId: TaskId, signal?: AbortSignal): Promise<boolean> {
    this.#sweep(signal)
    const read = this.#find(taskId)
    if (read === undefined) return false
    const { renewalWritesAfterMs: delayMs } = this.#deficiencies
    if (delayMs === undefined) {
      this.#put(renewTask(read.execution, read.row, this.#nowMs()))
      return true
    }
    if (TASK_TRANSITIONS[read.row.record.status].renew === 'ignore') return true
    // The server has the request: an abort of the sender does not stop it.
    await this.#clock.sleep(delayMs)
    const now = this.#find(taskId)
    if (now === undefined) return true
    const record = { ...read.row.record, updateTimeMs: this.#nowMs() }
    this.#put({
      ...now.execution,
      rows: now.execution.rows.map((row) => (row === now.row ? { ...read.row, record } : row)),
    })
    return true
  }

  post(result: TaskResult, signal?: AbortSignal): boolean {
    requirePayloadFits('task output', result.output)
    this.#sweep(signal)
    const named = this.#executions.get(result.workflowId)
    const found = this.#find(result.taskId)
    if (named === undefined || found === undefined) return false
    const isOpen = isWorkflowOpen(named.status)
    if (isOpen && TASK_TRANSITIONS[found.row.record.status].complete !== 'ignore')
      for (const line of (result.logs ?? []).slice(0, CONDUCTOR_LOGS_PER_RESULT_MAX))
        this.#addLog(result.taskId, line)
    const isOwn = named === found.execution
    const moment = this.#moment(found.execution.workflowId)
    this.#put(applyResult(found.execution, result, { isOwn, isOpen, moment }))
    return true
  }

  appendLog(taskId: TaskId, line: string, signal?: AbortSignal): void {
    this.#sweep(signal)
    if (line !== '') this.#addLog(taskId, line)
  }

  registerTask(def: WholeTaskDef): void {
    this.#taskDefs.set(def.name, def)
  }

  registerWorkflow(def: Graph): void {
    const others = (this.#workflowDefs.get(def.name) ?? []).filter(({ version }) => version !== def.version)
    this.#workflowDefs.set(
      def.name,
      [...others, def].sort((a, b) => a.version - b.version),
    )
  }

  start(request: WorkflowStartRequest): WorkflowId {
    this.#sweep()
    return this.#begin(request, { workflowId: this.#nextId() as WorkflowId, parentId: undefined })
  }

  publish(workflowId: WorkflowId, eventType: string): void {
    this.operate('publish an event of', workflowId, (execution, moment) => {
      this.#scopes.of(workflowId).events.add(eventType)
      return { is: 'done', execution: decide(execution, moment) }
    })
  }

  setVariable(workflowId: WorkflowId, name: string, value: Json): void {
    this.operate('set a variable of', workflowId, (execution, moment) => {
      this.#scopes.of(workflowId).variables.set(name, value)
      return { is: 'done', execution: decide(execution, moment) }
    })
  }

  readWorkflow(workflowId: WorkflowId): Awaited<ReturnType<QueueControl['readWorkflow']>> {
    this.#sweep()
    const execution = this.#executions.get(workflowId)
    return execution && viewExecution(execution)
  }

  readLogs(taskId: TaskId): readonly string[] {
    return [...(this.#logs.get(taskId) ?? [])]
  }

  operate(
    what: string,
    workflowId: WorkflowId,
    decideOn: (execution: Execution, moment: Moment) => Operated,
  ): void {
    this.#sweep()
    const outcome = decideOn(this.#require(what, workflowId), this.#moment(workflowId))
    if (outcome.is === 'done') this.#put(outcome.execution)
    else
      throw new RefusedError('task-queue/refused', `${what} the workflow ${workflowId}: ${outcome.why}`, {
        details: { workflowId },
      })
  }

  requeue(taskType: string): void {
    this.#sweep()
    for (const execution of this.#executions.values())
      this.#put(requeueTasks(execution, taskType, this.#nowMs()))
  }

  remove(workflowId: WorkflowId): void {
    this.#sweep()
    for (const { record } of this.#require('remove', workflowId).rows) this.#owners.delete(record.taskId)
    this.#executions.delete(workflowId)
    this.#scopes.forget(workflowId)
  }

  #begin(
    request: WorkflowStartRequest,
    id: { readonly workflowId: WorkflowId; readonly parentId: WorkflowId | undefined },
  ): WorkflowId {
    const versions = this.#workflowDefs.get(request.name) ?? []
    const graph =
      request.version === undefined
        ? versions.at(-1)
        : versions.find(({ version }) => version === request.version)
    if (graph === undefined)
      throw new MissingError(
        'task-queue/no-such-workflow-def',
        `start the workflow "${request.name}": it is not defined`,
      )
    const input = { ...graph.inputTemplate, ...request.input }
    requirePayloadFits('workflow input', input)
    const taskDefs = taskTypesOf(graph).map((name) => this.#taskDefs.get(name) ?? wholeTaskDef({ name }))
    const start = { ...id, graph, taskDefs, input, startTimeMs: this.#nowMs() }
    this.#put(decide(startExecution(request, start), this.#moment(id.workflowId)))
    return id.workflowId
  }

  /** Does what follows from a stored step: starts and ends children, tells a parent. */
  #follow(execution: Execution): void {
    for (const child of openChildren(execution)) {
      // Starting one may have ended all of it.
      if (this.#executions.get(execution.workflowId) !== execution) return
      if (!this.#executions.has(child.workflowId)) this.#startChild(child)
    }
    for (const workflowId of childrenToCancel(execution)) {
      const child = this.#executions.get(workflowId)
      if (child === undefined || !isWorkflowOpen(child.status)) continue
      const reason = `the workflow ${execution.workflowId} does not wait for it any more`
      const ended = terminateExecution(child, { reason }, this.#moment(workflowId))
      if (ended.is === 'done') this.#put(ended.execution)
    }
    const parent = execution.parentId === undefined ? undefined : this.#executions.get(execution.parentId)
    if (parent !== undefined && !isWorkflowOpen(execution.status))
      this.#put(decide(parent, this.#moment(parent.workflowId)))
  }

  #startChild(child: ChildStart): void {
    try {
      this.#begin(child, child)
    } catch (error) {
      if (!isPeragoError(error)) throw error
      // As in Conductor, a child that cannot be started fails its task.
      this.#scopes.refuse(child.workflowId, error.message)
      const parent = this.#executions.get(child.parentId)
      if (parent !== undefined) this.#put(decide(parent, this.#moment(child.parentId)))
    }
  }

  /** Does everything that is due, each with its own time. */
  #sweep(signal?: AbortSignal): void {
    signal?.throwIfAborted()
    const nowMs = this.#nowMs()
    for (;;) {
      const due = nextSweep(this.#executions.values(), this.#deficiencies.sweepLagMs)
      if (due === undefined || due.atMs > nowMs) return
      this.#put(decide(due.execution, this.#moment(due.execution.workflowId, due.atMs)))
    }
  }

  #claim(request: PollRequest): readonly TaskRecord[] {
    const nowMs = this.#nowMs()
    const { workerId, count } = request
    const claimed: TaskRecord[] = []
    while (claimed.length < count) {
      // Searched again each time: a claim may reach the limit of concurrent executions.
      const [next] = this.#claimable(request)
      if (next === undefined) break
      this.#put(claimTask(next.execution, next.row, { workerId, nowMs }))
      const record = this.#find(next.row.record.taskId)?.row.record
      if (record !== undefined) claimed.push(record)
    }
    return claimed
  }

  #claimable(request: PollRequest): readonly Placed[] {
    return findClaimable(this.#executions.values(), request, this.#nowMs())
  }

  async #waitForChange(longestMs: number, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    const stop = followSignals(signal)
    let wake: (() => void) | undefined
    const changed = new Promise<void>((resolve) => {
      wake = resolve
      this.#waiting.add(resolve)
    })
    try {
      const slept = this.#clock.sleep(
        Math.min(longestMs, Math.max(1, this.#nextEventMs() - this.#nowMs())),
        stop.signal,
      )
      // The loser of the race is stopped below; its rejection is expected.
      slept.catch(() => undefined)
      await Promise.race([slept, changed])
      signal?.throwIfAborted()
    } finally {
      if (wake !== undefined) this.#waiting.delete(wake)
      stop.release()
      stop.abort()
    }
  }

  #nextEventMs(): number {
    return nextEventMs(this.#executions.values(), this.#nowMs(), this.#deficiencies.sweepLagMs)
  }

  #find(taskId: TaskId): Placed | undefined {
    const owner = this.#owners.get(taskId)
    const execution = owner === undefined ? undefined : this.#executions.get(owner)
    const row = execution === undefined ? undefined : findRow(execution, taskId)
    return execution === undefined || row === undefined ? undefined : { execution, row }
  }

  #require(what: string, workflowId: WorkflowId): Execution {
    const execution = this.#executions.get(workflowId)
    if (execution !== undefined) return execution
    throw new MissingError(
      'task-queue/no-such-workflow',
      `${what} the workflow ${workflowId}: it does not exist`,
    )
  }

  #put(execution: Execution): void {
    const before = this.#executions.get(execution.workflowId)
    if (before === execution) return
    for (const { record } of before?.rows ?? []) this.#owners.delete(record.taskId)
    for (const { record } of execution.rows) this.#owners.set(record.taskId, execution.workflowId)
    this.#executions.set(execution.workflowId, execution)
    this.#scopes.of(execution.workflowId).setShared(variablesSet(before, execution))
    for (const wake of this.#waiting) wake()
    this.#follow(execution)
  }

  #addLog(taskId: TaskId, line: string): void {
    this.#logs.set(taskId, [...(this.#logs.get(taskId) ?? []), line])
  }

  #moment(workflowId: WorkflowId, nowMs: number = this.#nowMs()): Moment {
    return {
      nowMs,
      nextTaskId: () => this.#nextId() as TaskId,
      chooseDomain: (taskType, domains) =>
        chooseDomain(
          domains,
          (domain) =>
            nowMs - (this.#lastPollMs.get(queueKey(taskType, domain)) ?? -Infinity) < POLLER_ALIVE_MS,
        ),
      scope: this.#scopes.of(workflowId),
      childEnd: (childId) => this.#scopes.refusalOf(childId) ?? endOf(this.#executions.get(childId)),
      random: Math.random,
      hasRoom: true,
    }
  }

  #nowMs(): number {
    return this.#clock.now().getTime()
  }
}

function endOf(execution: Execution | undefined): ChildEnd | undefined {
  if (execution === undefined) return undefined
  const { status, output, reasonForIncompletion: reason } = execution
  return status === 'RUNNING' || status === 'PAUSED' ? undefined : { status, output, reason }
}

function queueKey(taskType: string, domain: string | undefined): string {
  return `${domain ?? ''}:${taskType}`
}
