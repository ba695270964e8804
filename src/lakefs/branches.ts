/** Branches of one repository. */

import { MissingError, RefusedError } from '../base/errors.ts'
import { isCommitRef, type BranchName, type CommitRef } from '../base/ids.ts'
import type {
  BranchHead,
  CallOptions,
  MoveOutcome,
  MoveRequest,
  ResetOutcome,
  ResetRequest,
} from '../publication/ports.ts'
import type { CallResult } from './calls.ts'
import { missingRepository, type RepoContext } from './context.ts'
import { unexplained, type Call } from './failures.ts'
import { paged } from './paging.ts'
import { toBranchHead, toPage } from './readers.ts'

export async function createBranch(
  { client, repository }: RepoContext,
  request: { readonly branch: BranchName; readonly from: CommitRef; readonly hidden?: boolean },
  options: CallOptions = {},
): Promise<{ readonly created: boolean }> {
  const { branch, from, hidden } = request
  const call: Call<'createBranch'> = {
    operation: 'createBranch',
    target: { repository, branch, from },
    signal: options.signal,
  }
  const result = await client.calls.json(
    call,
    (api, init) =>
      api.POST('/repositories/{repository}/branches', {
        ...init,
        params: { path: { repository } },
        body: { name: branch, source: from, ...(hidden === undefined ? {} : { hidden }) },
      }),
    () => undefined,
  )
  if (result.is === 'done') return { created: true }
  // The same answer is given for a name that is the id of a commit; then there is no such branch.
  if (isCommitRef(branch) && (await readBranch({ client, repository }, branch, options)) === undefined) {
    throw new RefusedError(
      'lakefs/branch-name-is-a-commit',
      `create branch ${branch}: a commit has that id`,
      {
        details: call.target,
        next: 'Choose another name.',
      },
    )
  }
  return { created: false }
}

export async function readBranch(
  context: RepoContext,
  branch: BranchName,
  options: CallOptions = {},
): Promise<BranchHead | undefined> {
  const { client, repository } = context
  const result = await client.calls.json(
    { operation: 'getBranch', target: { repository, branch }, signal: options.signal },
    (api, init) =>
      api.GET('/repositories/{repository}/branches/{branch}', {
        ...init,
        params: { path: { repository, branch } },
      }),
    toBranchHead,
  )
  if (result.is === 'done') return result.value
  await missingRepository(context, options)
  return undefined
}

export function listBranches(
  { client, repository }: RepoContext,
  request: { readonly prefix?: string; readonly hidden?: boolean; readonly pageSize?: number } = {},
  options: CallOptions = {},
): AsyncIterable<BranchHead> {
  const { prefix, hidden, pageSize } = request
  return paged(
    async (page) => {
      const result = await client.calls.json(
        { operation: 'listBranches', target: { repository }, signal: options.signal },
        (api, init) =>
          api.GET('/repositories/{repository}/branches', {
            ...init,
            params: {
              path: { repository },
              query: {
                ...page,
                ...(prefix === undefined ? {} : { prefix }),
                ...(hidden === true ? { show_hidden: true } : {}),
              },
            },
          }),
        (json) => toPage(json, toBranchHead),
      )
      return result.value
    },
    { pageSize, what: `list branches of ${repository}` },
  )
}

export async function deleteBranch(
  context: RepoContext,
  branch: BranchName,
  options: CallOptions = {},
): Promise<{ readonly deleted: boolean }> {
  const { client, repository } = context
  const result = await client.calls.json(
    { operation: 'deleteBranch', target: { repository, branch }, signal: options.signal },
    (api, init) =>
      api.DELETE('/repositories/{repository}/branches/{branch}', {
        ...init,
        params: { path: { repository, branch } },
      }),
    () => undefined,
  )
  if (result.is === 'done') return { deleted: true }
  await missingRepository(context, options)
  return { deleted: false }
}

/**
 * Reads the head, compares, resets, reads back. Between the first read and the reset somebody else may move the branch,
 * and their move would be undone without a trace: the server offers no condition on this call. That window is why the
 * outcome says `soft`.
 */
export async function moveBranch(
  context: RepoContext,
  request: MoveRequest,
  options: CallOptions = {},
): Promise<MoveOutcome> {
  const { branch, expectedHead, to } = request
  const before = await headOf(context, branch, options)
  if (before !== expectedHead) return { moved: false, head: before }
  const result = await hardReset(context, { branch, ref: to }, options)
  // A commit leads to itself; so it was refused because a commit on the branch is under way.
  if (result.is !== 'done') throw unexplained(result.call, result.message)
  const after = await headOf(context, branch, options)
  return after === to ? { moved: true, strength: 'soft' } : { moved: false, head: after }
}

export async function resetToExpression(
  context: RepoContext,
  request: ResetRequest,
  options: CallOptions = {},
): Promise<ResetOutcome> {
  const { branch, expression } = request
  const result = await hardReset(context, { branch, ref: expression }, options)
  return { moved: result.is === 'done' }
}

async function hardReset(
  { client, repository }: RepoContext,
  request: { readonly branch: BranchName; readonly ref: string },
  options: CallOptions,
): Promise<CallResult<undefined, 'leads-nowhere'> & { readonly call: Call }> {
  const { branch, ref } = request
  const call: Call<'hardResetBranch'> = {
    operation: 'hardResetBranch',
    target: { repository, branch, to: ref },
    signal: options.signal,
  }
  const result = await client.calls.json(
    call,
    (api, init) =>
      api.PUT('/repositories/{repository}/branches/{branch}/hard_reset', {
        ...init,
        params: { path: { repository, branch }, query: { ref } },
      }),
    () => undefined,
  )
  return { ...result, call }
}

async function headOf(context: RepoContext, branch: BranchName, options: CallOptions): Promise<CommitRef> {
  const found = await readBranch(context, branch, options)
  if (found !== undefined) return found.head
  throw noSuchBranch(context, branch)
}

export function noSuchBranch({ repository }: RepoContext, branch: BranchName): MissingError {
  return new MissingError('lakefs/no-such-branch', `branch ${branch} of ${repository}: there is none`, {
    details: { repository, branch },
    next: 'Create the branch, or correct its name.',
  })
}
