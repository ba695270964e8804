/** What `perago run` and `perago show` print of a workflow: one line for each task, with its latest attempt. */

import { oneLine, shortened } from '../base/one-line.ts'
import type { Workflow, WorkflowTask } from '../runtime/workflows.ts'
import { renderTable } from './answers.ts'

const REASON_SHOWN_CHARS = 120

const SIGNS: Readonly<Record<WorkflowTask['status'], string>> = {
  SCHEDULED: '·',
  IN_PROGRESS: '▸',
  COMPLETED: '✓',
  COMPLETED_WITH_ERRORS: '!',
  FAILED: '✗',
  FAILED_WITH_TERMINAL_ERROR: '✗',
  CANCELED: '–',
  TIMED_OUT: '✗',
  SKIPPED: '–',
}

/** The latest attempt at each task, in the order in which the tasks were scheduled first. */
export function latestAttempts({ tasks }: Pick<Workflow, 'tasks'>): readonly WorkflowTask[] {
  const latest = new Map<string, WorkflowTask>()
  for (const task of tasks) latest.set(task.referenceTaskName, task)
  return [...latest.values()]
}

export function renderProgress(workflow: Workflow, nowMs: number): string {
  return renderTable(
    latestAttempts(workflow).map((task) => [
      `  ${SIGNS[task.status]} ${task.referenceTaskName}`,
      task.status.toLowerCase().replaceAll('_', ' '),
      durationOf(task, nowMs),
      task.retryCount === 0 ? '' : `attempt ${task.retryCount + 1}`,
      shortened(oneLine(task.reasonForIncompletion ?? ''), REASON_SHOWN_CHARS),
    ]),
  )
}

/** What is printed for programs whenever a task has changed. */
export function describeTask(task: WorkflowTask) {
  const { referenceTaskName, taskId, status, retryCount, reasonForIncompletion } = task
  return {
    task: referenceTaskName,
    task_id: taskId,
    status,
    attempt: retryCount + 1,
    ...(reasonForIncompletion === undefined ? {} : { reason: reasonForIncompletion }),
  }
}

function durationOf({ startTimeMs, updateTimeMs, status }: WorkflowTask, nowMs: number): string {
  if (startTimeMs === 0) return ''
  const endMs = status === 'IN_PROGRESS' ? nowMs : updateTimeMs
  return `${(Math.max(0, endMs - startTimeMs) / 1_000).toFixed(1)} s`
}
