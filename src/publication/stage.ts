/** Staging: the changes, on a branch of their own that begins at the input ref, as one commit. */

import { errorKindOf, RefusedError } from '../base/errors.ts'
import type { CommitRef } from '../base/ids.ts'
import { describeAuthority } from './authority.ts'
import { isMadeBy } from './commit-metadata.ts'
import type { CommitRecord } from './ports.ts'
import type { PublicationRun } from './publication.ts'
import { uploadAll } from './upload.ts'
import type { StagedTree } from './verify-staged.ts'

/** Uploads, deletes and commits. The result is not yet compared with the plan. */
export async function stage(run: PublicationRun): Promise<StagedTree> {
  const { steps, request, inputRef } = run
  const stored = await steps.run(
    'upload',
    () => uploadAll(run),
    ({ size }) => ({ uploads: size, deletes: request.changes.deletes.length }),
  )
  const commit = await steps.run(
    'commit-staging',
    () => commitStaging(run),
    (made) => ({ stagedRef: made?.ref }),
  )
  // Nothing to commit: the input ref holds already what was sent.
  return { ref: commit?.ref ?? inputRef, stored }
}

/** `undefined` when there is nothing to commit. */
async function commitStaging(run: PublicationRun): Promise<CommitRecord | undefined> {
  const { repo, authority, inputRef, stagingBranch, metadata, call, repeat } = run
  const message = run.request.commit?.message ?? `Stage ${describeAuthority(authority)}`
  let isLost = false
  const commitOnce = async (): Promise<CommitRecord | undefined> => {
    // The branch is this execution's own, so its head tells. A second commit would run its hooks again, to answer that
    // nothing changed; that answer leads to the same look below, so this one is no safeguard of its own.
    const made = isLost ? await findCommit(run) : undefined
    if (made !== undefined) return made
    try {
      const outcome = await repo.commit({ branch: stagingBranch, message, metadata }, call)
      if (outcome.committed) return outcome.commit
      if (outcome.reason === 'nothing-to-commit') return isLost ? await findCommit(run) : undefined
      throw commitRefused(run, outcome.reason === 'hook-refused' ? outcome.message : 'the branch is dirty')
    } catch (error) {
      if (errorKindOf(error) === 'uncertain') isLost = true
      throw error
    }
  }
  const commit = await repeat(commitOnce)
  if (commit === undefined) return undefined
  if (commit.parents.length !== 1 || commit.parents[0] !== inputRef) throw stagingMoved(run, commit.ref)
  return commit
}

async function findCommit(run: PublicationRun): Promise<CommitRecord | undefined> {
  const head = await run.strategy.readHead(run.stagingBranch, run.call)
  if (head === undefined || head.ref === run.inputRef) return undefined
  if (isMadeBy(head.metadata, run.authority.executionId)) return head
  throw stagingMoved(run, head.ref)
}

function stagingMoved({ stagingBranch, inputRef }: PublicationRun, ref: CommitRef): RefusedError {
  return new RefusedError(
    'publication/staging-moved',
    `commit on staging branch "${stagingBranch}": ${ref} is not one commit of this execution on top of ${inputRef}`,
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
