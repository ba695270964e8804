/**
 * What a staged commit and a published one say of where they come from. For people and for finding one's own commit
 * after a lost response; the fences never decide by it.
 */

import type { CommitRef } from '../base/ids.ts'
import type { Authority } from './authority.ts'
import type { Metadata } from './ports.ts'

/** Every key, with what it says. */
export const METADATA_KEYS = {
  'publish.run': 'the execution that made the commit; unique',
  'publish.input': 'the input ref',
  'publish.workflow': 'the workflow instance id',
  'publish.task': 'the reference name of the task in its workflow; without an attempt, what was published',
  'publish.iteration': 'the iteration, for a task inside a loop; otherwise 0',
  'publish.task_id': 'the id of the task',
  'publish.attempt': 'the retry count of the attempt',
  'publish.worker': 'the worker id of the claim',
  'publish.actor': 'only without an attempt: who asked for the publication',
  'publish.code_version': 'the version of the task code, where one is known',
  'publish.evidence':
    'only on the last commit of a kept staging branch: why the publication was refused, as JSON',
} as const
export type MetadataKey = keyof typeof METADATA_KEYS

export function describeCommit(authority: Authority, inputRef: CommitRef): Metadata {
  const { executionId, codeVersion } = authority
  const metadata = {
    'publish.run': executionId,
    'publish.input': inputRef,
    ...(authority.kind === 'actor'
      ? { 'publish.task': authority.subject, 'publish.actor': authority.actor }
      : {
          'publish.workflow': authority.attempt.workflowId,
          'publish.task': authority.referenceTaskName,
          'publish.iteration': String(authority.iteration),
          'publish.task_id': authority.attempt.taskId,
          'publish.attempt': String(authority.attempt.retryCount),
          'publish.worker': authority.attempt.workerId,
        }),
    ...(codeVersion === undefined ? {} : { 'publish.code_version': codeVersion }),
  }
  return metadata satisfies Partial<Record<MetadataKey, string>>
}

/** True when the commit was made by this very execution. */
export function isMadeBy(metadata: Metadata, executionId: string): boolean {
  return metadata['publish.run' satisfies MetadataKey] === executionId
}

/**
 * True when the authority may call the commit its own: some attempt of the same task of the same workflow made it, in the
 * same iteration; without an attempt, this very execution did.
 */
export function isOwn(metadata: Metadata, authority: Authority): boolean {
  if (authority.kind === 'actor') return isMadeBy(metadata, authority.executionId)
  const expected = {
    'publish.workflow': authority.attempt.workflowId,
    'publish.task': authority.referenceTaskName,
    'publish.iteration': String(authority.iteration),
  } satisfies Partial<Record<MetadataKey, string>>
  return Object.entries(expected).every(([key, value]) => metadata[key] === value)
}
