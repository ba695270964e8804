import { expect, test } from 'vitest'
import { showState } from './state.tsx'

test.for([
  ['COMMIT', 'completed'],
  ['ROLLBACK', 'rolling back'],
  ['FAILED_WITH_TERMINAL_ERROR', 'failed, no retry'],
  ['COMPLETED_WITH_ERRORS', 'completed with errors'],
  ['IN_PROGRESS', 'in progress'],
  ['EXECUTING', 'executing'],
] as const)('WB-90 the state %s is said as “%s”', ([state, shown]) => {
  expect(showState(state)).toBe(shown)
})
