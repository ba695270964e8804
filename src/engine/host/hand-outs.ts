/**
 * What the host hands out: the pure scheduler, kept up to date with every stored step, and the polls that wait for it. The scheduler
 * only answers which tasks a poll gets. What becomes of them is decided by the rules, and stored, before the scheduler is told.
 */

import type { Logger } from '../../base/logger.ts'
import type { TaskId, WorkflowId } from '../../fences/attempt-snapshot.ts'
import type { PollRequest } from '../../worker/ports.ts'
import { findDemandProblems } from '../graph/planning-problems.ts'
import { CRITICAL_LATE_MS } from '../limits.ts'
import type { AttemptRow, Execution } from '../protocol/execution.ts'
import type { BreakerStates } from '../scheduling/breakers.ts'
import type { SchedulingOptions } from '../scheduling/options.ts'
import { Schedule, type HandOut } from '../scheduling/schedule.ts'
import { executorOf } from '../scheduling/tracked-row.ts'
import type { EngineObserver } from '../telemetry/engine-events.ts'
import type { Learned } from './learned.ts'
import { Pollers, type Polled } from './pollers.ts'
import type { StepChange } from './step-change.ts'

export interface HandOutsParts {
  readonly scheduling: SchedulingOptions
  readonly learned: Learned
  readonly logger: Logger
  readonly nowMs: () => number
  readonly observe: EngineObserver
}

export class HandOuts {
  readonly pollers = new Pollers()
  readonly #parts: HandOutsParts
  #schedule: Schedule
  /** The tasks of all executions that are held. */
  readonly #owners = new Map<TaskId, WorkflowId>()

  /** Executions of which it was said that they wait for a larger pool. */
  readonly #toldUnable = new Set<WorkflowId>()

  constructor(parts: HandOutsParts) {
    this.#parts = parts
    this.#schedule = this.#newSchedule()
  }

  /** Takes the attempts of a step over. */
  update(step: StepChange): void {
    const { execution, changed, dropped } = step
    const rows = changed.map(({ after }) => after)
    for (const id of dropped) this.#owners.delete(id as TaskId)
    for (const { record } of rows) this.#owners.set(record.taskId, execution.workflowId)
    this.#schedule.update(execution, this.#parts.nowMs(), { rows, dropped: dropped as readonly TaskId[] })
    this.#parts.learned.note(step)
    this.#wake(rows, dropped.length > 0)
  }

  /** Takes over an execution that was read from the store. */
  hold(execution: Execution): void {
    this.#tellUnable(execution)
    for (const { record } of execution.rows) this.#owners.set(record.taskId, execution.workflowId)
    this.#schedule.update(execution, this.#parts.nowMs())
    this.#wake(execution.rows, true)
  }

  forget(execution: Execution): void {
    for (const { record } of execution.rows) this.#owners.delete(record.taskId)
    this.#toldUnable.delete(execution.workflowId)
    this.#schedule.forget(execution.workflowId, this.#parts.nowMs())
    this.#wakeHeldBack()
  }

  clear(): void {
    this.#owners.clear()
    this.#toldUnable.clear()
    this.#schedule = this.#newSchedule()
  }

  ownerOf(taskId: TaskId): WorkflowId | undefined {
    return this.#owners.get(taskId)
  }

  /** Nobody else gets these, until their claims are stored or they are given back. */
  choose({ taskType, domain, workerId, count }: PollRequest): readonly HandOut[] {
    const executor = executorOf(workerId)
    return this.#schedule.choose({ taskType, domain, executor, count, nowMs: this.#parts.nowMs() })
  }

  /** Offers again what was chosen and not claimed. */
  giveBack(taskIds: readonly TaskId[]): void {
    for (const taskId of taskIds) this.#schedule.giveBack(taskId, this.#parts.nowMs())
  }

  /** How long a poll that got nothing may wait, if no step wakes it. */
  waitMs(polled: Polled): number {
    const nowMs = this.#parts.nowMs()
    return Math.max(1, (this.#schedule.nextLookMs(polled, nowMs) ?? Infinity) - nowMs)
  }

  /** Critical units that are due and not handed out. */
  waitingCritical(): readonly HandOut[] {
    return this.#schedule.waitingCritical(this.#parts.nowMs())
  }

  breakers(): BreakerStates {
    return this.#schedule.breakers()
  }

  /** Tells of tasks whose claims are stored. */
  report(handedOut: readonly HandOut[]): void {
    for (const task of handedOut) {
      this.#parts.observe({ kind: 'task-handed-out', task })
      const { workflowId, taskId, unit, isCritical, waitedMs, delayMs } = task
      const isLate = isCritical && delayMs >= CRITICAL_LATE_MS
      const fields = { workflowId, taskId, unit, isCritical, waitedMs, delayMs }
      if (isLate) this.#parts.logger.info('a critical task was handed out late', fields)
      else this.#parts.logger.debug('a task was handed out', fields)
    }
  }

  #newSchedule(): Schedule {
    const { scheduling: options, learned } = this.#parts
    return new Schedule({
      options,
      analyse: (graph) => learned.analyse(graph),
      breakers: learned.breakers,
    })
  }

  /** The pool may have been larger when it was started. Said once: what is held back comes here again and again. */
  #tellUnable({ workflowId, graph }: Execution): void {
    if (this.#toldUnable.has(workflowId)) return
    const { scheduling, logger } = this.#parts
    const problems = scheduling.pool === undefined ? [] : findDemandProblems(graph, scheduling.pool)
    if (problems.length === 0) return
    this.#toldUnable.add(workflowId)
    logger.warn('tasks of an execution will wait until the pool is enlarged', {
      workflowId,
      problems: problems.map(({ message }) => message),
    })
  }

  #wake(rows: readonly AttemptRow[], mayHaveFreed: boolean): void {
    let isFreed = mayHaveFreed
    for (const { record, queuedFromMs } of rows) {
      if (queuedFromMs !== undefined) this.pollers.wake(record)
      isFreed ||= record.status !== 'IN_PROGRESS'
    }
    if (isFreed) this.#wakeHeldBack()
  }

  /** What ended may have made room for tasks of any type, or told something about a target. */
  #wakeHeldBack(): void {
    this.pollers.wakeWhere((polled) => this.#schedule.hasDue(polled))
  }
}
