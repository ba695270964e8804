/** What is told of an execution: the executor's words, with the stage as its status. */

import type { Json } from '../../base/json.ts'
import type { AttemptRow, Execution } from './execution.ts'
import { latestRow } from './execution.ts'
import { indexOf } from './graph-index.ts'
import { undoReference } from './rollback.ts'
import { UNIT_STATE_OF_STATUS, type Stage, type UnitState } from './stages.ts'
import { isTaskOpen, isTaskWellEnded, isWorkflowOpen } from './state.ts'

export interface ExecutionDescription {
  readonly execution_id: string
  readonly status: Stage
  /** The first one with units that have not ended; the last one after the end. */
  readonly phase: string | undefined
  readonly created_at: string
  readonly updated_at: string
  readonly plan_units: readonly UnitDescription[]
  readonly checkpoints: readonly CheckpointDescription[]
  readonly metrics: {
    readonly tasks_total: number
    readonly tasks_completed: number
    readonly tasks_failed: number
    readonly execution_duration_seconds: number
  }
}

export interface UnitDescription {
  /** With `__N` for an iteration. */
  readonly id: string
  readonly status: UnitState
  /** Its output, once it is complete. */
  readonly result?: Json
  readonly started_at?: string
}

export interface CheckpointDescription {
  readonly checkpoint_id: string
  readonly phase_id: string
  readonly timestamp: string
  readonly state_snapshot: Json
}

export function describeExecution(
  execution: Execution,
  now: { readonly nowMs: number; readonly checkpoints?: readonly CheckpointDescription[] },
): ExecutionDescription {
  const { workflowId, stage, createdMs, updatedMs, startTimeMs } = execution
  const plan_units = describeUnits(execution)
  const count = (status: UnitState): number => plan_units.filter((unit) => unit.status === status).length
  const endMs = isWorkflowOpen(execution.status) ? now.nowMs : (execution.moves.at(-1)?.atMs ?? updatedMs)
  return {
    execution_id: workflowId,
    status: stage,
    phase: phaseOf(execution),
    created_at: new Date(createdMs).toISOString(),
    updated_at: new Date(updatedMs).toISOString(),
    plan_units,
    checkpoints: now.checkpoints ?? [],
    metrics: {
      tasks_total: plan_units.length,
      tasks_completed: count('COMPLETED'),
      tasks_failed: count('FAILED') - countCancelled(execution, plan_units),
      execution_duration_seconds: Math.max(0, endMs - startTimeMs) / 1000,
    },
  }
}

/** What another unit's failure or an operator ended has not failed itself. */
function countCancelled(execution: Execution, units: readonly UnitDescription[]): number {
  return units.filter(({ id }) => latestRow(execution, id)?.record.status === 'CANCELED').length
}

/** Of a unit by the reference name of its attempts. */
function unitState(execution: Execution, reference: string): UnitState {
  const row = latestRow(execution, reference)
  if (row === undefined) return 'PENDING'
  const isUndone = latestRow(execution, undoReference(row))?.record.status === 'COMPLETED'
  return isUndone ? 'ROLLED_BACK' : UNIT_STATE_OF_STATUS[row.record.status]
}

/** The units of the graph, then those of iterations; what no iteration has begun yet is not there. */
function describeUnits(execution: Execution): readonly UnitDescription[] {
  const { units } = execution.graph
  const names = units.map(({ taskReferenceName }) => taskReferenceName)
  const inside = execution.rows
    .filter(({ role, unit }) => role === 'run' && indexOf(execution.graph).containers.get(unit) !== undefined)
    .map(({ record }) => record.referenceTaskName)
  return [...new Set([...names, ...inside])].map((id) => describeUnit(execution, id))
}

function describeUnit(execution: Execution, id: string): UnitDescription {
  const record = latestRow(execution, id)?.record
  const status = unitState(execution, id)
  return {
    id,
    status,
    ...(record !== undefined && status === 'COMPLETED' ? { result: record.output } : {}),
    ...(record === undefined || record.startTimeMs === 0
      ? {}
      : { started_at: new Date(record.startTimeMs).toISOString() }),
  }
}

function phaseOf(execution: Execution): string | undefined {
  const { phases } = indexOf(execution.graph)
  const { units } = execution.graph
  const isOpen = (row: AttemptRow | undefined): boolean => row !== undefined && isTaskOpen(row.record.status)
  const rowOf = (name: string): AttemptRow | undefined => latestRow(execution, name)
  const running = units.find(({ taskReferenceName }) => isOpen(rowOf(taskReferenceName)))
  const next = units.find(({ taskReferenceName }) => {
    const row = rowOf(taskReferenceName)
    return row === undefined || !isTaskWellEnded(row.record.status)
  })
  const unit = running ?? next ?? units.at(-1)
  return unit === undefined ? undefined : phases.get(unit.taskReferenceName)
}
