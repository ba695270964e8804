/** Reads what the attempt fence judges: the task and its workflow, side by side. */

import type { AttemptSnapshot, FreshAttempt } from '../../fences/attempt-snapshot.ts'
import type { QueueCallOptions, TaskQueue } from '../ports.ts'

/** Throws when either cannot be known: what is not confirmed is not acted upon. */
export async function readFreshAttempt(
  queue: Pick<TaskQueue, 'readTask' | 'readWorkflowStatus'>,
  attempt: AttemptSnapshot,
  options: QueueCallOptions = {},
): Promise<FreshAttempt> {
  const [task, workflow] = await Promise.all([
    queue.readTask(attempt.taskId, options),
    queue.readWorkflowStatus(attempt.workflowId, options),
  ])
  return { task, workflow }
}
