/** Publishing by reading, deciding and acting, on any lakeFS server. */

import { errorKindOf, RefusedError } from '../base/errors.ts'
import type { BranchName } from '../base/ids.ts'
import type { CallOptions, CommitRecord, VersionedRepo } from './ports.ts'
import type { BranchWrite, MergeWrite, MoveWrite, PublishStrategy } from './strategy.ts'

export class SoftStrategy implements PublishStrategy {
  readonly strength = 'soft'
  readonly #repo: VersionedRepo

  constructor(repo: VersionedRepo) {
    this.#repo = repo
  }

  /** One request: the newest entry of the log is the head, and it names its parents. */
  async readHead(branch: BranchName, options: CallOptions): Promise<CommitRecord | undefined> {
    try {
      for await (const head of this.#repo.log(branch, { ...options, firstParent: true, limit: 1 }))
        return head
    } catch (error) {
      if (errorKindOf(error) !== 'missing') throw error
    }
    return undefined
  }

  /** Squashed, so that the new head has one parent, the input ref. The source is a commit: a branch could move. */
  async merge(write: MergeWrite, options: CallOptions): Promise<BranchWrite> {
    const { branch, stagedRef, message, metadata } = write
    const request = { source: stagedRef, into: branch, squash: true, message, metadata }
    const outcome = await this.#repo.merge(request, options)
    if (outcome.merged) return { written: true, ref: outcome.ref }
    const details = { branch, stagedRef }
    switch (outcome.reason) {
      case 'conflict':
        // The branch stood at our input when it was read, and nothing conflicts with that: it has moved since.
        return { written: false, why: 'head-moved' }
      case 'nothing-to-merge':
        return { written: false, why: 'nothing-to-merge' }
      case 'dirty-target':
        throw new RefusedError(
          'publication/dirty-target',
          `merge ${stagedRef} into branch "${branch}": the branch has uncommitted changes`,
          {
            details,
            next: `Commit or reset the uncommitted changes on "${branch}", then run the task again.`,
          },
        )
      case 'hook-refused':
        throw new RefusedError(
          'publication/hook-refused',
          `merge ${stagedRef} into branch "${branch}": a hook of the repository refused it: ${outcome.message}`,
          { details, next: 'See the run of the hook in lakeFS, under the actions of the repository.' },
        )
    }
  }

  async move(write: MoveWrite, options: CallOptions): Promise<BranchWrite> {
    const { moved } = await this.#repo.moveBranch(write, options)
    return moved ? { written: true, ref: write.to } : { written: false, why: 'head-moved' }
  }
}
