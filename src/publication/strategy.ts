/**
 * How a decided publication reaches the branch. `soft`: read, decide, act, with a small window between. `hard`: the
 * server itself checks the expected head and moves the branch in one step. The decision is the same for both.
 */

import type { BranchName, CommitRef } from '../base/ids.ts'
import type { CallOptions, CommitRecord, Metadata, WriteGuard, WriteOptions } from './ports.ts'

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
  /** Of the commits that the move may need. */
  readonly metadata: Metadata
  /** On a branch that takes no reset, the tree of `to` may be put on top of the head. */
  readonly mayGoForward: boolean
}

/**
 * `reset`: a commit that came between the look and the write would have been dropped. Not written: the guard said no, or the
 * server refused the claim, and nothing was done; a merge changed nothing; or the branch was elsewhere, at the write or when it
 * was read afterwards.
 */
export type BranchWrite =
  | { readonly written: true; readonly ref: CommitRef; readonly by?: 'reset' }
  | { readonly written: false; readonly why: 'withheld' | 'head-moved' | 'nothing-to-merge' }

/** Every branch write is guarded: a strategy sends it once, right after its guard confirmed attempt and head. */
export interface GuardedOptions extends WriteOptions {
  readonly guard: WriteGuard
}

export interface PublishStrategy {
  readonly strength: FenceStrength
  /** `undefined`: there is no such branch. */
  readHead(branch: BranchName, options: CallOptions): Promise<CommitRecord | undefined>
  /** Puts one commit with the staged tree directly on the head. */
  merge(write: MergeWrite, options: GuardedOptions): Promise<BranchWrite>
  /** Moves the branch to a commit that exists already; where it could only go forward, `ref` is the commit with that tree. */
  move(write: MoveWrite, options: GuardedOptions): Promise<BranchWrite>
}
