/**
 * Runs a plan by the rules of `engine/protocol`, in memory: claims what can be claimed, calls its functions, applies their
 * results, decides. Which task may start, when an order has ended and how the run ends are the rules' decisions.
 *
 * What a plan needs beside them:
 * - tasks may be added during the run: the graph is compiled again, and the rules decide with the new one;
 * - a failure must not end the run before the other tasks of its order have ended: their results are applied without
 *   deciding, and the rules decide once nothing runs;
 * - a pause holds everything that has not started: the rules of a paused workflow schedule nothing, and this runner claims
 *   nothing meanwhile.
 */

import { abortReason, type Clock } from '../../base/clock.ts'
import { invariant, messageOf } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import { SteadyTime } from '../../base/steady-time.ts'
import type { TaskId, WorkflowId } from '../../fences/attempt-snapshot.ts'
import { PLAN_RESPONSE_TIMEOUT_SECONDS } from '../limits.ts'
import { decide } from '../protocol/decide.ts'
import { wholeTaskDef, type WholeTaskDef } from '../protocol/definitions.ts'
import {
  findRow,
  latestRow,
  PLAIN_MOMENT,
  startExecution,
  type AttemptRow,
  type Execution,
  type Moment,
} from '../protocol/execution.ts'
import { pauseExecution, resumeExecution, terminateExecution, type Operated } from '../protocol/operator.ts'
import { findClaimable } from '../protocol/queue.ts'
import { isTaskOpen } from '../protocol/state.ts'
import { applyResult, claimTask } from '../protocol/updates.ts'
import { graphOfPlan, orderOfBarrier, PLAN_TASK, taskIdOf, taskReference } from './compile-plan.ts'
import {
  PlanFailedError,
  planCancelled,
  planStopped,
  siblingFailed,
  type TaskFailure,
} from './plan-errors.ts'
import {
  isPlanMove,
  isPlanOver,
  planStatusOf,
  taskStatusOf,
  type EndedBy,
  type PlanStatus,
} from './plan-status.ts'
import type { PlanTask, TaskCall } from './plan-task.ts'
import type { BuiltInEvent } from './shared-space.ts'
import type { PlanSignal } from './signal-channel.ts'
import { WakeUp } from './wake-up.ts'

export interface RunHost {
  readonly planId: string
  readonly clock: Clock
  readonly logger: Logger
  readonly nextId: () => string
  /** Tasks of an order at the same time; 0: no limit. */
  readonly maxConcurrency: number
  readonly stopGraceMs: number
  /** The plan's context. */
  readonly signal: AbortSignal
  readonly tasks: ReadonlyMap<string, PlanTask>
  callFunction(task: PlanTask, call: TaskCall): unknown
  announce(event: BuiltInEvent, data: unknown): void
}

type Outcome =
  { readonly is: 'returned'; readonly value: unknown } | { readonly is: 'threw'; readonly error: unknown }

interface Running {
  readonly task: PlanTask
  readonly call: TaskCall
  readonly done: Promise<void>
}

export class PlanRun {
  readonly #host: RunHost
  readonly #time: SteadyTime
  readonly #running = new Map<TaskId, Running>()
  readonly #wakeUp = new WakeUp()
  #failures: readonly TaskFailure[] = []
  #execution: Execution
  #endedBy: EndedBy = 'stop'
  #wantsResume = false
  #graceEndMs: number | undefined

  constructor(host: RunHost) {
    this.#host = host
    this.#time = new SteadyTime(host.clock)
    const start = {
      workflowId: host.nextId() as WorkflowId,
      graph: graphOfPlan(host.planId, [...host.tasks.values()]),
      taskDefs: taskDefsOf(host.maxConcurrency),
      input: {},
      startTimeMs: this.#nowMs(),
    }
    this.#execution = startExecution({ name: host.planId }, start)
  }

