// One execution under the pure rules: a clock that is moved by hand, workers that a test plays itself. After every step the
// execution is stored as JSON and read again, as a host does.
import type { JsonObject, Json } from '../../src/base/json.ts'
import type { Graph, TaskUnit, Unit } from '../../src/engine/graph/graph.ts'
import { decide } from '../../src/engine/protocol/decide.ts'
import { wholeTaskDef, type TestTaskDef } from '../../src/engine/protocol/definitions.ts'
import { variablesSet } from '../../src/engine/protocol/effects.ts'
import {
  latestRow,
  startExecution,
  type AttemptRow,
  type ChildEnd,
  type Execution,
  type Moment,
} from '../../src/engine/protocol/execution.ts'
import type { Operated } from '../../src/engine/protocol/operator.ts'
import { taskTypesOf } from '../../src/engine/protocol/task-settings.ts'
import { applyResult, claimTask, isClaimable } from '../../src/engine/protocol/updates.ts'
import type { ResultStatus, TaskId, TaskRecord, WorkflowId } from '../../src/worker/ports.ts'

/** A task of the type `work`, which is not retried. */
export function task(name: string, after: readonly string[] = [], more: Partial<TaskUnit> = {}): TaskUnit {
  return {
    type: 'SIMPLE',
    name: 'work',
    taskReferenceName: name,
    inputParameters: {},
    after,
    retryCount: 0,
    ...more,
  }
}

/** A unit of another kind. */
export function unit<T extends Exclude<Unit['type'], 'SIMPLE'>>(
  type: T,
  name: string,
  more: Omit<Extract<Unit, { type: T }>, 'type' | 'taskReferenceName' | 'inputParameters' | 'after'> &
    Partial<Pick<Unit, 'inputParameters' | 'after'>>,
): Extract<Unit, { type: T }> {
  const base = { type, taskReferenceName: name, inputParameters: {}, after: [] }
  return { ...base, ...more } as unknown as Extract<Unit, { type: T }>
}

export function graph(units: readonly Unit[], more: Partial<Graph> = {}): Graph {
  return {
    ...{ name: 'g', version: 1, units, inputTemplate: {}, outputParameters: undefined, restartable: true },
    ...{ timeoutSeconds: 0, timeoutPolicy: 'ALERT_ONLY' },
    ...more,
  }
}

export class RulesWorld {
  nowMs = 1000
  hasRoom = true
  /** False: the next step gets the very value that the last one made, not what was stored of it. */
  isStored = true
  random = 0
  readonly events = new Set<string>()
  readonly variables = new Map<string, Json>()
  readonly childEnds = new Map<string, ChildEnd>()
  execution: Execution
  #ids = 0

  constructor(
    what: Graph | readonly Unit[],
    options: {
      readonly input?: JsonObject
      readonly defs?: readonly TestTaskDef[]
      readonly isPending?: boolean
      readonly hasRoom?: boolean
    } = {},
  ) {
    const whole = 'units' in what ? what : graph(what)
    this.hasRoom = options.hasRoom ?? true
    const defs = new Map(options.defs?.map((def) => [def.name, wholeTaskDef(def)]))
    const taskDefs = taskTypesOf(whole).map(
      (name) => defs.get(name) ?? wholeTaskDef({ name, retryCount: 0, retryDelaySeconds: 1 }),
    )
    this.execution = startExecution(
      { name: whole.name },
      {
        ...{ workflowId: 'w' as WorkflowId, graph: whole, taskDefs },
        ...{ input: options.input ?? {}, startTimeMs: this.nowMs },
      },
    )
    if (options.isPending !== true) this.decide()
  }

  moment(): Moment {
    return {
      nowMs: this.nowMs,
      nextTaskId: () => `t${(this.#ids += 1)}` as TaskId,
      chooseDomain: (_, [first]) => first,
      scope: { has: (type) => this.events.has(type), read: (name) => this.variables.get(name) },
      childEnd: (id) => this.childEnds.get(id),
      random: () => this.random,
      hasRoom: this.hasRoom,
    }
  }

  /** What a host does with the next value. */
  put(next: Execution): void {
    for (const [name, value] of Object.entries(variablesSet(this.execution, next)))
      this.variables.set(`shared.${name}`, value)
    if (next === this.execution) return
    this.execution = this.isStored ? (JSON.parse(JSON.stringify(next)) as Execution) : next
  }

  decide(): void {
    this.put(decide(this.execution, this.moment()))
  }

  /** Time passes; then it is decided, as by a sweeper. */
  pass(seconds: number): void {
    this.nowMs += seconds * 1000
    this.decide()
  }

  operate(how: (execution: Execution, moment: Moment) => Operated): void {
    const operated = how(this.execution, this.moment())
    if (operated.is === 'refused') throw new Error(operated.why)
    this.put(operated.execution)
  }

  row(reference: string): AttemptRow {
    const row = latestRow(this.execution, reference)
    if (row === undefined) throw new Error(`"${reference}" has no attempt`)
    return row
  }

  record(reference: string): TaskRecord {
    return this.row(reference).record
  }

  status(reference: string): string {
    return latestRow(this.execution, reference)?.record.status ?? '-'
  }

  /** Of several, as a text that is easy to compare. */
  statuses(...references: readonly string[]): string {
    return references.map((reference) => `${reference} ${this.status(reference)}`).join(', ')
  }

  /** The reference names of what workers may claim now. */
  claimable(): readonly string[] {
    return this.execution.rows
      .filter((row) => isClaimable(row, this.nowMs))
      .map(({ record }) => record.referenceTaskName)
  }

  claim(reference: string): AttemptRow {
    const row = this.row(reference)
    if (!isClaimable(row, this.nowMs))
      throw new Error(`"${reference}" cannot be claimed: ${row.record.status}`)
    this.put(claimTask(this.execution, row, { workerId: `worker-of-${reference}`, nowMs: this.nowMs }))
    return this.row(reference)
  }

  post(reference: string, status: ResultStatus, output: JsonObject = {}, reason?: string): void {
    const { taskId } = this.record(reference)
    const result = { taskId, workflowId: this.execution.workflowId, workerId: 'x', status, output }
    const named = {
      ...{ isOwn: true, moment: this.moment() },
      isOpen: this.execution.status === 'RUNNING' || this.execution.status === 'PAUSED',
    }
    this.put(
      applyResult(
        this.execution,
        reason === undefined ? result : { ...result, reasonForIncompletion: reason },
        named,
      ),
    )
  }

  complete(reference: string, output: JsonObject = {}): void {
    this.claim(reference)
    this.post(reference, 'COMPLETED', output)
  }

  fail(reference: string, reason = 'broken'): void {
    this.claim(reference)
    this.post(reference, 'FAILED', {}, reason)
  }

  /** The stages of this run, in order. */
  stages(): string {
    return this.execution.moves.map(({ stage }) => stage).join(' ')
  }
}
