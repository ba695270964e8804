/**
 * What a staged commit and a published one say of where they come from. For people and for finding one's own commit
 * after a lost answer; the fences never decide by it.
 */

import type { CommitRef } from '../base/ids.ts'
import type { AttemptSnapshot } from '../fences/attempt-snapshot.ts'
import type { Metadata } from './ports.ts'

/** Every key, with what it says. */
export const METADATA_KEYS = {
  'publish.run': 'the execution that made the commit; unique',
  'publish.input': 'the input ref',
  'publish.workflow': 'the workflow instance id',
  'publish.task': 'the reference name of the task in its workflow',
  'publish.iteration': 'the iteration, for a task inside a loop; otherwise 0',
  'publish.task_id': 'the id of the task',
  'publish.attempt': 'the retry count of the attempt',
  'publish.worker': 'the worker id of the claim',
  'publish.code_version': 'the version of the task code, where one is known',
  'publish.evidence':
    'only on the last commit of a kept staging branch: why the publication was refused, as JSON',
} as const
export type MetadataKey = keyof typeof METADATA_KEYS

/** What is known of a task beside its attempt. */
export interface TaskIdentity {
  readonly referenceTaskName: string
  readonly seq: number
  readonly iteration: number
  /** Unique for each execution of an attempt; names the staging branch and marks the commits. */
  readonly executionId: string
  readonly codeVersion?: string | undefined
}

export function describeCommit(from: {
  readonly attempt: AttemptSnapshot
  readonly task: TaskIdentity
  readonly inputRef: CommitRef
}): Metadata {
  const { attempt, task, inputRef } = from
  const metadata = {
    'publish.run': task.executionId,
    'publish.input': inputRef,
    'publish.workflow': attempt.workflowId,
    'publish.task': task.referenceTaskName,
    'publish.iteration': String(task.iteration),
    'publish.task_id': attempt.taskId,
    'publish.attempt': String(attempt.retryCount),
    'publish.worker': attempt.workerId,
  } satisfies Partial<Record<MetadataKey, string>>
  return task.codeVersion === undefined ? metadata : { ...metadata, 'publish.code_version': task.codeVersion }
}

/** True when the commit was made by this very execution. */
export function isMadeBy(metadata: Metadata, executionId: string): boolean {
  return metadata['publish.run' satisfies MetadataKey] === executionId
}

/** True when some attempt of the same task of the same workflow made the commit, at the same turn of its loop. */
export function isMadeForTask(
  metadata: Metadata,
  of: { readonly attempt: AttemptSnapshot; readonly task: TaskIdentity },
): boolean {
  const wanted = {
    'publish.workflow': of.attempt.workflowId,
    'publish.task': of.task.referenceTaskName,
    'publish.iteration': String(of.task.iteration),
  } satisfies Partial<Record<MetadataKey, string>>
  return Object.entries(wanted).every(([key, value]) => metadata[key] === value)
}