  get status(): PlanStatus {
    return planStatusOf(this.#execution.status, this.#endedBy)
  }

  statusOf(taskId: string): PlanStatus {
    return taskStatusOf(this.rowOf(taskId), this.status)
  }

  rowOf(taskId: string): AttemptRow | undefined {
    return latestRow(this.#execution, taskReference(taskId))
  }

  /** Resolves when the plan is completed, otherwise rejects with what ended it. Never before its functions have ended. */
  async run(): Promise<void> {
    const { signal, clock } = this.#host
    const onCancel = (): void => this.#cancelled()
    signal.addEventListener('abort', onCancel, { once: true })
    try {
      if (signal.aborted) onCancel()
      this.#decide()
      this.#advance()
      while (!isPlanOver(this.#execution)) {
        await this.#wakeUp.wait(clock, this.#untilNextMs())
        this.#advance()
      }
      await this.#awaitFunctions()
    } finally {
      signal.removeEventListener('abort', onCancel)
    }
    this.#throwFailure()
  }

  pause(): void {
    this.#operate(pauseExecution(this.#execution, this.#moment()))
    this.#signal('pause')
  }

  resume(): void {
    this.#signal('resume')
    // The rules decide when a workflow is resumed, and would end it before the other tasks of a failed order have ended.
    if (this.#isEnding() && this.#running.size > 0) this.#wantsResume = true
    else this.#resumeNow()
    this.#wakeUp.ring()
  }

  stop(): void {
    this.#endedBy = 'stop'
    this.#operate(terminateExecution(this.#execution, { reason: 'stopped' }, this.#moment()))
    this.#cancelRunning(planStopped(this.#host.planId))
    this.#wakeUp.ring()
  }

  /** Tasks were added. */
  tasksAdded(): void {
    this.#compile()
    if (!this.#isEnding()) this.#decide()
    this.#wakeUp.ring()
  }

  /** A task that has not begun is removed; the rules know it as a unit, and perhaps as a row of the queue. */
  taskRemoved(taskId: string): void {
    const reference = taskReference(taskId)
    const rows = this.#execution.rows.filter(({ record }) => record.referenceTaskName !== reference)
    this.#put({ ...this.#execution, rows })
    this.#compile()
    this.#wakeUp.ring()
  }

  #compile(): void {
    const graph = graphOfPlan(this.#host.planId, [...this.#host.tasks.values()])
    this.#put({ ...this.#execution, graph })
  }

  /** Whether the barrier of this order, or of a later one, was reached: such orders take no more tasks. */
  isOrderPassed(order: number): boolean {
    return this.#execution.rows.some(({ unit }) => (orderOfBarrier(unit) ?? -1) >= order)
  }

  #advance(): void {
    while (this.#step()) {
      // Each step brings the run closer to its end, or waits.
    }
  }

  /** False when nothing can be done before something changes. */
  #step(): boolean {
    if (isPlanOver(this.#execution)) return false
    if (this.#isEnding()) return this.#end()
    if (this.#execution.status === 'PAUSED') return false
    if (this.#beginTasks()) return true
    if (this.#execution.rows.some(({ record }) => isTaskOpen(record.status))) return false
    return this.#decide()
  }

  /** No task is begun any more. */
  #isEnding(): boolean {
    return this.#failures.length > 0 || this.#host.signal.aborted
  }

  #end(): boolean {
    const isCancelled = this.#host.signal.aborted
    const waits = this.#running.size > 0 && this.#nowMs() < (this.#graceEndMs ?? Infinity)
    const isHeld = this.#execution.status === 'PAUSED' && !this.#wantsResume && !isCancelled
    if (waits || isHeld) return false
    if (this.#execution.status === 'PAUSED') this.#resumeNow()
    if (!isCancelled || isPlanOver(this.#execution)) return this.#decide()
    this.#endedBy = 'cancellation'
    const reason = messageOf(this.#host.signal.reason)
    this.#operate(terminateExecution(this.#execution, { reason }, this.#moment()))
    return false
  }

  #beginTasks(): boolean {
    const nowMs = this.#nowMs()
    const { maxConcurrency, planId } = this.#host
    const claimable = findClaimable([this.#execution], { taskType: PLAN_TASK, domain: undefined }, nowMs)
    const room = maxConcurrency === 0 ? claimable.length : Math.max(0, maxConcurrency - this.#running.size)
    const batch = claimable.slice(0, room)
    for (const { row } of batch) this.#put(claimTask(this.#execution, row, { workerId: planId, nowMs }))
    for (const { row } of batch) this.#begin(row.record.taskId)
    return batch.length > 0
  }

  #begin(taskId: TaskId): void {
    const row = findRow(this.#execution, taskId)
    const task = row === undefined ? undefined : this.#host.tasks.get(taskIdOf(row.record.referenceTaskName))
    invariant(row !== undefined && task !== undefined, 'a claimed task is one of the plan')
    const attempt = row.record.pollCount
    const call = task.beginCall(this.#host.planId, attempt)
    this.#running.set(taskId, { task, call, done: this.#perform(taskId, task, call) })
    this.#host.announce('TaskBegan', { task_id: task.id, attempt })
  }

  async #perform(taskId: TaskId, task: PlanTask, call: TaskCall): Promise<void> {
    // Every task of the order is claimed before the first function is called.
    await Promise.resolve()
    const outcome = await this.#outcomeOf(task, call)
    this.#running.delete(taskId)
    call.signals.close()
    // The rules ignore what comes after the end.
    if (!isPlanOver(this.#execution)) this.#settle(taskId, task, outcome, call)
    this.#wakeUp.ring()
  }

  async #outcomeOf(task: PlanTask, call: TaskCall): Promise<Outcome> {
    try {
      call.context.signal.throwIfAborted()
      return { is: 'returned', value: await this.#host.callFunction(task, call) }
    } catch (error) {
      return { is: 'threw', error }
    }
  }

  #settle(taskId: TaskId, task: PlanTask, outcome: Outcome, call: TaskCall): void {
    if (outcome.is === 'threw') {
      this.#failed(taskId, task, call, outcome.error)
      return
    }
    task.setResult(outcome.value)
    this.#apply(taskId, { status: 'COMPLETED' })
    this.#host.announce('TaskCompleted', { task_id: task.id, result: outcome.value })
  }

  #failed(taskId: TaskId, task: PlanTask, call: TaskCall, error: unknown): void {
    // The rules cancel what has not ended when they end the workflow.
    if (isOwnCancellation(error, call.context.signal)) return
    const { attempt } = call.context
    const delayMs = this.#isEnding() ? undefined : this.#retryDelayMs(task, error, attempt)
    const { planId, logger } = this.#host
    const fields = { plan: planId, task: task.id, order: task.order, attempt, error }
    if (delayMs !== undefined) {
      logger.warn('a task failed and is tried again', { ...fields, delayMs })
      // Handed back with a delay, as a worker does: only the task knows which error is worth which delay.
      this.#apply(taskId, { status: 'IN_PROGRESS', callbackAfterSeconds: delayMs / 1000 })
      return
    }
    logger.error('a task failed', fields)
    this.#apply(taskId, { status: 'FAILED_WITH_TERMINAL_ERROR', reasonForIncompletion: messageOf(error) })
    const failure = { taskId: task.id, order: task.order, error }
    this.#failures = [...this.#failures, failure]
    this.#cancelRunning(siblingFailed(planId, failure))
    this.#host.announce('TaskError', { task_id: task.id, error })
  }

  /** The rule is the author's: where it throws, the task is not tried again. */
  #retryDelayMs(task: PlanTask, error: unknown, attempt: number): number | undefined {
    try {
      return task.retryDelayMs(error, attempt)
    } catch (fault) {
      this.#host.logger.error('a retry rule failed', {
        plan: this.#host.planId,
        task: task.id,
        error: fault,
      })
      return undefined
    }
  }

  #apply(
    taskId: TaskId,
    result: {
      readonly status: 'COMPLETED' | 'IN_PROGRESS' | 'FAILED_WITH_TERMINAL_ERROR'
      readonly callbackAfterSeconds?: number
      readonly reasonForIncompletion?: string
    },
  ): void {
    const { workflowId } = this.#execution
    const whole = { ...result, taskId, workflowId, workerId: this.#host.planId, output: {} }
    // Not decided here: an order ends when all its tasks have, see the head of this file.
    this.#put(applyResult(this.#execution, whole, { isOwn: false, isOpen: true, moment: this.#moment() }))
  }

  #decide(): boolean {
    const before = this.#execution
    this.#put(decide(before, this.#moment()))
    return this.#execution !== before
  }

  /** The rules decide as they resume: the workflow runs again, and may have ended when this returns. */
  #resumeNow(): void {
    this.#operate(resumeExecution(this.#execution, this.#moment()), 'running')
  }

  #operate(operated: Operated, from?: PlanStatus): void {
    invariant(operated.is === 'done', 'the plan judged a command that the rules refuse')
    this.#put(operated.execution, from)
  }

  #put(execution: Execution, before: PlanStatus = this.status): void {
    this.#execution = execution
    const after = this.status
    invariant(before === after || isPlanMove(before, after), `a plan went from ${before} to ${after}`)
  }

  #cancelRunning(reason: Error): void {
    this.#signal('stop')
    for (const { call } of this.#running.values()) call.abort.abort(reason)
  }

  #signal(signal: PlanSignal): void {
    for (const { call } of this.#running.values()) call.signals.send(signal)
  }

  #cancelled(): void {
    this.#graceEndMs = this.#nowMs() + this.#host.stopGraceMs
    this.#cancelRunning(abortReason(this.#host.signal))
    this.#wakeUp.ring()
  }

  /** Until a delayed task is due, or the patience with functions that ignore a cancellation ends. */
  #untilNextMs(): number {
    const nowMs = this.#nowMs()
    const due = this.#execution.rows.flatMap(({ queuedFromMs = 0 }) =>
      queuedFromMs > nowMs ? [queuedFromMs] : [],
    )
    const next = due.reduce((first, atMs) => Math.min(first, atMs), this.#graceEndMs ?? Infinity)
    return Math.max(0, next - nowMs)
  }

  async #awaitFunctions(): Promise<void> {
    this.#graceEndMs ??= this.#nowMs() + this.#host.stopGraceMs
    while (this.#running.size > 0 && this.#nowMs() < this.#graceEndMs)
      await this.#wakeUp.wait(this.#host.clock, this.#untilNextMs())
    if (this.#running.size === 0) return
    const tasks = [...this.#running.values()].map(({ task }) => task.id)
    this.#host.logger.warn('a plan ended while functions of its tasks still run', {
      plan: this.#host.planId,
      tasks,
      next: 'Let these functions end when their signal is aborted.',
    })
  }

  #throwFailure(): void {
    const { planId, signal } = this.#host
    const [first] = this.#failures
    if (this.status === 'completed') return
    if (this.status === 'destroyed') throw planStopped(planId)
    if (this.#execution.status === 'TERMINATED' || first === undefined)
      throw planCancelled(planId, abortReason(signal), this.#failures)
    throw new PlanFailedError(planId, first, this.#failures)
  }

  #nowMs(): number {
    return this.#time.nowMs()
  }

  #moment(): Moment {
    return {
      ...PLAIN_MOMENT,
      graphLimits: { unitsMax: Infinity },
      nowMs: this.#nowMs(),
      nextTaskId: () => this.#host.nextId() as TaskId,
      chooseDomain: () => undefined,
    }
  }
}

function taskDefsOf(maxConcurrency: number): readonly WholeTaskDef[] {
  return [
    wholeTaskDef({
      name: PLAN_TASK,
      retryCount: 0,
      responseTimeoutSeconds: PLAN_RESPONSE_TIMEOUT_SECONDS,
      concurrentExecLimit: maxConcurrency,
    }),
  ]
}

/** A function that ends with the reason of its aborted signal obeyed; it did not fail. */
function isOwnCancellation(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false
  return error === signal.reason || (error instanceof Error && error.name === 'AbortError')
}
