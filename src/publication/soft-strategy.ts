/** Publishing by reading, deciding and acting, on any lakeFS server. */

import type { BranchName } from '../base/ids.ts'
import { readSettledHead } from './claims.ts'
import { mergeOnce } from './merge-once.ts'
import type { CallOptions, CommitRecord, VersionedRepo } from './ports.ts'
import type { BranchWrite, GuardedOptions, MergeWrite, MoveWrite, PublishStrategy } from './strategy.ts'

export class SoftStrategy implements PublishStrategy {
  readonly strength = 'soft'
  readonly #repo: VersionedRepo

  constructor(repo: VersionedRepo) {
    this.#repo = repo
  }

  readHead(branch: BranchName, options: CallOptions): Promise<CommitRecord | undefined> {
    return readSettledHead(this.#repo, branch, options)
  }

  /** Squashed, so that the new head has one parent, the input ref. The source is a commit: a branch could move. */
  merge(write: MergeWrite, options: GuardedOptions): Promise<BranchWrite> {
    const { branch, stagedRef, message, metadata } = write
    const request = { source: stagedRef, into: branch, squash: true, message, metadata }
    return mergeOnce(this.#repo, request, options)
  }

  async move({ branch, expectedHead, to }: MoveWrite, options: GuardedOptions): Promise<BranchWrite> {
    const outcome = await this.#repo.moveBranch({ branch, expectedHead, to }, options)
    if (outcome.moved) return { written: true, ref: to }
    return { written: false, why: outcome.head === undefined ? 'withheld' : 'head-moved' }
  }
}
