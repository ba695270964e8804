/** Which branches an execution writes, and what it knows to be on them. Pure: read from inputs and outputs. */

import { isCommitRef, type CommitRef } from '../../base/ids.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import type { TaskId } from '../../fences/attempt-snapshot.ts'
import type { Execution } from '../protocol/execution.ts'

export interface BranchCommit {
  readonly repository: string
  readonly branch: string
  readonly ref: CommitRef
}

/** A unit that ended well, with another commit of the branch in its output than in its input. */
export interface Publication {
  readonly repository: string
  readonly branch: string
  readonly referenceTaskName: string
  readonly taskId: TaskId
  /** The input ref. */
  readonly from: CommitRef
  readonly to: CommitRef
}

/** In the order in which the units were scheduled, which on one branch is the order of its commits. */
export function publicationsOf({ rows }: Execution): readonly Publication[] {
  return rows.flatMap(({ record }) => {
    const written = record.status.startsWith('COMPLETED') ? workspaceOf(record.output) : undefined
    if (written === undefined) return []
    const read = workspaceOf(record.input)
    // Without a commit of this branch in its input, it passed on what others wrote.
    if (read === undefined || !isSameBranch(read, written) || read.ref === written.ref) return []
    const { repository, branch, ref: to } = written
    const from = read.ref
    return [
      { repository, branch, referenceTaskName: record.referenceTaskName, taskId: record.taskId, from, to },
    ]
  })
}

/** Every branch that the execution was given or has written, at the commit where it last knew it. */
export function branchesOf(execution: Execution): readonly BranchCommit[] {
  const known = new Map<string, BranchCommit>()
  const add = (found: BranchCommit | undefined, isNewer: boolean): void => {
    if (found === undefined || (!isNewer && known.has(branchKey(found)))) return
    known.set(branchKey(found), found)
  }
  for (const value of Object.values(execution.input)) add(asWorkspace(value), false)
  for (const { record } of execution.rows) {
    add(workspaceOf(record.input), false)
    if (record.status.startsWith('COMPLETED')) add(workspaceOf(record.output), true)
  }
  return [...known.values()]
}

/** The branch that an attempt works on, by its input. */
export function workspaceOf(inputOrOutput: JsonObject): BranchCommit | undefined {
  return asWorkspace(inputOrOutput.workspace)
}

export function isSameBranch(
  one: Pick<BranchCommit, 'repository' | 'branch'>,
  other: Pick<BranchCommit, 'repository' | 'branch'>,
): boolean {
  return one.repository === other.repository && one.branch === other.branch
}

/** Neither name may contain a slash. */
export function branchKey({ repository, branch }: Pick<BranchCommit, 'repository' | 'branch'>): string {
  return `${repository}/${branch}`
}

function asWorkspace(value: Json | undefined): BranchCommit | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const { repository, branch, ref } = value as JsonObject
  if (typeof repository !== 'string' || typeof branch !== 'string') return undefined
  return typeof ref === 'string' && isCommitRef(ref) ? { repository, branch, ref } : undefined
}
