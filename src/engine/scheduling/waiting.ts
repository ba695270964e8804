/** An attempt that waits to be handed out, with what scheduling knows of it. */

import type { TaskId, WorkflowId } from '../../fences/attempt-snapshot.ts'
import type { GraphAnalysis } from '../graph/analysis.ts'
import { isCritical } from '../graph/critical-path.ts'
import { isTask, type Demand, type TaskUnit } from '../graph/graph.ts'
import type { AttemptRow, Execution } from '../protocol/execution.ts'
import { indexOf } from '../protocol/graph-index.ts'
import { settingsOfRow } from '../protocol/task-settings.ts'

export interface Waiting {
  readonly workflowId: WorkflowId
  readonly taskId: TaskId
  readonly taskType: string
  readonly domain: string | undefined
  readonly unit: string
  readonly dueMs: number
  /** Executions and rows in the order in which they came: decides between equals. */
  readonly arrival: readonly [execution: number, row: number]
  readonly executionPriority: number
  /** That of the execution and that of the unit. */
  readonly priority: number
  readonly risk: number
  readonly isCritical: boolean
  readonly phase: string
  readonly demand: Demand
  readonly affinity: string | undefined
  readonly target: string | undefined
  /** Of its task type; 0: none. */
  readonly concurrentExecLimit: number
  /** In progress, and put into the queue again by an operator: what it needs is in use already. */
  readonly isRunning: boolean
  /** When it would start if nothing waited for anything. */
  readonly plannedMs: number
}

export function describeWaiting(
  execution: Execution,
  row: AttemptRow,
  known: { readonly arrival: number; readonly analysis: GraphAnalysis | undefined },
): Waiting {
  const { record } = row
  const { analysis } = known
  const unit = taskOf(execution, row)
  const analysed = unit === undefined ? undefined : analysis?.units.get(row.unit)
  const { priority = 0, demand = {}, affinity } = unit?.planning ?? {}
  return {
    workflowId: execution.workflowId,
    taskId: record.taskId,
    taskType: record.taskType,
    domain: record.domain,
    unit: record.referenceTaskName,
    dueMs: row.queuedFromMs ?? 0,
    arrival: [known.arrival, record.seq],
    executionPriority: execution.priority,
    priority: execution.priority + priority,
    risk: analysed?.risk ?? 0,
    isCritical: analysis !== undefined && analysed !== undefined && isCritical(analysis, row.unit),
    phase: `${execution.workflowId}/${indexOf(execution.graph).phases.get(row.unit) ?? row.role}`,
    demand,
    affinity,
    target: unit?.target,
    concurrentExecLimit: settingsOfRow(execution, row).concurrentExecLimit,
    isRunning: record.status === 'IN_PROGRESS',
    plannedMs: execution.startTimeMs + (analysed?.earliestStartMs ?? 0),
  }
}

/** What is planned for a unit does not apply to what undoes it, which is another task. */
function taskOf({ graph }: Execution, { role, unit: name }: AttemptRow): TaskUnit | undefined {
  const unit = role === 'run' ? indexOf(graph).units.get(name) : undefined
  return unit !== undefined && isTask(unit) ? unit : undefined
}
