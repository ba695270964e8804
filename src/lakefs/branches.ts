/** Branches of one repository. */

import { errorKindOf, RefusedError, UncertainError } from '../base/errors.ts'
import { isCommitRef, type BranchName, type CommitRef } from '../base/ids.ts'
import type {
  BranchHead,
  CallOptions,
  ClaimShape,
  CollapseOutcome,
  CollapseRequest,
  MoveOutcome,
  MoveRequest,
  WriteGuard,
  WriteOptions,
} from '../publication/ports.ts'
import { noSuchBranch, requireRepository, unexplained, type RepoContext } from './context.ts'
import { paged } from './paging.ts'
import { toBranchHead, toPage } from './readers.ts'
import { inWriteLane, laneOf, sendGuarded } from './write-lane.ts'

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
  const { server, repository } = laneOf(context, options)
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
 * Looks (or has the guard look), resets, reads back. Between the look and the reset others may move the branch, and
 * their move would be undone without a trace: the server offers no condition on this call. That window is why the outcome
 * says `soft`.
 */
export function moveBranch(
  context: RepoContext,
  request: MoveRequest,
  options: WriteOptions = {},
): Promise<MoveOutcome> {
  const { repository } = context
  const { branch, expectedHead, to } = request
  const call = {
    operation: 'hardResetBranch',
    path: { repository, branch },
    query: { ref: to },
    target: { repository, branch, to },
    signal: options.signal,
  } as const
  return inWriteLane(context, options, async (lane, inLane): Promise<MoveOutcome> => {
    let seen: CommitRef | undefined
    const look: WriteGuard = {
      confirm: async () => (seen = await headOf(lane, branch, inLane)) === expectedHead,
      mayBegin: () => true,
    }
    const result = await sendGuarded({ guard: look, ...options }, call, (mayBegin) =>
      lane.server.call({ ...call, mayBegin }, () => undefined),
    )
    if (result === undefined) return { moved: false, head: seen }
    // A commit leads to itself; so it was refused because a commit on the branch is under way.
    if (result.is !== 'done') throw unexplained(call, result.message)
    const after = await readBack(lane, branch, inLane)
    return after === to ? { moved: true, strength: 'soft' } : { moved: false, head: after }
  })
}

/** Of a commit that no branch can have as its head. */
const THIRD_PARENT = '^3'

/** Any other head has no such parent, so a late or repeated request moves nothing. */
export async function collapseClaim(
  context: RepoContext,
  { branch, claim }: CollapseRequest,
  options: CallOptions = {},
): Promise<CollapseOutcome> {
  return { collapsed: await resetFromHead(context, { branch, path: pathTo(claim) }, options) }
}

/** From the head to the target; each number is a parent. */
function pathTo(claim: ClaimShape): string {
  return claim === 'hard' ? '^2^3' : `^2^2^${claim.width}^3`
}

/** The server looks at the protection before it looks for the commit. */
export async function takesReset(
  context: RepoContext,
  branch: BranchName,
  options: CallOptions = {},
): Promise<boolean> {
  try {
    await resetFromHead(context, { branch, path: THIRD_PARENT }, options)
    return true
  } catch (error) {
    if (errorKindOf(error) === 'refused') return false
    throw error
  }
}

/** `false`: the head has no such ancestor. */
function resetFromHead(
  context: RepoContext,
  { branch, path }: { readonly branch: BranchName; readonly path: string },
  options: CallOptions,
): Promise<boolean> {
  const { repository } = context
  const ref = `${branch}${path}`
  return inWriteLane(context, options, async (lane) => {
    const result = await lane.server.call(
      {
        operation: 'hardResetBranch',
        path: { repository, branch },
        query: { ref },
        target: { repository, branch, ref },
        signal: options.signal,
      },
      () => undefined,
    )
    return result.is === 'done'
  })
}

async function readBack(lane: RepoContext, branch: BranchName, call: CallOptions): Promise<CommitRef> {
  try {
    return await headOf(lane, branch, call)
  } catch (error) {
    if (errorKindOf(error) !== 'unavailable') throw error
    // "Surely not done" is true of the reading alone: the branch was moved.
    const said = `move the branch (branch ${branch}): it was moved, and could not be read afterwards`
    throw new UncertainError('lakefs/answer-lost', said, { read: 'the head of the branch', cause: error })
  }
}

async function headOf(context: RepoContext, branch: BranchName, options: CallOptions): Promise<CommitRef> {
  const found = await readBranch(context, branch, options)
  if (found === undefined) throw noSuchBranch(context, branch)
  return found.head
}
