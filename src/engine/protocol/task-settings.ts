/** What applies to an attempt at a task: its definition as taken at the start, with what the unit overrides. */

import { walkUnits, type Graph, type TaskUnit } from '../graph/graph.ts'
import { wholeTaskDef, type WholeTaskDef } from './definitions.ts'
import type { AttemptRow, Execution } from './execution.ts'
import { indexOf } from './graph-index.ts'

/** Every task type that an execution of this graph may schedule, each once. A start takes their definitions. */
export function taskTypesOf(graph: Graph): readonly string[] {
  const units = walkUnits(graph.units).flatMap((unit) => [
    ...(unit.type === 'SIMPLE' ? [unit.name] : []),
    ...(unit.undo === undefined ? [] : [unit.undo.name]),
  ])
  const verify = graph.policy?.verify
  return [...new Set([...units, ...(verify !== undefined && 'name' in verify ? [verify.name] : [])])]
}

export function settingsOfRow(
  execution: Pick<Execution, 'graph' | 'taskDefs'>,
  row: AttemptRow,
): WholeTaskDef {
  return settingsOf(execution, { unit: row.unit, role: row.role, taskType: row.record.taskType })
}

export function settingsOf(
  { graph, taskDefs }: Pick<Execution, 'graph' | 'taskDefs'>,
  of: Pick<AttemptRow, 'unit' | 'role'> & { readonly taskType: string },
): WholeTaskDef {
  const def = taskDefs[of.taskType] ?? wholeTaskDef({ name: of.taskType })
  const unit = of.role === 'run' ? indexOf(graph).units.get(of.unit) : undefined
  return unit?.type === 'SIMPLE' ? overridden(def, unit) : def
}

const merged = new WeakMap<TaskUnit, { readonly def: WholeTaskDef; readonly whole: WholeTaskDef }>()

function overridden(def: WholeTaskDef, unit: TaskUnit): WholeTaskDef {
  const known = merged.get(unit)
  if (known?.def === def) return known.whole
  const timeoutSeconds = unit.timeoutSeconds ?? def.timeoutSeconds
  const responseTimeoutSeconds = unit.responseTimeoutSeconds ?? def.responseTimeoutSeconds
  const whole: WholeTaskDef = {
    ...def,
    retryCount: unit.retryCount ?? def.retryCount,
    retryLogic: unit.retryLogic ?? def.retryLogic,
    retryDelaySeconds: unit.retryDelaySeconds ?? def.retryDelaySeconds,
    maxRetryDelaySeconds: unit.maxRetryDelaySeconds ?? longestDelay(def, unit),
    backoffJitterMs: unit.backoffJitterMs ?? def.backoffJitterMs,
    timeoutSeconds,
    responseTimeoutSeconds:
      timeoutSeconds > 0 ? Math.min(responseTimeoutSeconds, timeoutSeconds) : responseTimeoutSeconds,
  }
  merged.set(unit, { def, whole })
  return whole
}

/** The limit of the task does not shorten the delay that the unit itself asks for. */
function longestDelay(def: WholeTaskDef, { retryDelaySeconds = 0 }: TaskUnit): number {
  return def.maxRetryDelaySeconds === 0 ? 0 : Math.max(def.maxRetryDelaySeconds, retryDelaySeconds)
}
