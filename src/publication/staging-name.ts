/**
 * Names of staging branches, the same byte for byte as those of the Python workers, so that either side recognises
 * and clears away what the other has left behind.
 */

import { InvalidError } from '../base/errors.ts'
import { branchName, type BranchName } from '../base/ids.ts'
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

/** What every staging branch's name begins with. */
export const STAGING_PREFIX = 'perago-staging-'

/**
 * ```ts
 * stagingBranchName({ workflowId: 'w1', referenceTaskName: 'load', seq: 1, iteration: 0, taskId: 't1', retryCount: 0, executionId: 'e1' })
 * // perago-staging-w1-load-seq-1-iteration-0-task-id-t1-retry-0-exec-e1
 * ```
 */
export function stagingBranchName(identity: StagingIdentity): BranchName {
  const { workflowId, referenceTaskName, seq, iteration, taskId, retryCount, executionId } = identity
  const name =
    `${stagingPrefix({ workflowId, referenceTaskName })}${toSegment(seq)}-iteration-${toSegment(iteration)}` +
    `-task-id-${toSegment(taskId)}-retry-${toSegment(retryCount)}-exec-${toSegment(executionId)}`
  if (name.length <= STAGING_NAME_MAX_CHARS) return branchName(name)
  throw new InvalidError(
    'publication/staging-name-too-long',
    `name the staging branch of task ${referenceTaskName.slice(0, 80)}: ${name.length} characters, at most ${STAGING_NAME_MAX_CHARS}`,
    { next: 'Shorten the reference name of the task.' },
  )
}

/** Whose attempt a staging branch of this task was, or `undefined` for a branch that is none of it. */
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

/** What the names of a workflow's staging branches begin with, or of one of its tasks. */
export function stagingPrefix(of: {
  readonly workflowId: string
  readonly referenceTaskName?: string
}): string {
  const workflow = `${STAGING_PREFIX}${toSegment(of.workflowId)}-`
  return of.referenceTaskName === undefined ? workflow : `${workflow}${toSegment(of.referenceTaskName)}-seq-`
}

/** Whatever lakeFS does not take in a branch name becomes "-", and no part is ever empty. */
function toSegment(value: string | number): string {
  const segment = String(value)
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[-_]+|[-_]+$/g, '')
  return segment === '' ? 'unknown' : segment
}
