/**
 * Finds one's own publication on the branch: after a merge was answered, to confirm it, and after its response was lost,
 * to learn whether it took place. Told by the execution's id in the commit, and by nothing that the fence decides by.
 */

import { errorKindOf } from '../base/errors.ts'
import type { CommitRef } from '../base/ids.ts'
import { PublishFenceError } from '../fences/publish-fence.ts'
import { confirmAuthority } from './authority.ts'
import { isMadeBy } from './commit-metadata.ts'
import { PUBLICATION_LOOK_BACK_COMMITS } from './limits.ts'
import type { CommitRecord } from './ports.ts'
import type { PublicationRun } from './publication.ts'

/** Compares a merge that was answered with the branch; gives the commit directly above the input ref that counts. */
export async function confirmMerge(
  run: PublicationRun,
  merged: { readonly ref: CommitRef; readonly stagedRef: CommitRef },
): Promise<CommitRef> {
  return run.steps.run('verify', async () => {
    const { request, inputRef, strategy, repeat } = run
    const { branch } = request.target
    const head = await repeat((call) => strategy.readHead(branch, call))
    if (head?.ref === merged.ref && head.parents[0] === inputRef) return merged.ref
    const seen = head === undefined ? [] : await readRecent(run)
    const isThere = seen.some(({ ref }) => ref === merged.ref)
    const own = isThere ? await findIn(run, merged.stagedRef, seen) : undefined
    if (own !== undefined) return own
    throw new PublishFenceError(isThere ? 'landed-elsewhere' : 'moved-away', {
      branch,
      inputRef,
      head: head?.ref,
      headFirstParent: head?.parents[0],
      publishedRef: merged.ref,
    })
  })
}

/** After a lost response: what this execution has on the branch directly above the input ref, if anything. */
export async function findOwnPublication(
  run: PublicationRun,
  stagedRef: CommitRef,
): Promise<CommitRef | undefined> {
  return run.steps.run('verify', async () => findIn(run, stagedRef, await readRecent(run)))
}

/** The newest commits of the branch, newest first, down to the input ref at most. */
async function readRecent({ repo, request, inputRef, repeat }: PublicationRun): Promise<CommitRecord[]> {
  const limits = { firstParent: true, limit: PUBLICATION_LOOK_BACK_COMMITS, stopAt: inputRef }
  return repeat(async (call) => {
    const seen: CommitRecord[] = []
    try {
      for await (const commit of repo.log(request.target.branch, { ...call, ...limits })) seen.push(commit)
    } catch (error) {
      // Without a branch there is nothing of ours on it.
      if (errorKindOf(error) !== 'missing') throw error
    }
    return seen
  })
}

/**
 * A squash merge that is sent twice lands twice: the second puts a commit with the same tree on top of the first. Where
 * nothing but such duplicates stands above our first one, the branch goes back to it, so that a later attempt still
 * finds its input directly below the head. If that fails, the publication stands all the same.
 */
async function findIn(
  run: PublicationRun,
  stagedRef: CommitRef,
  seen: readonly CommitRecord[],
): Promise<CommitRef | undefined> {
  const { request, authority, inputRef, strategy, call } = run
  const isOwn = ({ ref, metadata }: CommitRecord): boolean =>
    ref === stagedRef || isMadeBy(metadata, authority.executionId)
  const index = seen.findIndex((commit) => isOwn(commit) && commit.parents[0] === inputRef)
  const own = seen[index]
  if (own === undefined) return undefined
  const above = seen.slice(0, index)
  const [head] = above
  if (head === undefined || !above.every(isOwn)) return own.ref
  await confirmAuthority(authority, call)
  try {
    await strategy.move({ branch: request.target.branch, expectedHead: head.ref, to: own.ref }, call)
  } catch (error) {
    // Moved or not: our commit is on the branch, and the duplicates have the same tree.
    if (errorKindOf(error) !== 'uncertain') throw error
  }
  return own.ref
}
