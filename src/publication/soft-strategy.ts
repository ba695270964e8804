/** Publishing by reading, deciding and acting, on any lakeFS server. */

import { errorKindOf, RefusedError } from '../base/errors.ts'
import type { CallOptions, VersionedRepo } from './ports.ts'
import type { BranchFacts, BranchWrite, MergeWrite, MoveWrite, PublishStrategy } from './strategy.ts'
import type { BranchName } from '../base/ids.ts'

export function softStrategy(repo: VersionedRepo): PublishStrategy {
  return {
    strength: 'soft',
    readFacts: (branch, options) => readFacts(repo, branch, options),
    merge: (write, options) => mergeSquashed(repo, write, options),
    move: (write, options) => moveBranch(repo, write, options),
  }
}

/** One request: the newest entry of the log is the head, and it names its parents. */
async function readFacts(
  repo: VersionedRepo,
  branch: BranchName,
  options: CallOptions,
): Promise<BranchFacts> {
  try {
    for await (const head of repo.log(branch, { ...options, firstParent: true, limit: 1 }))
      return { branch, head }
  } catch (error) {
    if (errorKindOf(error) !== 'missing') throw error
  }
  return { branch, head: undefined }
}

/** Squashed, so that the new head has one parent, the input ref. The source is a commit: a branch could move. */
async function mergeSquashed(
  repo: VersionedRepo,
  write: MergeWrite,
  options: CallOptions,
): Promise<BranchWrite> {
  const { branch, stagedRef, message, metadata } = write
  const outcome = await repo.merge(
    { source: stagedRef, into: branch, squash: true, message, metadata },
    options,
  )
  if (outcome.merged) return { written: true, ref: outcome.ref }
  switch (outcome.reason) {
    case 'conflict':
      // The branch still stood at our input when it was read, and nothing conflicts with that: it has moved since.
      return { written: false, why: 'head-moved' }
    case 'nothing-to-merge':
      return { written: false, why: 'nothing-to-merge' }
    case 'dirty-target':
      throw new RefusedError(
        'publication/dirty-target',
        `merge ${stagedRef} into branch "${branch}": the branch has uncommitted changes`,
        {
          details: { branch, stagedRef },
          next: `Commit or reset the uncommitted changes on "${branch}", then run the task again.`,
        },
      )
    case 'hook-refused':
      throw new RefusedError(
        'publication/hook-refused',
        `merge ${stagedRef} into branch "${branch}": a hook of the repository refused it: ${outcome.message}`,
        {
          details: { branch, stagedRef },
          next: 'See the run of the hook in lakeFS, under the actions of the repository.',
        },
      )
  }
}

async function moveBranch(repo: VersionedRepo, write: MoveWrite, options: CallOptions): Promise<BranchWrite> {
  const outcome = await repo.moveBranch(write, options)
  return outcome.moved ? { written: true, ref: write.to } : { written: false, why: 'head-moved' }
}
