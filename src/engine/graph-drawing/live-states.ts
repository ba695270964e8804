/** The states of an execution's units, for its drawing. Pure. */

import { describeExecution } from '../protocol/describe-execution.ts'
import type { Execution } from '../protocol/execution.ts'
import { indexOf } from '../protocol/graph-index.ts'
import type { UnitStates } from './svg.ts'

/** A unit inside a loop has the state of its last iteration that has begun. */
export function statesOf(execution: Execution): UnitStates {
  const { units } = indexOf(execution.graph)
  const states: Record<string, UnitStates[string]> = {}
  for (const { id, status } of describeExecution(execution, { nowMs: execution.updatedMs }).plan_units) {
    const unit = units.has(id) ? id : id.replace(/(?:__\d+)+$/, '')
    if (units.has(unit)) states[unit] = status
  }
  return states
}
