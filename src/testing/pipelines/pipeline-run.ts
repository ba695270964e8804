/** What a test looks at when a pipeline has run. */

import { RefusedError, MissingError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { suggest } from '../../base/suggestion.ts'
import type { ExecutionEvent } from '../../core/events/event.ts'
import { walkUnits } from '../../engine/graph/graph.ts'
import { latestRow, type Execution } from '../../engine/protocol/execution.ts'
import type { Stage } from '../../engine/protocol/stages.ts'
import { isWorkflowOpen } from '../../engine/protocol/state.ts'
import type { TaskStatus, WorkflowId, WorkflowStatus } from '../../fences/attempt-snapshot.ts'
import type { TaskRecord } from '../../worker/ports.ts'
import type { Beginning } from './driver.ts'
import type { Publication } from './test-repository.ts'

export interface AttemptRun {
  readonly status: TaskStatus
  /** Why it did not complete. */
  readonly reason: string | undefined
  /** Since the start of the run, in milliseconds. */
  readonly startedAfterMs: number
  readonly durationMs: number
  readonly output: JsonObject
}

export interface UnitRun {
  readonly name: string
  /** Of its last attempt. */
  readonly status: UnitStatus
  /** Of its last attempt. */
  readonly output: JsonObject
  /** Of a declared task: what its body returned. */
  readonly result: Json | undefined
  readonly attempts: readonly AttemptRun[]
}

export type UnitStatus = TaskStatus | 'NOT_STARTED'

export interface PipelineRun<Output = JsonObject> {
  readonly id: WorkflowId
  readonly status: WorkflowStatus
  readonly stage: Stage
  /** Why it did not complete. */
  readonly reason: string | undefined
  /** Of the pipeline; empty unless it completed. */
  readonly output: Output
  /** The status of every unit, by name; `NAME__1`, `NAME__2`, … for those of iterations. */
  readonly units: Readonly<Record<string, UnitStatus>>
  /** The units in the order in which workers began with them, one entry for each attempt. */
  readonly order: readonly string[]
  /** The log of the execution. */
  readonly events: readonly ExecutionEvent[]
  /** Of its branches: what stands on them and was not there before, the oldest first. */
  readonly published: readonly Publication[]
  /** From the start to the end, in the time of the test. */
  readonly durationMs: number
  /** The writes to the store of the engine so far. */
  readonly writes: number
  /** Throws, and names those that there are, if there is no such unit. */
  unit(name: string): UnitRun
  /** The output, or an error that says what happened instead. */
  requireCompleted(): Output
  /** What happened, one line for each event. */
  story(): string
}

export interface RunParts {
  readonly execution: Execution
  readonly beginnings: readonly Beginning[]
  readonly events: readonly ExecutionEvent[]
  readonly published: readonly Publication[]
  readonly nowMs: number
  readonly writes: number
}

export function describeRun<Output>(parts: RunParts): PipelineRun<Output> {
  const { execution, beginnings, events, published, nowMs, writes } = parts
  const { workflowId: id, status, stage, reasonForIncompletion: reason, createdMs, updatedMs } = execution
  const names = namesOf(execution)
  const endMs = isWorkflowOpen(status) ? nowMs : updatedMs
  const story = (): string => events.map((event) => tellEvent(event, createdMs)).join('\n')
  return {
    ...{ id, status, stage, reason, events, published, writes, story },
    // What the pipeline declares is what the engine computes; a test of the types holds them together.
    output: execution.output as Output,
    units: Object.fromEntries(names.map((name) => [name, statusOf(execution, name)])),
    order: beginnings.filter(({ workflowId }) => workflowId === id).map(({ unit }) => unit),
    durationMs: endMs - createdMs,
    unit: (name) => {
      if (names.includes(name)) return describeUnit(execution, name)
      throw noSuchUnit(execution, name, names)
    },
    requireCompleted: () => {
      if (status === 'COMPLETED') return execution.output as Output
      throw new RefusedError(
        'testing/not-completed',
        `run the pipeline "${execution.graph.name}": it is ${status}: ${reason ?? 'it has not ended'}\n${story()}`,
      )
    },
  }
}

/** Units of the graph, then those of iterations. */
function namesOf({ graph, rows }: Execution): readonly string[] {
  const inside = new Set(
    graph.units
      .flatMap((unit) => ('units' in unit ? walkUnits(unit.units) : []))
      .map((unit) => unit.taskReferenceName),
  )
  const ran = rows.map(({ record }) => record.referenceTaskName)
  return [...new Set([...graph.units.map(({ taskReferenceName }) => taskReferenceName), ...ran])].filter(
    (name) => name !== '' && !inside.has(name),
  )
}

function statusOf(execution: Execution, name: string): UnitStatus {
  return latestRow(execution, name)?.record.status ?? 'NOT_STARTED'
}

function describeUnit(execution: Execution, name: string): UnitRun {
  const output = latestRow(execution, name)?.record.output ?? {}
  return {
    ...{ name, output, status: statusOf(execution, name), result: output['result'] },
    attempts: execution.rows
      .filter(({ record }) => record.referenceTaskName === name)
      .map(({ record }) => describeAttempt(record, execution.createdMs)),
  }
}

function describeAttempt(record: TaskRecord, createdMs: number): AttemptRun {
  const { status, reasonForIncompletion: reason, startTimeMs, updateTimeMs, output } = record
  const startMs = startTimeMs === 0 ? updateTimeMs : startTimeMs
  return {
    ...{ status, reason, output },
    startedAfterMs: startMs - createdMs,
    durationMs: updateTimeMs - startMs,
  }
}

function noSuchUnit({ graph }: Execution, name: string, names: readonly string[]): MissingError {
  const meant = suggest(name, names)
  return new MissingError(
    'testing/no-such-unit',
    `read unit "${name}": the pipeline "${graph.name}" has none of that name`,
    { next: meant === undefined ? `Choose one of ${names.join(', ')}.` : `Did you mean "${meant}"?` },
  )
}

function tellEvent({ timestamp, type, payload }: ExecutionEvent, sinceMs: number): string {
  const told = Object.fromEntries(Object.entries(payload).filter(([name]) => !UNTOLD.has(name)))
  const after = formatElapsed(Date.parse(timestamp) - sinceMs)
  return `${after}  ${type}${Object.keys(told).length === 0 ? '' : `  ${JSON.stringify(told)}`}`
}

/** `3d 01:00:00.250` */
function formatElapsed(elapsedMs: number): string {
  const days = Math.floor(elapsedMs / DAY_MS)
  const rest = new Date(elapsedMs % DAY_MS).toISOString().slice(11, 23)
  return days === 0 ? rest : `${days}d ${rest}`
}

/** Different in every run. */
const UNTOLD: ReadonlySet<string> = new Set(['taskId', 'workerId'])
const DAY_MS = 86_400_000
