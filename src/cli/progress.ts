/** What the commands about workflows print of one: a line for each task, with its latest attempt, and below it those of its child. */

import { oneLine, shortened } from '../base/one-line.ts'
import type { Workflow, WorkflowTask } from '../runtime/workflows.ts'
import { renderTable } from './answers.ts'
import { latestAttempts, type WorkflowTree } from './workflow-tree.ts'

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

export function renderProgress(tree: WorkflowTree, nowMs: number): string {
  return renderTable(rowsOf(tree, 1, nowMs, false))
}

/** With the attempts before the latest. */
export function renderAttempts(tree: WorkflowTree, nowMs: number): string {
  return renderTable(rowsOf(tree, 1, nowMs, true))
}

/** `orders.daily failed: why`. */
export function renderHeading({ name, status, reasonForIncompletion: reason }: Workflow): string {
  return `${name} ${status.toLowerCase().replaceAll('_', ' ')}${reason === undefined ? '' : `: ${oneLine(reason)}`}`
}

function rowsOf(
  { workflow, children }: WorkflowTree,
  depth: number,
  nowMs: number,
  withEarlier: boolean,
): readonly (readonly string[])[] {
  const indent = '  '.repeat(depth)
  return latestAttempts(workflow).flatMap((task) => {
    const { referenceTaskName, taskId } = task
    const child = children.get(taskId)
    const earlier = workflow.tasks.filter(
      (each) => each.referenceTaskName === referenceTaskName && each.taskId !== taskId,
    )
    return [
      rowOf(task, `${indent}${SIGNS[task.status]} ${referenceTaskName}`, nowMs),
      ...(withEarlier ? earlier.map((each) => rowOf(each, `${indent}    before`, nowMs)) : []),
      ...(child === undefined ? [] : rowsOf(child, depth + 1, nowMs, withEarlier)),
    ]
  })
}

function rowOf(task: WorkflowTask, name: string, nowMs: number): readonly string[] {
  const { status, retryCount, reasonForIncompletion } = task
  return [
    name,
    status.toLowerCase().replaceAll('_', ' '),
    durationOf(task, nowMs),
    retryCount === 0 ? '' : `attempt ${retryCount + 1}`,
    shortened(oneLine(reasonForIncompletion ?? ''), REASON_SHOWN_CHARS),
  ]
}

/** What is printed for programs whenever a task has changed. */
export function describeTask(task: WorkflowTask) {
  const { referenceTaskName, taskId, workflowId, status, retryCount, reasonForIncompletion } = task
  return {
    ...{ workflow_id: workflowId, task: referenceTaskName, task_id: taskId, status },
    attempt: retryCount + 1,
    ...(reasonForIncompletion === undefined ? {} : { reason: reasonForIncompletion }),
  }
}

/** All that is known of an attempt at a task, for programs. */
export function describeAttempt(task: WorkflowTask) {
  const { taskType, workerId, childId, scheduledTimeMs, startTimeMs, updateTimeMs } = task
  return {
    ...describeTask(task),
    type: taskType,
    ...timeAs('scheduled_at', scheduledTimeMs),
    ...timeAs('started_at', startTimeMs),
    ...timeAs('updated_at', updateTimeMs),
    ...(workerId === '' ? {} : { worker_id: workerId }),
    ...(childId === undefined ? {} : { child_id: childId }),
  }
}

/** Nothing of a time that is not known. */
export function timeAs<Name extends string>(name: Name, ms: number): Partial<Record<Name, string>> {
  if (ms <= 0) return {}
  const named: Partial<Record<string, string>> = { [name]: new Date(ms).toISOString() }
  return named
}

function durationOf({ startTimeMs, updateTimeMs, status }: WorkflowTask, nowMs: number): string {
  if (startTimeMs === 0) return ''
  const endMs = status === 'IN_PROGRESS' ? nowMs : updateTimeMs
  return renderSeconds(endMs - startTimeMs)
}

export function renderSeconds(ms: number): string {
  return `${(Math.max(0, ms) / 1_000).toFixed(1)} s`
}
