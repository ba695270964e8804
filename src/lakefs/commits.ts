/** Commits, merges, commit records and the log of one repository. */

import { DefectError, InvalidError } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import type {
  CallOptions,
  CommitOutcome,
  CommitRecord,
  CommitRecordRequest,
  CommitRequest,
  LogOptions,
  MergeOutcome,
  MergeRequest,
} from '../publication/ports.ts'
import { commitIdOf, unixSeconds } from './commit-id.ts'
import { missingRepository, type RepoContext } from './context.ts'
import { diffForMerge, diffUncommitted, hasAny } from './diffs.ts'
import { describeCall, isUnexplained, unexplained, type Call } from './failures.ts'
import { paged } from './paging.ts'
import { toCommit, toMergeRef, toPage } from './readers.ts'

export async function readCommit(
  context: RepoContext,
  ref: CommitRef,
  options: CallOptions = {},
): Promise<CommitRecord | undefined> {
  const { client, repository } = context
  const result = await client.calls.json(
    { operation: 'getCommit', target: { repository, ref }, signal: options.signal },
    (api, init) =>
      api.GET('/repositories/{repository}/commits/{commitId}', {
        ...init,
        params: { path: { repository, commitId: ref } },
      }),
    toCommit,
  )
  if (result.is === 'done') return result.value
  await missingRepository(context, options)
  return undefined
}

export async function* readLog(
  { client, repository }: RepoContext,
  from: CommitRef | BranchName,
  options: LogOptions = {},
): AsyncGenerator<CommitRecord, void, undefined> {
  const { firstParent, limit = Number.POSITIVE_INFINITY, stopAt, signal } = options
  if (limit <= 0) return
  let shown = 0
  const commits = paged(
    async (page) => {
      const result = await client.calls.json(
        { operation: 'logCommits', target: { repository, ref: from }, signal },
        (api, init) =>
          api.GET('/repositories/{repository}/refs/{ref}/commits', {
            ...init,
            params: {
              path: { repository, ref: from },
              query: {
                ...page,
                ...(firstParent === true ? { first_parent: true } : {}),
                ...(stopAt === undefined ? {} : { stop_at: stopAt }),
              },
            },
          }),
        (json) => toPage(json, toCommit),
      )
      return result.value
    },
    { pageSize: Math.min(limit, LOG_PAGE), what: `read the log of ${from} of ${repository}` },
  )
  for await (const commit of commits) {
    yield commit
    shown += 1
    if (shown >= limit || commit.ref === stopAt) return
  }
}

/** Most readers of a log stop early, and a commit can carry much metadata. */
const LOG_PAGE = 100

export function commit(
  context: RepoContext,
  request: CommitRequest,
  options: CallOptions = {},
): Promise<CommitOutcome> {
  return untilExplained(context, options, () => commitOnce(context, request, options))
}

async function commitOnce(
  context: RepoContext,
  request: CommitRequest,
  options: CallOptions,
): Promise<CommitOutcome> {
  const { client, repository } = context
  const { branch, message, metadata, allowEmpty, sourceMetaRange } = request
  const call: Call<'commit'> = { operation: 'commit', target: { repository, branch }, signal: options.signal }
  // Left empty, the server would take it for not given and commit what is uncommitted instead.
  if (sourceMetaRange === '') {
    throw new InvalidError('lakefs/bad-meta-range', `${describeCall(call)}: the tree to commit has no name`)
  }
  const result = await client.calls.json(
    call,
    (api, init) =>
      api.POST('/repositories/{repository}/branches/{branch}/commits', {
        ...init,
        params: {
          path: { repository, branch },
          ...(sourceMetaRange === undefined ? {} : { query: { source_metarange: sourceMetaRange } }),
        },
        body: {
          message,
          metadata: metadata ?? {},
          ...(allowEmpty === undefined ? {} : { allow_empty: allowEmpty }),
        },
      }),
    toCommit,
  )
  switch (result.is) {
    case 'done':
      return { committed: true, commit: result.value }
    case 'hook-refused':
      return { committed: false, reason: 'hook-refused', message: result.message }
    case 'nothing-or-dirty': {
      const dirty = await hasAny((page) => diffUncommitted(context, branch, page), options)
      if (sourceMetaRange === undefined && !dirty) return { committed: false, reason: 'nothing-to-commit' }
      if (sourceMetaRange !== undefined && dirty) return { committed: false, reason: 'dirty-branch' }
      throw unexplained(call, result.message)
    }
  }
}

