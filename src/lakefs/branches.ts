/** Branches of one repository. */

import { RefusedError } from '../base/errors.ts'
import { isCommitRef, type BranchName, type CommitRef } from '../base/ids.ts'
import type { BranchHead, CallOptions, MoveOutcome, MoveRequest } from '../publication/ports.ts'
import { noSuchBranch, requireRepository, unexplained, type RepoContext } from './context.ts'
import { paged } from './paging.ts'
import { toBranchHead, toPage } from './readers.ts'

export async function createBranch(
  context: RepoContext,
  request: { readonly branch: BranchName; readonly from: CommitRef; readonly hidden?: boolean },
  options: CallOptions = {},
): Promise<{ readonly created: boolean }> {
  const { server, repository } = context
  const { branch, from, hidden } = request
  const call = {
    operation: 'createBranch',
    path: { repository },
    json: { name: branch, source: from, hidden },
    target: { repository, branch, from },
    signal: options.signal,
  } as const
  const result = await server.call(call, () => undefined)
  if (result.is === 'done') return { created: true }
  // The same answer is given for a name that is the id of a commit; then there is no such branch.
  if (isCommitRef(branch) && (await readBranch(context, branch, options)) === undefined) {
    throw new RefusedError(
      'lakefs/branch-name-is-a-commit',
      `create branch ${branch}: a commit has that id`,
      { details: call.target, next: 'Choose another name.' },
    )
  }
  return { created: false }
}

export async function readBranch(
  context: RepoContext,
  branch: BranchName,
  options: CallOptions = {},
): Promise<BranchHead | undefined> {
  const { server, repository } = context
  const path = { repository, branch }
  const result = await server.call({ operation: 'getBranch', path, signal: options.signal }, toBranchHead)
  if (result.is === 'done') return result.value
  await requireRepository(context, options)
  return undefined
}

export function listBranches(
  { server, repository }: RepoContext,
  request: { readonly prefix?: string; readonly hidden?: boolean; readonly pageSize?: number } = {},
  { signal }: CallOptions = {},
): AsyncIterable<BranchHead> {
  const { prefix, hidden, pageSize } = request
  return paged(
    async (page) => {
      const query = { ...page, prefix, show_hidden: hidden === true ? hidden : undefined }
      const call = { operation: 'listBranches', path: { repository }, query, signal } as const
      return (await server.call(call, (json) => toPage(json, toBranchHead))).value
    },
    { pageSize, what: `list branches of ${repository}` },
  )
}

export async function deleteBranch(
  context: RepoContext,
  branch: BranchName,
  options: CallOptions = {},
): Promise<{ readonly deleted: boolean }> {
  const { server, repository } = context
  const path = { repository, branch }
  const call = { operation: 'deleteBranch', path, signal: options.signal } as const
  const result = await server.call(call, () => undefined)
  if (result.is === 'done') return { deleted: true }
  await requireRepository(context, options)
  return { deleted: false }
}

/**
 * Reads the head, compares, resets, reads back. Between the first read and the reset others may move the branch, and
 * their move would be undone without a trace: the server offers no condition on this call. That window is why the outcome
 * says `soft`.
 */
export async function moveBranch(
  context: RepoContext,
  request: MoveRequest,
  options: CallOptions = {},
): Promise<MoveOutcome> {
  const { server, repository } = context
  const { branch, expectedHead, to } = request
  const before = await headOf(context, branch, options)
  if (before !== expectedHead) return { moved: false, head: before }
  const call = {
    operation: 'hardResetBranch',
    path: { repository, branch },
    query: { ref: to },
    target: { repository, branch, to },
    signal: options.signal,
  } as const
  const result = await server.call(call, () => undefined)
  // A commit leads to itself; so it was refused because a commit on the branch is under way.
  if (result.is !== 'done') throw unexplained(call, result.message)
  const after = await headOf(context, branch, options)
  return after === to ? { moved: true, strength: 'soft' } : { moved: false, head: after }
}

async function headOf(context: RepoContext, branch: BranchName, options: CallOptions): Promise<CommitRef> {
  const found = await readBranch(context, branch, options)
  if (found === undefined) throw noSuchBranch(context, branch)
  return found.head
}
