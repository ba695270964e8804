/** What the logs of the tasks of a workflow tell, publications and steps: each log of an ended task is read once, however often somebody looks. */

import { BoundedMap } from '../../base/bounded-map.ts'
import type { Clock } from '../../base/clock.ts'
import { forEachBounded } from '../../base/for-each-bounded.ts'
import type { WorkflowTaskReading } from '../../conductor/workflows.ts'
import type { TaskId } from '../../worker/ports.ts'
import { TASK_LOGS_READ_AT_ONCE, TASK_LOGS_READ_MAX, TASK_PUBLICATIONS_REMEMBERED } from '../limits.ts'
import { codeOf, hasWorkspace, readTaskStory, type TaskStory } from './task-publication.ts'

type ReadLines = (taskId: TaskId, signal: AbortSignal | undefined) => Promise<readonly string[]>

export function openTaskStories(readLines: ReadLines, clock: Clock) {
  const known = new BoundedMap<string, TaskStory>({
    max: TASK_PUBLICATIONS_REMEMBERED,
    evict: 'least-recently-used',
  })
  return async (
    tasks: readonly WorkflowTaskReading[],
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<TaskId, TaskStory>> => {
    const told = new Map<TaskId, TaskStory>()
    const unread: WorkflowTaskReading[] = []
    for (const task of tasks.filter(isTold)) {
      told.set(task.taskId, known.get(keyOf(task)) ?? readTaskStory(task, []))
      if (isOver(task) && !known.has(keyOf(task))) unread.push(task)
    }
    const newest = unread.slice(-TASK_LOGS_READ_MAX)
    await forEachBounded(newest, { limit: TASK_LOGS_READ_AT_ONCE }, async (task) => {
      const found = readTaskStory(task, await readLines(task.taskId, signal))
      told.set(task.taskId, found)
      // A log may show late.
      const isLate = clock.now().getTime() - endOf(task) > LOG_SHOWN_WITHIN_MS
      if (isLate || found.steps !== undefined) known.set(keyOf(task), found)
    })
    return told
  }
}

const LOG_SHOWN_WITHIN_MS = 60_000

/** By its worker, in its log. */
function isTold(task: WorkflowTaskReading): boolean {
  return (
    hasWorkspace(task) || (task.status !== 'COMPLETED' && codeOf(task.reasonForIncompletion) !== undefined)
  )
}

/** A task that is run again keeps its id. */
function keyOf({ taskId, status, updateTimeMs }: WorkflowTaskReading): string {
  return `${taskId} ${status} ${updateTimeMs}`
}

function isOver({ status }: WorkflowTaskReading): boolean {
  return status !== 'SCHEDULED' && status !== 'IN_PROGRESS'
}

/** When it ended; 0 while it has not. */
export function endOf(task: WorkflowTaskReading): number {
  return isOver(task) ? task.endTimeMs || task.updateTimeMs : 0
}
