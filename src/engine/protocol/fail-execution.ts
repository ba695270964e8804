/** An execution that cannot go on, whatever its units do. Pure. */

import { decide } from './decide.ts'
import { findRow, type Execution, type Moment } from './execution.ts'
import { isTaskOpen, isWorkflowOpen } from './state.ts'
import { Step } from './step.ts'

/**
 * A step could not be stored, and never will be: the execution fails in order, as by a unit that fails for good. The attempts that the
 * step would have ended are shown as the failed ones.
 */
export function failExecution(
  execution: Execution,
  failed: { readonly refused: Execution; readonly reason: string },
  moment: Moment,
): Execution {
  if (!isWorkflowOpen(execution.status)) return execution
  const { refused, reason } = failed
  // A paused one would not be decided.
  const step = new Step({ ...execution, status: 'RUNNING' }, moment)
  for (const row of step.rows) {
    if (!isTaskOpen(row.record.status)) continue
    const after = findRow(refused, row.record.taskId)
    if (after === undefined || isTaskOpen(after.record.status)) continue
    step.end(row, { status: 'FAILED_WITH_TERMINAL_ERROR', reasonForIncompletion: reason, output: {} })
  }
  step.set({ ending: { status: 'FAILED', reason, output: {} } })
  if (step.stage === 'ROLLBACK') {
    step.cancelOpen()
    step.move('FAILED')
    step.set({ status: 'FAILED', reasonForIncompletion: reason })
    return step.finish()
  }
  return decide(step.finish(), moment)
}
