/**
 * How a rollback of an execution changes its branches. `engine/checkpoints` plans it; `roll-back.ts` does it, without an attempt.
 *
 * Every request may be repeated after a lost response or a crash, and answers the same. What is refused changes nothing.
 */

import type { BranchName, CommitRef, RepositoryName } from '../base/ids.ts'
import type { CallOptions } from './ports.ts'

/** Which commits may leave a branch. Told by the metadata of the commits. */
export interface OwnCommits {
  /** The execution, and those that it started. */
  readonly workflowIds: readonly string[]
  /**
   * Attempts that are undone. Only what they published may stand above the recorded head: an attempt whose result was
   * never recorded may have published all the same.
   */
  readonly taskIds: readonly string[]
}

export interface BranchRollback {
  readonly repository: RepositoryName
  readonly branch: BranchName
  /** The head that the execution has recorded. */
  readonly expectedHead: CommitRef
  /** May be `expectedHead`, where nothing was recorded since: then only unrecorded publications leave the branch. */
  readonly to: CommitRef
  readonly own: OwnCommits
}

/**
 * `there`: the branch stands at the commit, or was moved there by an earlier request. `left`: nothing that was recorded
 * has to leave it, and its head is not of this execution, so it stays as it is.
 */
export type BranchRolledBack =
  | { readonly is: 'moved'; readonly supersededRef: CommitRef; readonly evidenceTag: string }
  | { readonly is: 'there' }
  | { readonly is: 'left'; readonly head: CommitRef | undefined }

export interface PathsRollback {
  readonly repository: RepositoryName
  readonly branch: BranchName
  /** The head that the execution has recorded. */
  readonly expectedHead: CommitRef
  /** The publication whose paths are restored: its input ref and its commit. */
  readonly publishedOn: CommitRef
  readonly published: CommitRef
  /** Of the paths that it changed. Default: all of them. */
  readonly paths?: readonly string[] | undefined
  readonly workflowId: string
  /** The unit, for the commit. */
  readonly subject: string
}

export interface PathsRolledBack {
  /** The new head. */
  readonly outputRef: CommitRef
  readonly paths: readonly string[]
}

export interface DataRollback {
  /** Reads only, and throws what `moveBack` would refuse. */
  check(request: BranchRollback, options?: CallOptions): Promise<void>
  /** Moves the branch back; its commits stay reachable under a tag. */
  moveBack(request: BranchRollback, options?: CallOptions): Promise<BranchRolledBack>
  /** Reads only, and throws what `restorePaths` would refuse. */
  checkPaths(request: PathsRollback, options?: CallOptions): Promise<void>
  /** Puts one commit on the branch, with these paths as they were before. */
  restorePaths(request: PathsRollback, options?: CallOptions): Promise<PathsRolledBack>
}
