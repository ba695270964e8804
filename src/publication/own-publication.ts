/**
 * Finds one's own publication on the branch: after a merge was answered, to confirm it, and after its response was lost,
 * to learn whether it took place. Told by the execution's id in the commit, and by nothing that the fence decides by.
 */

import { abortReason } from '../base/clock.ts'
import { errorKindOf } from '../base/errors.ts'
import type { CommitRef } from '../base/ids.ts'
import { StaleAttemptError, UnknownAttemptError } from '../fences/attempt-fence.ts'
import { PublishFenceError } from '../fences/publish-fence.ts'
import { writeBranch } from './branch-write.ts'
import { isMadeBy, type MetadataKey } from './commit-metadata.ts'
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
    // The server has compared it, and the strategy has read the commit.
    if (strategy.strength === 'hard') return merged.ref
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
  return run.steps.run('verify', async () => {
    const seen = await readRecent(run)
    const isClaimed = seen[0]?.metadata['publish.claim' satisfies MetadataKey] !== undefined
    if (isClaimed) await run.repeat((call) => run.strategy.readHead(run.request.target.branch, call))
    return findIn(run, stagedRef, isClaimed ? await readRecent(run) : seen)
  })
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

async function findIn(
  run: PublicationRun,
  stagedRef: CommitRef,
  seen: readonly CommitRecord[],
): Promise<CommitRef | undefined> {
  const { authority, inputRef } = run
  const isOwn = ({ ref, metadata }: CommitRecord): boolean =>
    ref === stagedRef || isMadeBy(metadata, authority.executionId)
  const index = seen.findIndex((commit) => isOwn(commit) && standsOn(inputRef, commit))
  const own = seen[index]
  if (own === undefined) return undefined
  const above = seen.slice(0, index)
  const [head] = above
  if (head !== undefined && above.every(isOwn)) await dropDuplicates(run, { head: head.ref, own: own.ref })
  return own.ref
}

/** Directly above the input, or in the place of a commit that stood there, on a branch that could only go forward. */
function standsOn(inputRef: CommitRef, { parents, metadata }: CommitRecord): boolean {
  const replaced = metadata['publish.replaces' satisfies MetadataKey]
  return parents[0] === inputRef || (replaced !== undefined && replaced === parents[0])
}

/**
 * A squash merge that takes effect twice lands twice: the second puts a commit with the same tree on top of the first. Where
 * nothing but such duplicates stands above our first one, the branch goes back to it, so that a later attempt still
 * finds its input directly below the head. If that fails, the publication stands all the same; only an attempt that may
 * not act any more stops.
 */
async function dropDuplicates(
  run: PublicationRun,
  { head, own }: { readonly head: CommitRef; readonly own: CommitRef },
): Promise<void> {
  const { branch } = run.request.target
  const judge = (found: CommitRecord | undefined): boolean => found?.ref === head
  try {
    await writeBranch(run, { step: 'relocate', branch, judge }, (options) =>
      run.strategy.move(
        { branch, expectedHead: head, to: own, metadata: run.metadata, mayGoForward: false },
        options,
      ),
    )
  } catch (error) {
    // Moved or not: our commit is on the branch, and the duplicates have the same tree.
    if (error instanceof StaleAttemptError || error instanceof UnknownAttemptError) throw error
    if (run.call.signal?.aborted === true) throw abortReason(run.call.signal)
  }
}
