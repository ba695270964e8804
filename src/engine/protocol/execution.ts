/**
 * An execution as a value: its definitions as they were at the start, and one row per attempt. Plain JSON; a host may store
 * it after any step, read it back and go on. What has to happen outside can be read from it: see `effects.ts`.
 */

import type { TaskId, WorkflowId, WorkflowStatus } from '../../fences/attempt-snapshot.ts'
import type { TaskRecord } from '../../worker/ports.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import type { Graph, Policy } from '../graph/graph.ts'
import type { GraphLimits } from '../graph/problems.ts'
import type { WorkflowStartRequest } from './control.ts'
import type { WholeTaskDef } from './definitions.ts'
import type { Stage, StageMove } from './stages.ts'

/** An attempt at a unit of any kind: the record that readers see, and what else the rules need. */
export interface AttemptRow {
  readonly record: TaskRecord
  /** The unit's name in the graph, without the `__N` of iterations. */
  readonly unit: string
  /** `undo`: undoes the unit. `verify`: checks the results of the execution; `unit` is empty. */
  readonly role: 'run' | 'undo' | 'verify'
  /** When a worker may claim it; `undefined` while it is not in the queue, and always for units without worker. */
  readonly queuedFromMs: number | undefined
  readonly retriedTaskId: TaskId | undefined
  /** A unit without worker: when it begins, or when its time is over. */
  readonly wakeMs?: number | undefined
  /** A unit without worker: when it ends as `TIMED_OUT`. */
  readonly timeoutMs?: number | undefined
  /** Skipped by a condition or because all units before it were; not by an operator. */
  readonly isPassedOver?: true
  /** The how-manieth unit to end well in this run. */
  readonly endOrder?: number
  readonly loop?: Loop
  readonly child?: Child
}

/** How far an EACH or a DO_WHILE is. Iterations are counted from 1. */
export interface Loop {
  /** `undefined`: not known before it ends. */
  readonly count: number | undefined
  readonly started: number
  readonly open: readonly number[]
}

/** The execution that a SUB_WORKFLOW runs. It has this id before it is started, so that it is started once. */
export interface Child {
  readonly workflowId: WorkflowId
  readonly name: string
  readonly version: number | undefined
}

export interface Execution {
  readonly workflowId: WorkflowId
  readonly graph: Graph
  /** By name, as registered at the start: later registrations do not affect a running workflow. */
  readonly taskDefs: Readonly<Record<string, WholeTaskDef>>
  readonly policy: Policy
  /** Conductor's, which workers know. */
  readonly status: WorkflowStatus
  readonly stage: Stage
  /** The stages of this run, the present one included. */
  readonly moves: readonly StageMove[]
  /** 1, and one more with each restart, retry or rerun. */
  readonly run: number
  /** Within the run: 1, and one more after each rollback. */
  readonly attempt: number
  readonly createdMs: number
  /** The start of this run. */
  readonly startTimeMs: number
  readonly updatedMs: number
  readonly input: JsonObject
  readonly output: JsonObject
  /** Set by SET_VARIABLE: `${workflow.variables.x}`, and `shared.x` in conditions. */
  readonly variables: JsonObject
  readonly reasonForIncompletion: string | undefined
  /** How it will end, known while results are verified or undone. */
  readonly ending: Ending | undefined
  /** One per rollback of this run. */
  readonly rollbacks: readonly Rollback[]
  readonly correlationId: string | undefined
  readonly priority: number
  readonly taskToDomain: Readonly<Record<string, string>>
  /** The execution that runs it as a SUB_WORKFLOW. */
  readonly parentId: WorkflowId | undefined
  /** Paused because its parent is, and resumed with it. */
  readonly isPausedByParent?: boolean
  /** Where its spans belong; the rules do not look at it. */
  readonly trace?: ExecutionTrace
  /** Executions that removed rows had started and not seen the end of: they are cancelled. */
  readonly childrenLeft: readonly WorkflowId[]
  /** In the order in which they were scheduled. */
  readonly rows: readonly AttemptRow[]
}

export interface Ending {
  readonly status: 'COMPLETED' | 'FAILED' | 'TIMED_OUT' | 'TERMINATED'
  readonly reason: string | undefined
  readonly output: JsonObject
}

export interface Rollback {
  /** Of one that was asked for, and took back data as well. */
  readonly id?: string
  /** What was undone; default: the whole execution. */
  readonly level?: 'execution' | 'phase' | 'unit' | 'artifact' | 'checkpoint'
  readonly atMs: number
  readonly reason: string | undefined
  /** Its policy asked for it; `refused`: it could not be done, and is not asked for again. */
  readonly recovery?: 'done' | 'refused'
  /** Reference names, in the order in which they were undone. */
  readonly undone: readonly string[]
  readonly notUndone: readonly { readonly unit: string; readonly why: string }[]
}

/** A trace that an execution belongs to. */
export interface ExecutionTrace {
  readonly traceId: string
  /** The span of who started it. */
  readonly parentSpanId?: string
  /** Whether its spans are recorded. */
  readonly isSampled: boolean
}

/** How another execution ended. */
export interface ChildEnd {
  readonly status: 'COMPLETED' | 'FAILED' | 'TIMED_OUT' | 'TERMINATED'
  readonly reason: string | undefined
  readonly output: JsonObject
}

