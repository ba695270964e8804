/**
 * What former attempts of a task staged and did not remove: a worker that was killed had no time to, and the Python
 * worker leaves its branch where an upload, a deletion or the commit failed. Looked for only where there was a former
 * attempt, after the result was delivered, and never what is evidence.
 */

import type { AttemptSnapshot, FreshAttempt, TaskId } from '../../fences/attempt-snapshot.ts'
import { collectLeftovers } from '../../publication/clean-up.ts'
import type { VersionedRepo } from '../../publication/ports.ts'
import { readStagingName } from '../../publication/staging-name.ts'
import type { TaskRecord } from '../ports.ts'
import { hasEnded, TASK_ID_UUID } from './ended-tasks.ts'

export interface FormerStagingRequest {
  readonly repo: VersionedRepo
  readonly record: TaskRecord
  readonly readFresh: (attempt: AttemptSnapshot) => Promise<FreshAttempt>
}

/** Gives the branches that were removed. */
export async function removeFormerStaging({
  repo,
  record,
  readFresh,
}: FormerStagingRequest): Promise<readonly string[]> {
  if (record.retryCount === 0 && record.pollCount <= 1) return []
  const { workflowId, referenceTaskName } = record
  return collectLeftovers({
    repo,
    workflowId,
    referenceTaskName,
    isLeftover: async ({ branch, isEvidence }) => {
      const identity = isEvidence ? undefined : readStagingName(branch, record)
      if (identity === undefined) return false
      const taskId = identity.taskId as TaskId
      const { task } = await readFresh({ ...record, taskId })
      // A name holds an id as lakeFS takes it. Only one that was not rewritten for that is surely gone.
      return task === undefined ? TASK_ID_UUID.test(taskId) : hasEnded(task.status)
    },
  })
}
