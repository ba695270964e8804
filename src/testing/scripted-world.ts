/** The requests of a scripted repository, how a script answers them, and what is recorded. */

import type { BranchName, CommitRef, RepositoryName } from '../base/ids.ts'
import type { CallOptions } from '../publication/ports.ts'
import type { RepoModel } from './repo-model.ts'

export type RepoRequest =
  | 'createBranch'
  | 'readBranch'
  | 'listBranches'
  | 'deleteBranch'
  | 'resetBranch'
  | 'createTag'
  | 'readTag'
  | 'readCommit'
  | 'log'
  | 'list'
  | 'stat'
  | 'read'
  | 'write'
  | 'deleteObjects'
  | 'diff'
  | 'commit'
  | 'writeCommit'
  | 'merge'

export interface RepoCall {
  readonly client: string
  readonly request: RepoRequest
  /** Counts the requests of all clients, from 1. */
  readonly number: number
  readonly branch: BranchName | undefined
  readonly writes: boolean
  /** A reset of a branch that does nothing unless its head is a claim, or nothing at all. */
  readonly isCollapse?: true
}

/**
 * `refuse`: not done, and the client is told so. `lose-request` (not done) and `lose-answer` (done): the client gets no
 * answer. `late`: no answer either, and the request takes effect when the script calls the function given to `later`.
 * `twice`: done and answered, and it takes effect once more when the script calls that function.
 */
export type RepoFault = 'none' | 'refuse' | 'lose-request' | 'lose-answer' | 'late' | 'twice'

export interface RepoScript {
  /** Awaited before a request takes effect. */
  arrive(call: RepoCall): Promise<RepoFault>
  /** Awaited between the effect and the answer. */
  answer(call: RepoCall): Promise<void>
  /** Gets the effect of a `late` or repeated request, to run when it likes. */
  later(call: RepoCall, effect: () => void): void
}

/** One change of a branch's head. */
export interface BranchUpdate {
  readonly client: string
  readonly branch: BranchName
  readonly how: 'merge' | 'reset' | 'commit' | 'create'
  readonly from: CommitRef | undefined
  readonly to: CommitRef
  /** Position among all branch updates and head readings of the repository. */
  readonly order: number
  /** The last `order` when the request was sent. */
  readonly sentAfter: number
}

/** When a client was shown the head of a branch. */
export interface HeadReading {
  readonly client: string
  readonly branch: BranchName
  readonly head: CommitRef | undefined
  readonly order: number
}

/** The repository as a connection needs it. */
export interface ScriptedWorld {
  readonly repository: RepositoryName
  readonly model: RepoModel
  readonly defaultBranch: BranchName
  /** As a lakeFS whose actions are enabled. */
  readonly runsActions: boolean
  /** As a lakeFS whose users may write commits that no branch holds. */
  readonly takesRecords: boolean
  /** Branches that take merges only. */
  readonly protectedBranches: ReadonlySet<BranchName>
  head(branch: BranchName): CommitRef | undefined
  /** Moves a branch and records the update. */
  move(update: Pick<BranchUpdate, 'client' | 'branch' | 'how' | 'to'>): void
  noteReading(client: string, branch: BranchName, head: CommitRef | undefined): void
  serve<T>(of: Omit<RepoCall, 'number'>, effect: () => T, options?: CallOptions): Promise<T>
}