export function merge(
  context: RepoContext,
  request: MergeRequest,
  options: CallOptions = {},
): Promise<MergeOutcome> {
  return untilExplained(context, options, () => mergeOnce(context, request, options))
}

async function mergeOnce(
  context: RepoContext,
  request: MergeRequest,
  options: CallOptions,
): Promise<MergeOutcome> {
  const { client, repository } = context
  const { source, into, message, metadata, squash, allowEmpty, strategy } = request
  const call: Call<'mergeIntoBranch'> = {
    operation: 'mergeIntoBranch',
    target: { repository, source, into },
    signal: options.signal,
  }
  const result = await client.calls.json(
    call,
    (api, init) =>
      api.POST('/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}', {
        ...init,
        params: { path: { repository, sourceRef: source, destinationBranch: into } },
        body: {
          metadata: metadata ?? {},
          ...(message === undefined ? {} : { message }),
          ...(squash === undefined ? {} : { squash_merge: squash }),
          ...(allowEmpty === undefined ? {} : { allow_empty: allowEmpty }),
          ...(strategy === undefined ? {} : { strategy }),
        },
      }),
    toMergeRef,
  )
  switch (result.is) {
    case 'done':
      return { merged: true, ref: result.value }
    case 'conflict':
      return { merged: false, reason: 'conflict' }
    case 'hook-refused':
      return { merged: false, reason: 'hook-refused', message: result.message }
    case 'nothing-or-dirty': {
      // The server looks at the destination first, so do we.
      if (await hasAny((page) => diffUncommitted(context, into, page), options)) {
        return { merged: false, reason: 'dirty-target' }
      }
      if (!(await hasAny((page) => diffForMerge(context, into, source, page), options))) {
        return { merged: false, reason: 'nothing-to-merge' }
      }
      throw unexplained(call, result.message)
    }
  }
}

/** Somebody wrote between the refusal and our look at its cause. Nothing was done, so the question is put again. */
function untilExplained<Outcome>(
  { client }: RepoContext,
  options: CallOptions,
  once: () => Promise<Outcome>,
): Promise<Outcome> {
  return client.calls.repeat(once, { signal: options.signal, shouldRetry: isUnexplained })
}

export async function writeCommitRecord(
  context: RepoContext,
  record: CommitRecordRequest,
  options: CallOptions = {},
): Promise<CommitRef> {
  const { client, repository } = context
  const ref = commitIdOf(record)
  const call: Call<'createCommitRecord'> = {
    operation: 'createCommitRecord',
    target: { repository, ref },
    signal: options.signal,
  }
  const result = await client.calls.json(
    call,
    (api, init) =>
      api.POST('/repositories/{repository}/commits', {
        ...init,
        params: { path: { repository } },
        body: {
          commit_id: ref,
          version: 1,
          committer: record.committer,
          message: record.message,
          metarange_id: record.metaRange,
          creation_date: unixSeconds(record.createdAt),
          parents: [...record.parents],
          generation: record.generation,
          metadata: record.metadata,
        },
      }),
    () => undefined,
  )
  if (result.is === 'exists') await checkSameRecord(context, { ref, record }, options)
  return ref
}

/** Equal ids mean equal records; a generation is no part of the id and may differ. */
async function checkSameRecord(
  context: RepoContext,
  expected: { readonly ref: CommitRef; readonly record: CommitRecordRequest },
  options: CallOptions,
): Promise<void> {
  const found = await readCommit(context, expected.ref, options)
  const { record } = expected
  if (
    found?.metaRange === record.metaRange &&
    found.message === record.message &&
    found.parents.join() === record.parents.join()
  ) {
    return
  }
  throw new DefectError(
    'lakefs/commit-record-mismatch',
    `write commit record ${expected.ref}: the server says it is there, and shows ${found === undefined ? 'none' : 'another'}`,
    { details: { ref: expected.ref } },
  )
}
