/**
 * Holds the workflows of an in-process queue and the order of things; what follows from what is decided in the pure modules
 * beside it.
 *
 * Nothing runs in the background: whatever is due is done, in the order in which it was due, before a request is looked
 * at. On a clock that stands still nothing happens by itself.
 */

import { randomUUID } from 'node:crypto'
import { followSignals, unlessAborted } from '../../base/abort-signals.ts'
import { systemClock, type Clock } from '../../base/clock.ts'
import { InvalidError, MissingError, RefusedError } from '../../base/errors.ts'
import { CONDUCTOR_LOGS_PER_RESULT_MAX, CONDUCTOR_POLL_WAIT_MAX_MS } from '../../worker/limits.ts'
import { requirePayloadFits } from '../../worker/payload-limits.ts'
import type { TaskId, WorkflowId } from '../../fences/attempt-snapshot.ts'
import type {
  OpenWorkflows,
  PollRequest,
  QueueCallOptions,
  TaskRecord,
  TaskResult,
} from '../../worker/ports.ts'
import type { JsonObject } from '../../base/json.ts'
import type { QueueControl, WorkflowStartRequest } from './control.ts'
import { decide, nextDeadlineMs } from './decide.ts'
import { wholeTaskDef, type WholeTaskDef, type WholeWorkflowDef } from './definitions.ts'
import { findRow, type AttemptRow, type Execution, type Moment } from './execution.ts'
import { requeueTasks, type Operated } from './operator.ts'
import { isWorkflowOpen, TASK_TRANSITIONS } from './state.ts'
import { applyResult, claimTask, isClaimable, renewTask } from './updates.ts'

/** What the real server does worse than it could. A worker must be right in spite of it. */
export interface Deficiencies {
  /** How long after a deadline the sweeper comes by. On a real server that is up to two minutes. */
  readonly sweepLagMs?: number
  /**
   * A renewal reads the task, and writes all of it back this much later: what happened to the task in between is undone.
   */
  readonly renewalWritesAfterMs?: number
  /** A poll that its worker gave up waits on at the server, and claims for nobody what comes until its time is over. */
  readonly abandonedPollsClaim?: boolean
}

export interface QueueHostOptions {
  readonly clock?: Clock
  readonly deficiencies?: Deficiencies
  /** Random ids unless given. */
  readonly nextId?: () => string
}

/** A domain whose last poll is older is taken to have nobody. */
const POLLER_ALIVE_MS = 10_000

export class QueueHost {
  readonly #clock: Clock
  readonly #deficiencies: Deficiencies
  readonly #nextId: () => string
  readonly #taskDefs = new Map<string, WholeTaskDef>()
  readonly #workflowDefs = new Map<string, WholeWorkflowDef[]>()
  readonly #executions = new Map<WorkflowId, Execution>()
  readonly #owners = new Map<TaskId, WorkflowId>()
  readonly #logs = new Map<TaskId, string[]>()
  readonly #lastPollMs = new Map<string, number>()
  /** Wakes the polls that wait. */
  readonly #waiting = new Set<() => void>()

  constructor(options: QueueHostOptions) {
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
      // It waits until all of them are there, as Conductor does.
      if (leftMs <= 0 || this.#findClaimable(request).length >= count) return this.#claim(request)
      await this.#waitForChange(leftMs, signal)
    }
  }

