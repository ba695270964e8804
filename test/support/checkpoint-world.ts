// Executions in small steps, by the rules alone: a graph is started, units end one by one, with commits of branches.
import { createHash } from 'node:crypto'
import type { CommitRef } from '../../src/base/ids.ts'
import type { JsonObject } from '../../src/base/json.ts'
import type { ExecutionScope } from '../../src/core/keys.ts'
import { executionId } from '../../src/core/keys.ts'
import { walkUnits, type Graph, type TaskUnit } from '../../src/engine/graph/graph.ts'
import { decide } from '../../src/engine/protocol/decide.ts'
import { wholeTaskDef } from '../../src/engine/protocol/definitions.ts'
import {
  latestRow,
  PLAIN_MOMENT,
  startExecution,
  type AttemptRow,
  type Execution,
  type Moment,
} from '../../src/engine/protocol/execution.ts'
import { applyResult, claimTask } from '../../src/engine/protocol/updates.ts'
import type { TaskId, WorkflowId } from '../../src/fences/attempt-snapshot.ts'
import type { ResultStatus } from '../../src/worker/ports.ts'

export const SCOPE: ExecutionScope = { execution: executionId('exec_Checkpoints-1') }

export function unitOf(
  taskReferenceName: string,
  after: readonly string[] = [],
  more: Partial<TaskUnit> = {},
): TaskUnit {
  return { type: 'SIMPLE', name: 'work', taskReferenceName, after, inputParameters: {}, ...more }
}

/** Each unit after the one before it. */
export function chainOf(...names: readonly string[]): readonly TaskUnit[] {
  return names.map((name, index) => unitOf(name, names.slice(index - 1 < 0 ? 0 : index - 1, index)))
}

/** 64 digits that no other label has. */
export function commitOf(label: string): CommitRef {
  return createHash('sha256').update(label).digest('hex') as CommitRef
}

export function workspaceAt(ref: string, branch = 'main', repository = 'lake'): JsonObject {
  return { repository, branch, refType: 'commit', ref }
}

export class ExecutionWorld {
  execution: Execution
  nowMs = Date.parse('2026-01-01T00:00:00Z')
  #ids = 0

  constructor(units: Graph['units'], input: JsonObject = {}) {
    const graph: Graph = {
      ...{ name: 'etl', version: 1, units, inputTemplate: {}, outputParameters: undefined },
      ...{ restartable: true, timeoutSeconds: 0, timeoutPolicy: 'ALERT_ONLY' as const },
    }
    const names = new Set(walkUnits(units).flatMap((unit) => (unit.type === 'SIMPLE' ? [unit.name] : [])))
    const taskDefs = [...names].map((name) => wholeTaskDef({ name, retryCount: 0 }))
    const workflowId = SCOPE.execution as string as WorkflowId
    const start = { workflowId, graph, input, startTimeMs: this.nowMs, taskDefs }
    this.execution = decide(startExecution({ name: 'etl' }, start), this.moment())
  }

  moment(): Moment {
    return {
      ...PLAIN_MOMENT,
      nowMs: this.nowMs,
      nextTaskId: () => `task-${(this.#ids += 1)}` as TaskId,
      chooseDomain: () => undefined,
    }
  }

  row(reference: string): AttemptRow {
    const row = latestRow(this.execution, reference)
    if (row === undefined) throw new Error(`"${reference}" is not scheduled`)
    return row
  }

  claim(reference: string): AttemptRow {
    const claim = { workerId: `worker-of-${reference}`, nowMs: this.nowMs }
    this.execution = claimTask(this.execution, this.row(reference), claim)
    return this.row(reference)
  }

  end(reference: string, output: JsonObject = {}, status: ResultStatus = 'COMPLETED'): void {
    const { taskId, workflowId, workerId } = this.claim(reference).record
    const result = { taskId, workflowId, workerId, status, output }
    this.execution = applyResult(this.execution, result, { isOwn: true, isOpen: true, moment: this.moment() })
  }

  /** What is open now, by reference. */
  get open(): readonly string[] {
    return this.execution.rows
      .filter(({ record }) => record.status === 'SCHEDULED' || record.status === 'IN_PROGRESS')
      .map(({ record }) => record.referenceTaskName)
  }
}
