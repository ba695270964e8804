/** How many tasks wait in each queue, as Conductor tells it. */

import { SERVED_QUEUES_EXECUTIONS_MAX } from '../limits.ts'
import type { ServedQueue } from './served-queue.ts'

/** By `taskType`, or `domain:taskType`. Tasks that are delayed are counted, those that were polled are not. */
export async function countQueues({
  queue,
  control,
}: Pick<ServedQueue, 'queue' | 'control'>): Promise<Readonly<Record<string, number>>> {
  const { workflows } = await queue.readOpenWorkflows(SERVED_QUEUES_EXECUTIONS_MAX)
  const sizes = new Map<string, number>()
  for (const { workflowId } of workflows) {
    const view = await control.readWorkflow(workflowId)
    for (const { status, taskType, domain } of view?.tasks ?? []) {
      if (status !== 'SCHEDULED') continue
      const name = domain === undefined ? taskType : `${domain}:${taskType}`
      sizes.set(name, (sizes.get(name) ?? 0) + 1)
    }
  }
  return Object.fromEntries(sizes)
}
