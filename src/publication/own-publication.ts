/**
 * Finding one's own publication on the branch: after a merge was answered, to confirm it, and after its answer was
 * lost, to learn whether it took place. Told by the execution's id in the commit, and by nothing that the fence decides.
 */

import type { CommitRef } from '../base/ids.ts'
import { PUBLICATION_LOOK_BACK_COMMITS } from './limits.ts'
import { errorKindOf } from '../base/errors.ts'
import { PublishFenceError } from '../fences/publish-fence.ts'
import { passAttemptFence } from './attempt-guard.ts'
import { isMadeBy } from './commit-metadata.ts'
import type { CommitRecord } from './ports.ts'
import { repeatWhenLost } from './repeat.ts'
import type { PublicationRun } from './run.ts'
import type { Staged } from './stage.ts'

/** Holds a merge that was answered against the branch; answers the commit directly above the input ref that counts. */
export async function confirmMerge(
  run: PublicationRun,
  merged: { readonly ref: CommitRef; readonly staged: Staged },
): Promise<CommitRef> {
  return run.steps.run('verify', async () => {
    const { inputRef, branch } = run.request.target
    const facts = await repeatWhenLost(() => run.strategy.readFacts(branch, run.call), run.repeat)
    const { head } = facts
    if (head?.ref === merged.ref && head.parents[0] === inputRef) return merged.ref
    const seen = head === undefined ? [] : await readRecent(run)
    const isThere = seen.some(({ ref }) => ref === merged.ref)
    const own = isThere ? findFirst(run, merged.staged, seen) : undefined
    if (own !== undefined) return dropDuplicates(run, { own, staged: merged.staged, seen })
    throw new PublishFenceError(isThere ? 'landed-elsewhere' : 'moved-away', {
      branch,
      inputRef,
      head: head?.ref,
      headFirstParent: head?.parents[0],
      publishedRef: merged.ref,
    })
  })
}

/** After a lost answer: what this execution has on the branch directly above the input ref, if anything. */
export async function findOwnPublication(
  run: PublicationRun,
  staged: Staged,
): Promise<CommitRef | undefined> {
  return run.steps.run('verify', async () => {
    const seen = await readRecent(run)
    const own = findFirst(run, staged, seen)
    return own && dropDuplicates(run, { own, staged, seen })
  })
}

/** The newest commits of the branch, newest first, down to the input ref at most. */
async function readRecent(run: PublicationRun): Promise<readonly CommitRecord[]> {
  const { repo, target } = run.request
  const options = {
    ...run.call,
    firstParent: true,
    limit: PUBLICATION_LOOK_BACK_COMMITS,
    stopAt: target.inputRef,
  }
  return repeatWhenLost(async () => {
    const seen: CommitRecord[] = []
    try {
      for await (const commit of repo.log(target.branch, options)) seen.push(commit)
    } catch (error) {
      // Without a branch there is nothing of ours on it.
      if (errorKindOf(error) !== 'missing') throw error
    }
    return seen
  }, run.repeat)
}

function findFirst(
  run: PublicationRun,
  staged: Staged,
  seen: readonly CommitRecord[],
): CommitRecord | undefined {
  return seen.find(
    (commit) => isOwn(run, staged, commit) && commit.parents[0] === run.request.target.inputRef,
  )
}

function isOwn({ request }: PublicationRun, staged: Staged, { ref, metadata }: CommitRecord): boolean {
  return ref === staged.ref || isMadeBy(metadata, request.task.executionId)
}

/**
 * A squash merge that is sent twice lands twice: the second puts a commit with the same tree on top of the first. Where
 * nothing but such duplicates stands above our first one, the branch goes back to it, so that a later attempt still
 * finds its input directly below the head. Should that fail, the publication stands all the same.
 */
async function dropDuplicates(
  run: PublicationRun,
  found: {
    readonly own: CommitRecord
    readonly staged: Staged
    readonly seen: readonly CommitRecord[]
  },
): Promise<CommitRef> {
  const { own, staged, seen } = found
  const above = seen.slice(0, seen.indexOf(own))
  const [head] = above
  if (head === undefined || !above.every((commit) => isOwn(run, staged, commit))) return own.ref
  const { guard, signal, target } = run.request
  await passAttemptFence(guard, signal)
  try {
    await run.strategy.move({ branch: target.branch, expectedHead: head.ref, to: own.ref }, run.call)
  } catch (error) {
    // Lost or not, moved or not: our commit is on the branch, and its tree is the duplicate's.
    if (errorKindOf(error) !== 'uncertain') throw error
  }
  return own.ref
}