/** The port of the rules: all they need from their host. */
export interface Moment {
  readonly nowMs: number
  readonly nextTaskId: () => TaskId
  /** The domain that gets tasks of this type now, of those it is mapped to; see `chooseDomain`. */
  readonly chooseDomain: (taskType: string, domains: readonly string[]) => string | undefined
  /** Events and variables of the execution, as stored. What this step itself adds is known to the rules. */
  readonly scope: {
    readonly has: (eventType: string) => boolean
    readonly read: (variableName: string) => Json | undefined
  }
  /** `undefined`: it has not ended, or was not started yet. */
  readonly childEnd: (workflowId: WorkflowId) => ChildEnd | undefined
  /** 0 to 1, for jitter. */
  readonly random: () => number
  /** Whether one more execution may begin to execute; while not, it stays in `SCHEDULING`. */
  readonly hasRoom: boolean
  /** Whether the host takes state and branches back where a policy asks for it. Default: it does not. */
  readonly recovers?: boolean
  /** What a graph may ask for; default: the limits of the reference page. */
  readonly graphLimits?: GraphLimits
}

/** Of a host that has neither events nor variables, and starts no children. */
export const PLAIN_MOMENT: Omit<Moment, 'nowMs' | 'nextTaskId' | 'chooseDomain'> = {
  scope: { has: () => false, read: () => undefined },
  childEnd: () => undefined,
  random: () => Math.random(),
  hasRoom: true,
}

const CONDUCTORS_POLICY: Policy = { onFailure: 'fail', attempts: 1 }

/** An execution that is submitted: `PENDING`, without rows. `decide` does the rest. */
export function startExecution(
  { correlationId, priority = 0, taskToDomain = {} }: WorkflowStartRequest,
  start: Pick<Execution, 'workflowId' | 'graph' | 'input' | 'startTimeMs'> & {
    readonly taskDefs: readonly WholeTaskDef[]
    readonly parentId?: WorkflowId | undefined
    readonly trace?: ExecutionTrace | undefined
  },
): Execution {
  const { workflowId, graph, input, startTimeMs } = start
  return {
    workflowId,
    graph,
    taskDefs: Object.fromEntries(start.taskDefs.map((def) => [def.name, def])),
    policy: graph.policy ?? CONDUCTORS_POLICY,
    ...firstStage(startTimeMs),
    run: 1,
    createdMs: startTimeMs,
    input,
    correlationId,
    priority,
    taskToDomain,
    parentId: start.parentId,
    childrenLeft: [],
    ...(start.trace === undefined ? {} : { trace: start.trace }),
  }
}

/** What a run begins with, whatever was before. */
export function firstStage(startTimeMs: number) {
  return {
    status: 'RUNNING',
    stage: 'PENDING',
    moves: [{ stage: 'PENDING', atMs: startTimeMs }],
    attempt: 1,
    startTimeMs,
    updatedMs: startTimeMs,
    output: {},
    variables: {},
    reasonForIncompletion: undefined,
    ending: undefined,
    rollbacks: [],
    rows: [],
  } as const satisfies Partial<Execution>
}

/** The attempt that counts for this reference name: the one scheduled last. */
export function latestRow(execution: Execution, referenceTaskName: string): AttemptRow | undefined {
  const at = placesOf(execution.rows).latest.get(referenceTaskName)
  return at === undefined ? undefined : execution.rows[at]
}

export function findRow(execution: Execution, taskId: TaskId): AttemptRow | undefined {
  const at = placesOf(execution.rows).byId.get(taskId)
  return at === undefined ? undefined : execution.rows[at]
}

/** Where rows are, by task id and by reference name (the last one). */
export interface Places {
  readonly byId: Map<TaskId, number>
  readonly latest: Map<string, number>
}

const places = new WeakMap<readonly AttemptRow[], Places>()

/** Looked for once per list of rows: a step of a large execution asks for many of them. */
export function placesOf(rows: readonly AttemptRow[]): Places {
  const known = places.get(rows)
  if (known !== undefined) return known
  const found: Places = { byId: new Map(), latest: new Map() }
  rows.forEach(({ record }, at) => {
    found.byId.set(record.taskId, at)
    found.latest.set(record.referenceTaskName, at)
  })
  places.set(rows, found)
  return found
}

/** Of rows that have just been made, whose places are known. */
export function rememberPlaces(rows: readonly AttemptRow[], found: Places): void {
  places.set(rows, found)
}

/** With these, the rows of an execution may be removed. */
export function childrenLeftBy({ rows, childrenLeft }: Execution): readonly WorkflowId[] {
  const left = rows.flatMap(({ child, record }) =>
    child === undefined || record.status === 'COMPLETED' ? [] : [child.workflowId],
  )
  return left.length === 0 ? childrenLeft : [...childrenLeft, ...left]
}

export interface RowChange extends Partial<Omit<AttemptRow, 'record'>> {
  readonly record?: Partial<TaskRecord>
}

export function changedRow(row: AttemptRow, { record, ...rest }: RowChange): AttemptRow {
  return { ...row, ...rest, record: record === undefined ? row.record : { ...row.record, ...record } }
}

export function changeRow(
  execution: Execution,
  taskId: TaskId,
  change: RowChange & { readonly nowMs: number },
): Execution {
  const { nowMs, ...rest } = change
  const rows = execution.rows.map((row) => (row.record.taskId === taskId ? changedRow(row, rest) : row))
  return { ...execution, rows, updatedMs: nowMs }
}
