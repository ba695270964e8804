/** Staging: the changes, on a branch of their own that begins at the input ref, and one commit. */

import { errorKindOf, RefusedError } from '../base/errors.ts'
import type { CommitRef } from '../base/ids.ts'
import { isMadeBy } from './commit-metadata.ts'
import type { CommitRecord } from './ports.ts'
import { repeatWhenLost } from './repeat.ts'
import type { PublicationRun } from './run.ts'
import { uploadAll } from './upload.ts'
import type { StagedTree } from './verify-staged.ts'

export interface Staged {
  /** The one commit on top of the input ref. */
  readonly ref: CommitRef
}

/** Uploads, deletes and commits. What comes out is not yet compared with the plan. */
export async function stage(run: PublicationRun): Promise<StagedTree> {
  const { request, stagingBranch, steps } = run
  const { repo, changes, uploadLimit } = request
  const uploaded = await steps.run(
    'upload',
    () => uploadAll({ repo, branch: stagingBranch, changes, limit: uploadLimit, repeat: run.repeat }),
    (checksums) => ({ uploads: checksums.size, deletes: changes.deletes.length }),
  )
  const commit = await steps.run(
    'commit-staging',
    () => commitStaging(run),
    (made) => ({ stagedRef: made?.ref }),
  )
  // Nothing to commit: what was sent is what the input ref holds already.
  return { ref: commit?.ref ?? request.target.inputRef, uploaded }
}

/** `undefined` when there is nothing to commit. */
async function commitStaging(run: PublicationRun): Promise<CommitRecord | undefined> {
  const { request, stagingBranch, metadata } = run
  const message = `Stage ${request.task.referenceTaskName}, attempt ${request.guard.attempt.retryCount}`
  const progress = { lost: false }
  const commit = await repeatWhenLost(async () => {
    // Committing twice would answer that nothing changed; the branch is this execution's own, so its head tells.
    const made = progress.lost ? await findCommit(run) : undefined
    if (made !== undefined) return made
    try {
      const outcome = await request.repo.commit({ branch: stagingBranch, message, metadata }, run.call)
      if (outcome.committed) return outcome.commit
      if (outcome.reason === 'nothing-to-commit') return progress.lost ? await findCommit(run) : undefined
      throw commitRefused(run, outcome.reason === 'hook-refused' ? outcome.message : 'the branch is dirty')
    } catch (error) {
      if (errorKindOf(error) === 'uncertain') progress.lost = true
      throw error
    }
  }, run.repeat)
  if (commit !== undefined && !standsOnInput(run, commit)) throw stagingMoved(run, commit.ref)
  return commit
}

async function findCommit(run: PublicationRun): Promise<CommitRecord | undefined> {
  const { head } = await run.strategy.readFacts(run.stagingBranch, run.call)
  if (head === undefined || head.ref === run.request.target.inputRef) return undefined
  if (isMadeBy(head.metadata, run.request.task.executionId)) return head
  throw stagingMoved(run, head.ref)
}

function standsOnInput({ request }: PublicationRun, { parents }: CommitRecord): boolean {
  return parents.length === 1 && parents[0] === request.target.inputRef
}

function stagingMoved({ stagingBranch, request }: PublicationRun, ref: CommitRef): RefusedError {
  return new RefusedError(
    'publication/staging-moved',
    `commit on staging branch "${stagingBranch}": ${ref} is not one commit of this execution on top of ${request.target.inputRef}`,
    { details: { stagingBranch, ref }, next: 'See who else writes to staging branches.' },
  )
}

function commitRefused({ stagingBranch }: PublicationRun, why: string): RefusedError {
  return new RefusedError(
    'publication/commit-refused',
    `commit on staging branch "${stagingBranch}": refused: ${why}`,
    { details: { stagingBranch }, next: 'See the hooks and the protected branches of the repository.' },
  )
}
