/**
 * What a staged commit and a published one say of where they come from. For people and for finding one's own commit
 * after a lost response; the fences never decide by it.
 */

import type { CommitRef } from '../base/ids.ts'
import type { ActorAuthority, Authority } from './authority.ts'
import type { CommitRecord, Metadata } from './ports.ts'

/** Every key, with what it says. */
export const METADATA_KEYS = {
  'publish.run': 'the execution that made the commit; unique',
  'publish.input': 'the input ref',
  'publish.workflow': 'the workflow instance id',
  'publish.task': 'the reference name of the task in its workflow; without an attempt, what was published',
  'publish.task_name': 'the name of the task definition',
  'publish.workflow_name': 'the name of the workflow definition',
  'publish.iteration': 'the iteration, for a task inside a loop; otherwise 0',
  'publish.task_id': 'the id of the task',
  'publish.attempt': 'the retry count of the attempt',
  'publish.worker': 'the worker id of the claim',
  'publish.actor': 'only without an attempt: who asked for the publication',
  'publish.code_version': 'the version of the task code, where one is known',
  'publish.repository': 'the repository of the branch',
  'publish.branch': 'the branch that was published to',
  'publish.ledger': 'the version of this schema; without it the commit has no ledger',
  'publish.result': 'the result of the run as JSON, where it is small',
  'publish.result_ref': 'where it is larger: the commit, held by no branch, whose metadata has the result',
  'publish.result_sha256': 'with it, the checksum of that result',
  'publish.result_left_out': 'why no result is recorded: `not-given`, `too-large`, `secret` or `no-place`',
  'publish.checksum': 'SHA-256 over the fields of the ledger',
  'publish.signature': 'where keys are configured: the id of a key, and the signature made with it',
  'publish.expected_head': 'only where the hard fence held: the head that lakeFS compared',
  'publish.claim': 'only on a claim: the commit to which the branch moves next',
  'publish.replaces': 'only on a forward replacement: the commit whose place it takes',
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
      ? {
          'publish.task': authority.subject,
          'publish.actor': authority.actor,
          ...(authority.workflowId !== undefined && { 'publish.workflow': authority.workflowId }),
        }
      : {
          'publish.workflow': authority.attempt.workflowId,
          'publish.task': authority.referenceTaskName,
          'publish.iteration': String(authority.iteration),
          'publish.task_id': authority.attempt.taskId,
          'publish.attempt': String(authority.attempt.retryCount),
          'publish.worker': authority.attempt.workerId,
          ...(authority.taskName !== undefined && { 'publish.task_name': authority.taskName }),
          ...(authority.workflowName !== undefined && { 'publish.workflow_name': authority.workflowName }),
        }),
    ...(codeVersion === undefined ? {} : { 'publish.code_version': codeVersion }),
  }
  return metadata satisfies Partial<Record<MetadataKey, string>>
}

/** True when the commit was made by this very execution. */
export function isMadeBy(metadata: Metadata, executionId: string): boolean {
  return metadata['publish.run' satisfies MetadataKey] === executionId
}

/** What an attempt or an actor of one of these executions published. */
export function isOfExecution(metadata: Metadata, workflowIds: readonly string[]): boolean {
  const workflowId = metadata['publish.workflow' satisfies MetadataKey]
  return workflowId !== undefined && workflowIds.includes(workflowId)
}

/** Published by one of these attempts. */
export function isOfAttempt(metadata: Metadata, taskIds: readonly string[]): boolean {
  const taskId = metadata['publish.task_id' satisfies MetadataKey]
  return taskId !== undefined && taskIds.includes(taskId)
}

/** A commit that does the same as another one of this actor for this subject on this input would. */
export function isSameAct(metadata: Metadata, actor: ActorAuthority, inputRef: CommitRef): boolean {
  const { 'publish.run': run, ...expected } = describeCommit(actor, inputRef)
  return run !== '' && Object.entries(expected).every(([key, value]) => metadata[key] === value)
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

/** Whether a commit above the input may leave the branch for another one. */
export function mayReplace(head: Pick<CommitRecord, 'metadata'> | undefined, authority: Authority): boolean {
  if (authority.kind === 'attempt' && authority.replace !== 'own') return true
  return head !== undefined && isOwn(head.metadata, authority)
}
