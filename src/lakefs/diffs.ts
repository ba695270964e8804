/** What differs: between two commits, for a merge, on a branch. */

import type { BranchName, CommitRef } from '../base/ids.ts'
import type { CallOptions, Change, DiffOptions } from '../publication/ports.ts'
import type { RepoContext } from './context.ts'
import type { components } from './generated/lakefs-api.ts'
import { paged } from './paging.ts'
import { toChange, toPage, type RawPage } from './readers.ts'

/** As the two trees are. */
export function diffCommits(
  { server, repository }: RepoContext,
  from: CommitRef,
  to: CommitRef,
  options: DiffOptions = {},
): AsyncIterable<Change> {
  const { after, pageSize, prefix, signal } = options
  return paged(
    async (page) => {
      const path = { repository, leftRef: from, rightRef: to }
      const query = { ...page, type: 'two_dot', prefix } as const
      const call = { operation: 'diffRefs', path, query, signal } as const
      return (await server.call(call, (json) => toPage(json, toChange))).value
    },
    { after, pageSize, what: `compare ${from} with ${to} of ${repository}` },
  )
}

/** Whether a branch has uncommitted changes. One try. */
export async function isDirty(
  { server, repository }: RepoContext,
  branch: BranchName,
  { signal }: CallOptions,
): Promise<boolean> {
  const call = {
    operation: 'diffBranch',
    path: { repository, branch },
    query: { amount: 1 },
    signal,
  } as const
  return (await server.once(call, hasItems)).value
}

/** Whether a commit brings anything into a branch, against their merge base. One try. */
export async function bringsAnything(
  { server, repository }: RepoContext,
  source: CommitRef,
  into: BranchName,
  { signal }: CallOptions,
): Promise<boolean> {
  const call = {
    operation: 'diffRefs',
    path: { repository, leftRef: into, rightRef: source },
    query: { amount: 1, type: 'three_dot' },
    signal,
  } as const
  return (await server.once(call, hasItems)).value
}

function hasItems(json: RawPage<components['schemas']['Diff']>): boolean {
  return toPage(json, toChange).items.length > 0
}
