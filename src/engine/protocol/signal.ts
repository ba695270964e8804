/** What somebody outside tells a unit that waits for it. Pure. */

import type { JsonObject } from '../../base/json.ts'
import { latestRow, type AttemptRow, type Execution, type Moment } from './execution.ts'
import { indexOf } from './graph-index.ts'
import type { Operated } from './operator.ts'
import { isTaskOpen, isWorkflowOpen } from './state.ts'
import { applyResult } from './updates.ts'

export interface Signal {
  /** The reference name of a WAIT or a HUMAN; with `__N` in an iteration. */
  readonly unit: string
  readonly status: 'COMPLETED' | 'FAILED'
  readonly output: JsonObject
  readonly reason?: string | undefined
}

/** Tasks are refused: they belong to the worker that has claimed them. */
export function signalUnit(execution: Execution, signal: Signal, moment: Moment): Operated {
  const { unit, status, output, reason } = signal
  const row = latestRow(execution, unit)
  if (row === undefined) return { is: 'refused', why: `it has not come to a unit "${unit}"` }
  if (!waitsForSomebody(execution, row))
    return { is: 'refused', why: `"${unit}" is neither a wait nor a human unit` }
  if (row.record.status === status) return { is: 'done', execution }
  if (!isTaskOpen(row.record.status) || !isWorkflowOpen(execution.status))
    return { is: 'refused', why: `"${unit}" does not wait: it is ${row.record.status}` }
  const { taskId } = row.record
  const { workflowId } = execution
  const result = { taskId, workflowId, workerId: '', status, output }
  const told = { ...result, ...(reason === undefined ? {} : { reasonForIncompletion: reason }) }
  return { is: 'done', execution: applyResult(execution, told, { isOwn: true, isOpen: true, moment }) }
}

function waitsForSomebody({ graph }: Execution, { role, unit }: AttemptRow): boolean {
  const type = indexOf(graph).units.get(unit)?.type
  return role === 'run' && (type === 'WAIT' || type === 'HUMAN')
}
