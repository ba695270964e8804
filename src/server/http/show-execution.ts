/** Executions as the API shows them. What does not fit into an answer is left out, and named. */

import { defined } from '../../base/defined.ts'
import type { Json } from '../../base/json.ts'
import type { ListedExecution } from '../../engine/host/execution-list.ts'
import { describeExecution, type CheckpointDescription } from '../../engine/protocol/describe-execution.ts'
import { latestRow, type Execution } from '../../engine/protocol/execution.ts'
import { isWorkflowOpen } from '../../engine/protocol/state.ts'
import { API_RESULTS_MAX_BYTES, API_UNITS_MAX } from '../limits.ts'

type Summarised = Omit<ListedExecution, 'name' | 'version'>

export function showSummary(execution: ListedExecution | Execution) {
  const { name, version } = 'graph' in execution ? execution.graph : execution
  const { workflowId, status, stage, createdMs, startTimeMs, updatedMs }: Summarised = execution
  return {
    execution_id: workflowId,
    ...{ name, version, status: stage, paused: status === 'PAUSED' },
    created_at: timeOf(createdMs),
    started_at: timeOf(startTimeMs),
    updated_at: timeOf(updatedMs),
  }
}

export interface ShowOptions {
  readonly nowMs: number
  readonly checkpoints: readonly CheckpointDescription[]
}

export function showExecution(execution: Execution, options: ShowOptions) {
  const room = new Room(API_RESULTS_MAX_BYTES)
  const { input, output, reasonForIncompletion: reason, run, attempt, moves, parentId } = execution
  const description = describeExecution(execution, options)
  const values = {
    output: isWorkflowOpen(execution.status) ? undefined : room.take('output', output),
    input: room.take('input', input),
  }
  const units = description.plan_units.slice(0, API_UNITS_MAX)
  if (units.length < description.plan_units.length) room.leftOut.push('plan_units')
  const attempts = countAttempts(execution)
  return {
    ...showSummary(execution),
    ...defined({ phase: description.phase, parent_execution_id: parentId, reason, ...values }),
    ...{ run, attempt },
    stages: moves.map(({ stage, atMs }) => ({ stage, at: timeOf(atMs) })),
    plan_units: units.map(({ result, ...unit }) => {
      const { record, child } = latestRow(execution, unit.id) ?? {}
      return {
        ...unit,
        attempts: attempts.get(unit.id) ?? 0,
        ...(result === undefined
          ? {}
          : defined({ result: room.take(`plan_units.${unit.id}.result`, result) })),
        ...defined({ reason: record?.reasonForIncompletion, child_execution_id: child?.workflowId }),
      }
    }),
    checkpoints: description.checkpoints,
    metrics: description.metrics,
    ...(room.leftOut.length === 0 ? {} : { left_out: room.leftOut }),
  }
}

/** Of values in one answer. */
class Room {
  readonly leftOut: string[] = []
  #leftBytes: number

  constructor(bytes: number) {
    this.#leftBytes = bytes
  }

  /** `undefined`: it does not fit. A smaller one may still. */
  take<T extends Json>(name: string, value: T): T | undefined {
    const bytes = Buffer.byteLength(JSON.stringify(value))
    if (bytes > this.#leftBytes) {
      this.leftOut.push(name)
      return undefined
    }
    this.#leftBytes -= bytes
    return value
  }
}

function countAttempts({ rows }: Execution): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { role, record } of rows)
    if (role === 'run') counts.set(record.referenceTaskName, (counts.get(record.referenceTaskName) ?? 0) + 1)
  return counts
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}
