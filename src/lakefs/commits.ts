/** Commits, merges and the log of one repository. */

import { InvalidError } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import type {
  CallOptions,
  CommitOutcome,
  CommitRecord,
  CommitRequest,
  DetachedCommit,
  LogOptions,
  MergeOutcome,
  MergeRequest,
  WriteOptions,
} from '../publication/ports.ts'
import { commitIdOf } from './commit-id.ts'
import { requireRepository, unexplained, type RepoContext } from './context.ts'
import { bringsAnything, isDirty } from './diffs.ts'
import { paged } from './paging.ts'
import { toCommit, toMergeRef, toPage } from './readers.ts'
import { inWriteLane, laneOf, sendGuarded } from './write-lane.ts'

export async function readCommit(
  context: RepoContext,
  ref: CommitRef,
  options: CallOptions = {},
): Promise<CommitRecord | undefined> {
  const { server, repository } = context
  const path = { repository, commitId: ref }
  const call = { operation: 'getCommit', path, target: { repository, ref }, signal: options.signal } as const
  const result = await server.call(call, toCommit)
  if (result.is === 'done') return result.value
  await requireRepository(context, options)
  return undefined
}

export async function* readLog(
  context: RepoContext,
  from: CommitRef | BranchName,
  options: LogOptions = {},
): AsyncGenerator<CommitRecord, void, undefined> {
  const { server, repository } = laneOf(context, options)
  const { firstParent, limit = Number.POSITIVE_INFINITY, stopAt, signal } = options
  if (limit <= 0) return
  let shown = 0
  const commits = paged(
    async (page) => {
      const query = { ...page, first_parent: firstParent === true ? firstParent : undefined, stop_at: stopAt }
      const call = { operation: 'logCommits', path: { repository, ref: from }, query, signal } as const
      return (await server.call(call, (json) => toPage(json, toCommit))).value
    },
    { pageSize: Math.min(limit, LOG_PAGE), what: `read the log of ${from} of ${repository}` },
  )
  for await (const commit of commits) {
    yield commit
    shown += 1
    if (shown >= limit || commit.ref === stopAt) return
  }
}

/** Most readers of a log stop early, and a commit can hold much metadata. */
const LOG_PAGE = 100

export async function commit(
  context: RepoContext,
  request: CommitRequest,
  options: CallOptions = {},
): Promise<CommitOutcome> {
  const { server, repository } = context
  const { branch, message, metadata = {}, allowEmpty, sourceMetaRange } = request
  // The server would take an empty one for left out, and commit the uncommitted changes instead.
  if (sourceMetaRange === '') {
    throw new InvalidError(
      'lakefs/bad-meta-range',
      `commit (branch ${branch}): the tree to commit has no name`,
    )
  }
  const call = {
    operation: 'commit',
    path: { repository, branch },
    query: { source_metarange: sourceMetaRange },
    json: { message, metadata, allow_empty: allowEmpty },
    signal: options.signal,
  } as const
  return server.attempts(call, async () => {
    const result = await server.once(call, toCommit)
    switch (result.is) {
      case 'done':
        return { committed: true, commit: result.value }
      case 'hook-refused':
        return { committed: false, reason: 'hook-refused', message: result.message }
      case 'nothing-or-dirty': {
        const dirty = await isDirty(context, branch, options)
        if (sourceMetaRange === undefined && !dirty) return { committed: false, reason: 'nothing-to-commit' }
        if (sourceMetaRange !== undefined && dirty) return { committed: false, reason: 'dirty-branch' }
        throw unexplained(call, result.message)
      }
    }
  })
}

/** The server refuses an id that is not that of the fields, so what is written is what is said. */
export async function writeCommit(
  context: RepoContext,
  fields: DetachedCommit,
  options: CallOptions = {},
): Promise<CommitRef> {
  const { server, repository } = context
  const ref = commitIdOf(fields)
  const call = {
    operation: 'createCommitRecord',
    path: { repository },
    json: {
      commit_id: ref,
      version: 1,
      committer: fields.committer,
      message: fields.message,
      metarange_id: fields.metaRange,
      creation_date: Math.floor(fields.createdAt.getTime() / 1000),
      parents: fields.parents,
      generation: fields.generation,
      metadata: fields.metadata,
    },
    target: { repository, ref },
    signal: options.signal,
  } as const
  // Also when it was there already.
  await server.call(call, () => undefined)
  return ref
}

/** When a refusal cannot be explained, others wrote in between: nothing was done. */
export function merge(
  context: RepoContext,
  request: MergeRequest,
  options: WriteOptions = {},
): Promise<MergeOutcome> {
  const { repository } = context
  const { source, into, message, metadata = {}, squash, allowEmpty, strategy, force } = request
  const call = {
    operation: 'mergeIntoBranch',
    path: { repository, sourceRef: source, destinationBranch: into },
    json: { metadata, message, squash_merge: squash, allow_empty: allowEmpty, strategy, force },
    target: { repository, source, into },
    signal: options.signal,
  } as const
  return inWriteLane(context, options, async (lane, inLane) => {
    const result = await sendGuarded(options, call, (mayBegin) =>
      lane.server.call({ ...call, mayBegin }, toMergeRef),
    )
    if (result === undefined) return { merged: false, reason: 'withheld' }
    switch (result.is) {
      case 'done':
        return { merged: true, ref: result.value }
      case 'conflict':
        return { merged: false, reason: 'conflict' }
      case 'hook-refused':
        return { merged: false, reason: 'hook-refused', message: result.message }
      case 'nothing-or-dirty': {
        // The server looks at the destination first; in the same order the answers agree.
        if (await isDirty(lane, into, inLane)) return { merged: false, reason: 'dirty-target' }
        if (!(await bringsAnything(lane, source, into, inLane)))
          return { merged: false, reason: 'nothing-to-merge' }
        throw unexplained(call, result.message)
      }
    }
  })
}