  readTask(taskId: TaskId, signal?: AbortSignal): TaskRecord | undefined {
    this.#sweep(signal)
    const found = this.#find(taskId)
    return found?.row.record
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
    const workflows = open.slice(0, max).map(({ workflowId, def, startTimeMs, input }) => ({
      workflowId,
      name: def.name,
      parentId: undefined,
      startTimeMs,
      input,
      steps: def.tasks as unknown as readonly JsonObject[],
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
    // The request is with the server: that its sender gives up does not stop it.
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
    this.#put(applyResult(found.execution, result, { isOwn, isOpen, moment: this.#moment() }))
    return true
  }

  appendLog(taskId: TaskId, line: string, signal?: AbortSignal): void {
    this.#sweep(signal)
    if (line !== '') this.#addLog(taskId, line)
  }

  registerTask(def: WholeTaskDef): void {
    this.#taskDefs.set(def.name, def)
  }

  registerWorkflow(def: WholeWorkflowDef): void {
    const others = (this.#workflowDefs.get(def.name) ?? []).filter(({ version }) => version !== def.version)
    this.#workflowDefs.set(
      def.name,
      [...others, def].sort((a, b) => a.version - b.version),
    )
  }

  start(request: WorkflowStartRequest): WorkflowId {
    this.#sweep()
    const versions = this.#workflowDefs.get(request.name) ?? []
    const def =
      request.version === undefined
        ? versions.at(-1)
        : versions.find(({ version }) => version === request.version)
    if (def === undefined)
      throw new MissingError(
        'task-queue/no-such-workflow-def',
        `start the workflow "${request.name}": it is not defined`,
      )
    const input = { ...def.inputTemplate, ...request.input }
    requirePayloadFits('workflow input', input)
    const workflowId = this.#nextId() as WorkflowId
    const taskDefs = def.tasks.map(({ name }) => [name, this.#taskDefs.get(name) ?? wholeTaskDef({ name })])
    const execution: Execution = {
      workflowId,
      def,
      taskDefs: Object.fromEntries(taskDefs) as Record<string, WholeTaskDef>,
      status: 'RUNNING',
      startTimeMs: this.#nowMs(),
      input,
      output: {},
      reasonForIncompletion: undefined,
      correlationId: request.correlationId,
      priority: request.priority ?? 0,
      taskToDomain: request.taskToDomain ?? {},
      rows: [],
    }
    this.#put(decide(execution, this.#moment()))
    return workflowId
  }

  readWorkflow(workflowId: WorkflowId): Awaited<ReturnType<QueueControl['readWorkflow']>> {
    this.#sweep()
    const execution = this.#executions.get(workflowId)
    if (execution === undefined) return undefined
    const { status, input, output, reasonForIncompletion, rows } = execution
    return { workflowId, status, input, output, reasonForIncompletion, tasks: rows.map((row) => row.record) }
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
    const outcome = decideOn(this.#require(what, workflowId), this.#moment())
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
  }

  /** Does what was due, each at its time. */
  #sweep(signal?: AbortSignal): void {
    signal?.throwIfAborted()
    const nowMs = this.#nowMs()
    for (;;) {
      const due = this.#nextSweep()
      if (due === undefined || due.atMs > nowMs) return
      this.#put(decide(due.execution, this.#moment(due.atMs)))
    }
  }

  #nextSweep(): { readonly atMs: number; readonly execution: Execution } | undefined {
    const lagMs = this.#deficiencies.sweepLagMs ?? 0
    let next: { readonly atMs: number; readonly execution: Execution } | undefined
    for (const execution of this.#executions.values()) {
      const deadlineMs = nextDeadlineMs(execution)
      if (deadlineMs === undefined) continue
      if (next === undefined || deadlineMs + lagMs < next.atMs) next = { atMs: deadlineMs + lagMs, execution }
    }
    return next
  }

  #claim(request: PollRequest): readonly TaskRecord[] {
    const nowMs = this.#nowMs()
    const { workerId, count } = request
    const claimed: TaskRecord[] = []
    while (claimed.length < count) {
      // Looked up anew each time: a claim may use up the limit of concurrent executions.
      const [next] = this.#findClaimable(request)
      if (next === undefined) break
      this.#put(claimTask(next.execution, next.row, { workerId, nowMs }))
      const record = this.#find(next.row.record.taskId)?.row.record
      if (record !== undefined) claimed.push(record)
    }
    return claimed
  }

  /** Higher priority first, then whoever was due earlier. */
  #findClaimable({ taskType, domain }: PollRequest): readonly Placed[] {
    const nowMs = this.#nowMs()
    const placed = [...this.#executions.values()].flatMap((execution) =>
      execution.rows.map((row) => ({ execution, row })),
    )
    const inProgress = placed.filter(
      ({ row }) => row.record.taskType === taskType && row.record.status === 'IN_PROGRESS',
    ).length
    return placed
      .filter(
        ({ row }) =>
          row.record.taskType === taskType &&
          row.record.domain === domain &&
          isClaimable(row, nowMs) &&
          (row.def.concurrentExecLimit === 0 || inProgress < row.def.concurrentExecLimit),
      )
      .sort(
        (a, b) =>
          b.execution.priority - a.execution.priority ||
          (a.row.queuedFromMs ?? 0) - (b.row.queuedFromMs ?? 0),
      )
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
      const slept = this.#clock.sleep(Math.min(longestMs, this.#msUntilNextEvent()), stop.signal)
      // Whichever loses the race is stopped below, and nobody listens to it any more.
      slept.catch(() => undefined)
      await Promise.race([slept, changed])
      signal?.throwIfAborted()
    } finally {
      if (wake !== undefined) this.#waiting.delete(wake)
      stop.release()
      stop.abort()
    }
  }

  /** Until a delayed task becomes due, or a deadline passes. */
  #msUntilNextEvent(): number {
    const nowMs = this.#nowMs()
    const queued = [...this.#executions.values()].flatMap((execution) =>
      execution.rows.flatMap(({ queuedFromMs }) =>
        queuedFromMs !== undefined && queuedFromMs > nowMs ? [queuedFromMs] : [],
      ),
    )
    const nextMs = Math.min(...queued, this.#nextSweep()?.atMs ?? Infinity)
    return Math.max(1, nextMs - nowMs)
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
    throw new MissingError('task-queue/no-such-workflow', `${what} the workflow ${workflowId}: there is none`)
  }

  #put(execution: Execution): void {
    const before = this.#executions.get(execution.workflowId)
    if (before === execution) return
    for (const { record } of before?.rows ?? []) this.#owners.delete(record.taskId)
    for (const { record } of execution.rows) this.#owners.set(record.taskId, execution.workflowId)
    this.#executions.set(execution.workflowId, execution)
    for (const wake of this.#waiting) wake()
  }

  #addLog(taskId: TaskId, line: string): void {
    this.#logs.set(taskId, [...(this.#logs.get(taskId) ?? []), line])
  }

  #moment(nowMs: number = this.#nowMs()): Moment {
    return {
      nowMs,
      nextTaskId: () => this.#nextId() as TaskId,
      chooseDomain: (taskType, domains) => {
        const isAlive = (domain: string): boolean =>
          nowMs - (this.#lastPollMs.get(queueKey(taskType, domain)) ?? -Infinity) < POLLER_ALIVE_MS
        // With nobody polling in any of them it is the last.
        const chosen = domains.find((domain) => domain === 'NO_DOMAIN' || isAlive(domain)) ?? domains.at(-1)
        return chosen === 'NO_DOMAIN' ? undefined : chosen
      },
    }
  }

  #nowMs(): number {
    return this.#clock.now().getTime()
  }
}

interface Placed {
  readonly execution: Execution
  readonly row: AttemptRow
}

function queueKey(taskType: string, domain: string | undefined): string {
  return `${domain ?? ''}:${taskType}`
}
