/**
 * Names of staging branches. Those of attempts are the same byte for byte as those of the Python workers, so that either
 * side recognises and removes what the other has left behind.
 */

import { InvalidError } from '../base/errors.ts'
import { branchName, type BranchName } from '../base/ids.ts'
import type { Authority } from './authority.ts'
import { STAGING_NAME_MAX_CHARS } from './limits.ts'

export interface StagingIdentity {
  readonly workflowId: string
  readonly referenceTaskName: string
  readonly seq: number
  readonly iteration: number
  readonly taskId: string
  readonly retryCount: number
  /** Unique for each execution of an attempt, so that no two executions ever share a branch. */
  readonly executionId: string
}

export function stagingBranchOf(authority: Authority): BranchName {
  if (authority.kind === 'attempt') return stagingBranchName({ ...authority.attempt, ...authority })
  // Python workers look only for names that begin with "perago-staging-", so neither side takes this for its own.
  const { actor, subject, executionId } = authority
  return checkedName(`perago-actor-${toSegment(actor)}-${toSegment(subject)}-exec-${toSegment(executionId)}`)
}

/**
 * ```ts
 * stagingBranchName({ workflowId: 'w1', referenceTaskName: 'load', seq: 1, iteration: 0, taskId: 't1', retryCount: 0, executionId: 'e1' })
 * // perago-staging-w1-load-seq-1-iteration-0-task-id-t1-retry-0-exec-e1
 * ```
 */
export function stagingBranchName(identity: StagingIdentity): BranchName {
  const { seq, iteration, taskId, retryCount, executionId } = identity
  return checkedName(
    `${stagingPrefix(identity)}${toSegment(seq)}-iteration-${toSegment(iteration)}` +
      `-task-id-${toSegment(taskId)}-retry-${toSegment(retryCount)}-exec-${toSegment(executionId)}`,
  )
}

/** Which attempt made a staging branch of this task, or `undefined` for any other branch. */
export function readStagingName(
  branch: string,
  of: { readonly workflowId: string; readonly referenceTaskName: string },
): { readonly taskId: string; readonly retryCount: number } | undefined {
  const prefix = stagingPrefix(of)
  if (!branch.startsWith(prefix)) return undefined
  const [, taskId, retryCount] =
    /^\d+-iteration-\d+-task-id-(.+)-retry-(\d+)-exec-.+$/.exec(branch.slice(prefix.length)) ?? []
  if (taskId === undefined || retryCount === undefined) return undefined
  return { taskId, retryCount: Number(retryCount) }
}

/** What the names of all attempts' staging branches begin with, and those of actors. */
export const STAGING_PREFIXES = ['perago-staging-', 'perago-actor-'] as const

/** The task of any attempt's staging branch, as its name has it; `undefined` if the name can be read in two ways. */
export function readTaskIdOf(branch: string): string | undefined {
  const parts = branch.split(/-seq-\d+-iteration-\d+-task-id-/)
  const [taskId, ...others] = (parts[1] ?? '').split(/-retry-\d+-exec-/)
  return parts.length === 2 && others.length === 1 && taskId !== '' ? taskId : undefined
}

/** Whether this execution made the staging branch. */
export function isStagingOf(branch: string, executionId: string): boolean {
  return branch.endsWith(`-exec-${toSegment(executionId)}`)
}

/** What the names of a workflow's staging branches begin with, or of one of its tasks. */
export function stagingPrefix(of: {
  readonly workflowId: string
  readonly referenceTaskName?: string
}): string {
  const workflow = `perago-staging-${toSegment(of.workflowId)}-`
  return of.referenceTaskName === undefined ? workflow : `${workflow}${toSegment(of.referenceTaskName)}-seq-`
}

function checkedName(name: string): BranchName {
  if (name.length <= STAGING_NAME_MAX_CHARS) return branchName(name)
  throw new InvalidError(
    'publication/staging-name-too-long',
    `name the staging branch ${name.slice(0, 80)}…: ${name.length} characters, at most ${STAGING_NAME_MAX_CHARS}`,
    { next: 'Shorten the reference name of the task.' },
  )
}

/** Characters that lakeFS does not allow in a branch name become "-", and no part is ever empty. */
function toSegment(value: string | number): string {
  const segment = String(value)
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[-_]+|[-_]+$/g, '')
  return segment === '' ? 'unknown' : segment
}
