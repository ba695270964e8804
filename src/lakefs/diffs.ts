/** What differs: between two commits, for a merge, on a branch. */

import type { BranchName, CommitRef } from '../base/ids.ts'
import type { Change, DiffOptions } from '../publication/ports.ts'
import type { RepoContext } from './context.ts'
import { paged } from './paging.ts'
import { toChange, toPage } from './readers.ts'

/** As the two trees stand. */
export function diffCommits(
  context: RepoContext,
  from: CommitRef,
  to: CommitRef,
  options: DiffOptions = {},
): AsyncIterable<Change> {
  return diffRefs(context, { left: from, right: to, type: 'two_dot' }, options)
}

/** What `source` brings, against the merge base. */
export function diffForMerge(
  context: RepoContext,
  into: CommitRef | BranchName,
  source: CommitRef,
  options: DiffOptions = {},
): AsyncIterable<Change> {
  return diffRefs(context, { left: into, right: source, type: 'three_dot' }, options)
}

export function diffUncommitted(
  { client, repository }: RepoContext,
  branch: BranchName,
  options: DiffOptions = {},
): AsyncIterable<Change> {
  const { after, pageSize, prefix, signal } = options
  return paged(
    async (page) => {
      const result = await client.calls.json(
        { operation: 'diffBranch', target: { repository, branch }, signal },
        (api, init) =>
          api.GET('/repositories/{repository}/branches/{branch}/diff', {
            ...init,
            params: {
              path: { repository, branch },
              query: { ...page, ...(prefix === undefined ? {} : { prefix }) },
            },
          }),
        (json) => toPage(json, toChange),
      )
      return result.value
    },
    { after, pageSize, what: `read the uncommitted changes of ${branch} of ${repository}` },
  )
}

function diffRefs(
  { client, repository }: RepoContext,
  sides: {
    readonly left: CommitRef | BranchName
    readonly right: CommitRef
    readonly type: 'two_dot' | 'three_dot'
  },
  options: DiffOptions,
): AsyncIterable<Change> {
  const { left, right, type } = sides
  const { after, pageSize, prefix, signal } = options
  return paged(
    async (page) => {
      const result = await client.calls.json(
        { operation: 'diffRefs', target: { repository, left, right }, signal },
        (api, init) =>
          api.GET('/repositories/{repository}/refs/{leftRef}/diff/{rightRef}', {
            ...init,
            params: {
              path: { repository, leftRef: left, rightRef: right },
              query: { ...page, type, ...(prefix === undefined ? {} : { prefix }) },
            },
          }),
        (json) => toPage(json, toChange),
      )
      return result.value
    },
    { after, pageSize, what: `compare ${left} with ${right} of ${repository}` },
  )
}

/** Whether there is any change at all; asks for one. */
export async function hasAny(
  changes: (options: DiffOptions) => AsyncIterable<Change>,
  options: DiffOptions,
): Promise<boolean> {
  for await (const change of changes({ ...options, pageSize: 1 })) return change.path !== ''
  return false
}
