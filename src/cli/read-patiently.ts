/** Reads a workflow again and again, from a server that may be away for a while. */

import { systemClock, type Clock } from '../base/clock.ts'
import { errorKindOf, isPeragoError, messageOf } from '../base/errors.ts'
import { WORKFLOW_OUTAGE_MAX_MS } from './limits.ts'
import type { WorkflowTree } from './workflow-tree.ts'

/** `undefined` while the server is away, once it has answered; that is told when it begins and when it is over. */
export function readPatiently(
  read: () => Promise<WorkflowTree>,
  tell: (what: string) => void,
  clock: Clock = systemClock,
): () => Promise<WorkflowTree | undefined> {
  let hasAnswered = false
  let awaySinceMs: number | undefined
  return async () => {
    try {
      const tree = await read()
      if (awaySinceMs !== undefined) tell('the server answers again')
      awaySinceMs = undefined
      hasAnswered = true
      return tree
    } catch (error) {
      if (!hasAnswered || !isOutage(error)) throw error
      if (awaySinceMs === undefined) tell(`waiting for the server: ${messageOf(error)}`)
      awaySinceMs ??= clock.monotonicMs()
      if (clock.monotonicMs() - awaySinceMs > WORKFLOW_OUTAGE_MAX_MS) throw error
      return undefined
    }
  }
}

/** What stands in front of a server that is away may answer in its place. */
function isOutage(error: unknown): boolean {
  return (
    errorKindOf(error) === 'unavailable' || (isPeragoError(error) && error.code === 'conductor/not-conductor')
  )
}
