/**
 * Which attempts are handed out next: an index over what waits and what runs, kept up to date step by step. A poll costs as much
 * as there are groups of attempts waiting for its task type, whatever ever ran.
 *
 * How a host uses it:
 * - `update(execution)` after every step that it has written, and once for every open execution when it starts; `forget` when
 *   one is removed.
 * - A poll: `choose(…)`, write the claims, then `update` with what was written. A choice whose claim could not be written is offered
 *   again after `giveBack`. Until one of the two, nobody else gets it.
 * - An empty answer means "wait": for the next `update`, or until `nextLookMs`, since a task may have become due, or may have been left
 *   for another worker in vain.
 *
 * Nothing here changes an execution, and the time comes in with each call.
 */

import type { TaskId, WorkflowId } from '../../fences/attempt-snapshot.ts'
import { analyseGraph, type GraphAnalysis } from '../graph/analysis.ts'
import type { Graph, Unit } from '../graph/graph.ts'
import type { AttemptRow, Execution } from '../protocol/execution.ts'
import { isWorkflowOpen } from '../protocol/state.ts'
import type { BreakerStates } from './breakers.ts'
import { Picker } from './picker.ts'
import { criticalAndDemanding, predictCriticalDemand } from './critical-demand.ts'
import { PLAIN_SCHEDULING, type SchedulingOptions } from './options.ts'
import { ScheduleState } from './schedule-state.ts'
import { isSameRow, trackRow, type TrackedRow } from './tracked-row.ts'
import type { Waiting } from './waiting.ts'

export interface SchedulePoll {
  readonly taskType: string
  readonly domain?: string | undefined
  /** The worker, whatever the claim: see `executorOf`. */
  readonly executor: string
  readonly count: number
  readonly nowMs: number
}

/** A task to hand out, with what a log line or a metric may say about it. */
export interface HandOut {
  readonly workflowId: WorkflowId
  readonly taskId: TaskId
  readonly unit: string
  readonly isCritical: boolean
  readonly priority: number
  readonly risk: number
  readonly waitedMs: number
  /** How much later it starts than if nothing had waited for anything. */
  readonly delayMs: number
}

export interface ScheduleSettings {
  /** Default: Conductor's rule, no limits. */
  readonly options?: SchedulingOptions
  /** Called once per execution. Default: an analysis without recorded runs. */
  readonly analyse?: (graph: Graph) => GraphAnalysis
  /** From `breakers` of an earlier engine. */
  readonly breakers?: BreakerStates
}

/** What a step changed in one execution. */
export interface ChangedRows {
  /** New ones included. */
  readonly rows: readonly AttemptRow[]
  /** Those that are not rows of the execution any more. */
  readonly dropped: readonly TaskId[]
}

interface KnownExecution {
  readonly arrival: number
  readonly analysis: GraphAnalysis | undefined
  /** Critical units for which a share of the pool is reserved. */
  readonly demanding: readonly Unit[]
  /** Those that wait or run. */
  readonly rows: Map<TaskId, TrackedRow>
}

export class Schedule {
  readonly #options: SchedulingOptions
  readonly #analyse: (graph: Graph) => GraphAnalysis
  readonly #state: ScheduleState
  readonly #executions = new Map<WorkflowId, KnownExecution>()
  #arrivals = 0

  constructor(settings: ScheduleSettings = {}) {
    this.#options = settings.options ?? PLAIN_SCHEDULING
    const { pool } = this.#options
    this.#analyse = settings.analyse ?? ((graph) => analyseGraph(graph, pool === undefined ? {} : { pool }))
    this.#state = new ScheduleState(this.#options, settings.breakers)
  }

