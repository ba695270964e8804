/**
 * Reports attempts whose branch another workflow may write at the same time; only one active workflow should. It runs beside
 * the attempt, which continues: the publish fence and the evidence tags keep work from being lost.
 */

import { isAborted } from '../../base/abort-signals.ts'
import type { Clock } from '../../base/clock.ts'
import { BRANCH_WATCH_INTERVAL_MS, BRANCH_WATCH_WORKFLOWS_MAX } from '../limits.ts'
import type { Logger } from '../../base/logger.ts'
import type { WorkerObserver } from '../events.ts'
import type { OpenWorkflow, TaskQueue, TaskRecord } from '../ports.ts'
import { findOtherWriters } from './second-writers.ts'
import { shareReadings } from './share-readings.ts'
import type { AttemptInfo, TaskDefinition } from '../../tasks/task-definition.ts'
import { readTaskInput, type WorkspaceRef } from '../attempt/task-input.ts'

export interface BranchWatch {
  /** Returns at once and never throws. */
  look(attempt: WatchedAttempt): void
  /** Resolves when no search is running; none starts afterwards. */
  close(): Promise<void>
}

export interface WatchedAttempt {
  readonly record: TaskRecord
  readonly task: TaskDefinition
  readonly info: AttemptInfo
  readonly logger: Logger
}

export function openBranchWatch(options: {
  readonly queue: Pick<TaskQueue, 'readOpenWorkflows' | 'appendLog'>
  /** All tasks of this worker. */
  readonly tasks: readonly TaskDefinition[]
  readonly clock: Clock
  readonly observe: WorkerObserver
}): BranchWatch {
  const { queue, clock, observe } = options
  const tasks = new Map(options.tasks.map((task) => [task.name, task]))
  const closed = new AbortController()
  const { signal } = closed
  const looks = new Set<Promise<void>>()
  const readOpen = shareReadings(() => queue.readOpenWorkflows(BRANCH_WATCH_WORKFLOWS_MAX, { signal }), {
    clock,
    intervalMs: BRANCH_WATCH_INTERVAL_MS,
    signal,
  })

  const report = async (
    { record, info, logger }: WatchedAttempt,
    at: WorkspaceRef,
    others: readonly OpenWorkflow[],
  ): Promise<void> => {
    const { repository, branch } = at
    const workflows = others.map(({ workflowId }) => workflowId)
    logger.warn('another workflow that has not ended may write the same branch', {
      repository,
      branch,
      workflows,
    })
    observe({ kind: 'branch-shared', attempt: info, repository, branch, workflows })
    await queue.appendLog(record.taskId, describe(at, others), { signal })
  }
  const look = async (watched: WatchedAttempt): Promise<void> => {
    const { record, logger } = watched
    try {
      const at = readTaskInput(record.input, { workspace: true }).workspace
      if (at === undefined) return
      const { workflows: open, isWhole } = await readOpen()
      if (!isWhole)
        logger.debug('more workflows are open than are searched for a second writer', {
          seen: open.length,
        })
      // The list may be some seconds newer than the attempt, which may have ended meanwhile. A workflow that started later is
      // reported by its own attempts, if this one is still open then.
      const before = open.filter(({ startTimeMs }) => startTimeMs <= record.startTimeMs)
      const others = findOtherWriters({ open: before, own: record.workflowId, targets: [at], tasks })
      if (others.length > 0) await report(watched, at, others)
    } catch (error) {
      // The attempt itself reports an input that cannot be read, or a queue that does not answer.
      if (!isAborted(signal)) logger.debug('could not search for a second writer of the branch', { error })
    }
  }

  return {
    look(watched) {
      const { workspace } = watched.task
      if (signal.aborted || workspace === undefined || workspace.readOnly === true) return
      const looking = look(watched).finally(() => looks.delete(looking))
      looks.add(looking)
    },
    async close() {
      closed.abort()
      await Promise.all(looks)
    },
  }
}

function describe({ repository, branch }: WorkspaceRef, others: readonly OpenWorkflow[]): string {
  const named = others.map(
    ({ name, workflowId, startTimeMs }) =>
      `${name} ${workflowId}, started ${new Date(startTimeMs).toISOString()}`,
  )
  return (
    `warn: branch "${branch}" of "${repository}" may be written by another workflow that has not ended: ` +
    `${named.join('; ')}. Only one should: of two publications from one input the later replaces the earlier.`
  )
}
