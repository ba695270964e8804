/**
 * How a decided publication reaches the branch. `soft`: read, decide, act, with a small window between. `hard`: the
 * server itself checks the expected head and moves the branch in one step. The decision is the same for both.
 */

import type { BranchName, CommitRef } from '../base/ids.ts'
import type { CallOptions, CommitRecord, Metadata } from './ports.ts'

export type FenceStrength = 'soft' | 'hard'

export interface MergeWrite {
  readonly branch: BranchName
  readonly expectedHead: CommitRef
  readonly stagedRef: CommitRef
  readonly message: string
  readonly metadata: Metadata
}

export interface MoveWrite {
  readonly branch: BranchName
  readonly expectedHead: CommitRef
  readonly to: CommitRef
}

/** Not written: a merge changed nothing; or the branch was elsewhere, before the write or when it was read afterwards. */
export type BranchWrite =
  | { readonly written: true; readonly ref: CommitRef }
  | { readonly written: false; readonly why: 'head-moved' | 'nothing-to-merge' }

export interface PublishStrategy {
  readonly strength: FenceStrength
  /** `undefined`: there is no such branch. */
  readHead(branch: BranchName, options: CallOptions): Promise<CommitRecord | undefined>
  /** Puts one commit with the staged tree directly on the head. */
  merge(write: MergeWrite, options: CallOptions): Promise<BranchWrite>
  /** Moves the branch to a commit that exists already. */
  move(write: MoveWrite, options: CallOptions): Promise<BranchWrite>
}
