/** When an attempt is over for good, as the task queue tells it. */

import type { TaskStatus, WorkflowStatus } from '../../fences/attempt-snapshot.ts'

/** The form of Conductor's ids: lakeFS takes it in a branch name as it is. */
export const TASK_ID_UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

const OPEN: ReadonlySet<TaskStatus> = new Set(['SCHEDULED', 'IN_PROGRESS'])

export function hasEnded(status: TaskStatus): boolean {
  return !OPEN.has(status)
}

/** Whether no attempt of the workflow passes a fence. Conductor may leave a task open in a workflow that has ended. */
export function isOverFor(workflow: WorkflowStatus | undefined): boolean {
  return workflow !== undefined && workflow !== 'RUNNING' && workflow !== 'PAUSED'
}
