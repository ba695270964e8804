/** Whether a task completes with an earlier publication of its own, where it finds one. Pure. */

import type { AttemptState } from './attempt-state.ts'

/** Whether the task completes with an earlier publication of its own. */
export function isAdopting({
  task,
  ledger,
  authority,
}: Pick<AttemptState, 'task' | 'ledger' | 'authority'>): boolean {
  return authority.kind === 'attempt' && (task.controls.onRetry ?? ledger?.onRetry) === 'adopt'
}