  /**
   * Brings what is known of this execution up to date. A host that knows what its step changed names it: then the other rows
   * are not looked at.
   */
  update(execution: Execution, nowMs: number, changed?: ChangedRows): void {
    const known = this.#executions.get(execution.workflowId) ?? this.#admit(execution)
    const { rows, dropped } = changed ?? findChanges(known, execution)
    for (const taskId of dropped) {
      this.#state.replace(known.rows.get(taskId), undefined, nowMs)
      known.rows.delete(taskId)
    }
    for (const row of rows) {
      const { taskId } = row.record
      const after = trackRow(execution, row, known)
      this.#state.replace(known.rows.get(taskId), after, nowMs)
      if (after.waiting === undefined && after.running === undefined) known.rows.delete(taskId)
      else known.rows.set(taskId, after)
    }
    const { analysis, demanding } = known
    if (analysis !== undefined && demanding.length > 0)
      this.#state.capacity.predict(
        execution.workflowId,
        predictCriticalDemand(execution, analysis, demanding),
      )
    if (!isWorkflowOpen(execution.status) && known.rows.size === 0) this.#drop(execution.workflowId)
  }

  /** The execution was removed. */
  forget(workflowId: WorkflowId, nowMs: number): void {
    const known = this.#executions.get(workflowId)
    if (known === undefined) return
    for (const before of known.rows.values()) this.#state.replace(before, undefined, nowMs)
    this.#drop(workflowId)
  }

  /** The tasks that this poll gets; see above what to do with them. */
  choose(poll: SchedulePoll): readonly HandOut[] {
    const queue = this.#state.queueOf(poll)
    this.#state.notePoll(poll)
    queue.ripen(poll.nowMs)
    const chosen: HandOut[] = []
    const max = Math.min(poll.count, this.#options.batchMax)
    const picker = new Picker(this.#state, queue, poll)
    while (chosen.length < max) {
      const next = picker.next()
      if (next === undefined) break
      this.#state.take(next, poll.executor)
      chosen.push(describeHandOut(next, poll.nowMs))
    }
    return chosen
  }

  /** Its claim could not be written: it waits again. */
  giveBack(taskId: TaskId, nowMs: number): void {
    this.#state.giveBack(taskId, nowMs)
  }

  /** When the next delayed task of this type becomes due. */
  nextDueMs(poll: Pick<SchedulePoll, 'taskType' | 'domain'>): number | undefined {
    return this.#state.queueOf(poll).nextDueMs()
  }

  /** Whether a task of this type is due and waits, for a worker, for room or for its target. */
  hasDue(poll: Pick<SchedulePoll, 'taskType' | 'domain'>): boolean {
    return this.#state.queueOf(poll).hasDue
  }

  /** When a poll that gets nothing now should come again even if nothing is updated; `undefined`: it need not. */
  nextLookMs(poll: Pick<SchedulePoll, 'taskType' | 'domain'>, nowMs: number): number | undefined {
    const dueMs = this.nextDueMs(poll)
    return this.hasDue(poll) ? Math.min(dueMs ?? Infinity, nowMs + this.#options.balanceWaitMs) : dueMs
  }

  /** Critical units that are due and not handed out: for a metric. */
  waitingCritical(nowMs: number): readonly HandOut[] {
    return this.#state.dueCritical(nowMs).map((waiting) => describeHandOut(waiting, nowMs))
  }

  /** Of targets that failed since they last succeeded. */
  breakers(): BreakerStates {
    return this.#state.breakers.states()
  }

  #admit(execution: Execution): KnownExecution {
    // Conductor's rule needs none.
    const isPlain = this.#options.strategy === 'plain' && this.#options.criticalShare.max === 0
    const analysis = isPlain ? undefined : this.#analyse(execution.graph)
    const isReserved = analysis !== undefined && this.#options.criticalShare.max > 0
    const known: KnownExecution = {
      arrival: ++this.#arrivals,
      analysis,
      demanding: isReserved ? criticalAndDemanding(execution.graph, analysis) : [],
      rows: new Map(),
    }
    this.#executions.set(execution.workflowId, known)
    return known
  }

  #drop(workflowId: WorkflowId): void {
    this.#executions.delete(workflowId)
    this.#state.capacity.predict(workflowId, undefined)
  }
}

function findChanges({ rows: known }: KnownExecution, { rows }: Execution): ChangedRows {
  const ids = new Set(rows.map(({ record }) => record.taskId))
  return {
    rows: rows.filter((row) => {
      const before = known.get(row.record.taskId)
      return before === undefined || !isSameRow(before, row)
    }),
    dropped: [...known.keys()].filter((taskId) => !ids.has(taskId)),
  }
}

function describeHandOut(waiting: Waiting, nowMs: number): HandOut {
  const { workflowId, taskId, unit, isCritical, priority, risk, dueMs, plannedMs } = waiting
  const [waitedMs, delayMs] = [nowMs - dueMs, Math.max(0, nowMs - plannedMs)]
  return { workflowId, taskId, unit, isCritical, priority, risk, waitedMs, delayMs }
}
