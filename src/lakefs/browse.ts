/** Lists of lakeFS one page at a time, for people who look around: they may be long, and only what is shown is read. */

import type { CommitRef, RepositoryName } from '../base/ids.ts'
import type { CallOptions, Change, CommitRecord, ListEntry } from '../publication/ports.ts'
import { toRepository, type RepositoryInfo } from './administration.ts'
import { connectionOf, type LakefsClient } from './client.ts'
import type { Page } from './paging.ts'
import { text, toChange, toCommit, toListEntry, toPage, toTagged, whole } from './readers.ts'

export interface PageRequest extends CallOptions {
  readonly prefix?: string | undefined
  readonly after?: string | undefined
  readonly limit: number
}

/** A branch or a tag. Those of others may have names that perago would not give. */
export interface NamedRef {
  readonly name: string
  readonly commit: CommitRef
}

export interface LakefsBrowser {
  repositories(request: PageRequest): Promise<Page<RepositoryInfo>>
  branches(repository: RepositoryName, request: PageRequest): Promise<Page<NamedRef>>
  tags(repository: RepositoryName, request: PageRequest): Promise<Page<NamedRef>>
  /** `from`: a branch, a tag or a commit. */
  commits(
    repository: RepositoryName,
    request: Omit<PageRequest, 'prefix'> & { readonly from: string; readonly firstParent: boolean },
  ): Promise<Page<CommitRecord>>
  changes(
    repository: RepositoryName,
    request: PageRequest & { readonly from: string; readonly to: string },
  ): Promise<Page<Change>>
  /** One level below the prefix. */
  objects(
    repository: RepositoryName,
    request: PageRequest & { readonly at: string },
  ): Promise<Page<ListEntry>>
}

export function openLakefsBrowser(client: LakefsClient): LakefsBrowser {
  const { server } = connectionOf(client)
  const pageOf = ({ prefix, after, limit }: PageRequest) => ({ prefix, after, amount: limit })
  const toNamed = (json: Parameters<typeof toTagged>[0]): NamedRef => ({
    name: text(whole(json as unknown)['id'], 'id'),
    commit: toTagged(json),
  })
  const listRefs = async (
    operation: 'listBranches' | 'listTags',
    repository: RepositoryName,
    request: PageRequest,
  ): Promise<Page<NamedRef>> => {
    const call = { operation, path: { repository }, query: pageOf(request), signal: request.signal } as const
    return (await server.call(call, (json) => toPage(json, toNamed))).value
  }
  return {
    repositories: async (request) => {
      const call = { operation: 'listRepositories', query: pageOf(request), signal: request.signal } as const
      return (await server.call(call, (json) => toPage(json, toRepository))).value
    },
    branches: (repository, request) => listRefs('listBranches', repository, request),
    tags: (repository, request) => listRefs('listTags', repository, request),
    commits: async (repository, { from, firstParent, after, limit, signal }) => {
      const query = { after, amount: limit, first_parent: firstParent ? firstParent : undefined }
      const call = { operation: 'logCommits', path: { repository, ref: from }, query, signal } as const
      return (await server.call(call, (json) => toPage(json, toCommit))).value
    },
    changes: async (repository, request) => {
      const path = { repository, leftRef: request.from, rightRef: request.to }
      const query = { ...pageOf(request), type: 'two_dot' as const }
      const call = { operation: 'diffRefs', path, query, signal: request.signal } as const
      return (await server.call(call, (json) => toPage(json, toChange))).value
    },
    objects: async (repository, request) => {
      const path = { repository, ref: request.at }
      const query = { ...pageOf(request), delimiter: '/' }
      const call = { operation: 'listObjects', path, query, signal: request.signal } as const
      return (await server.call(call, (json) => toPage(json, toListEntry))).value
    },
  }
}
