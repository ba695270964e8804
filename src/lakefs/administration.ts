/** Repositories and the server as a whole: for tools, tests and setting up. */

import { repositoryName, type RepositoryName } from '../base/ids.ts'
import type { CallOptions } from '../publication/ports.ts'
import type { Capabilities } from './capabilities.ts'
import { connectionOf, type LakefsClient } from './client.ts'
import type { components } from './generated/lakefs-api.ts'
import { paged } from './paging.ts'
import { list, text, toDate, toPage, whole } from './readers.ts'

export interface RepositoryInfo {
  readonly repository: RepositoryName
  readonly storageNamespace: string
  readonly defaultBranch: string
  readonly createdAt: Date
  readonly readOnly: boolean
}

export interface ServerInfo extends Capabilities {
  readonly endpoint: string
}

/** What the server is and can do; the first question to an endpoint that was typed by hand. */
export async function readServerInfo(client: LakefsClient, options: CallOptions = {}): Promise<ServerInfo> {
  return { endpoint: client.endpoint.apiUrl, ...(await client.capabilities(options)) }
}

/** `created: false` when a repository of that name exists already, whatever it holds. */
export async function createRepository(
  client: LakefsClient,
  request: {
    readonly repository: RepositoryName
    readonly storageNamespace: string
    readonly defaultBranch?: string
  },
  { signal }: CallOptions = {},
): Promise<{ readonly created: boolean }> {
  const { repository, storageNamespace, defaultBranch } = request
  const json = { name: repository, storage_namespace: storageNamespace, default_branch: defaultBranch }
  const target = { repository, storageNamespace }
  const result = await connectionOf(client).server.call(
    { operation: 'createRepository', json, target, signal },
    toRepository,
  )
  return { created: result.is === 'done' }
}

/** `undefined` when there is no such repository. For some seconds after a deletion it can still be shown. */
export async function readRepository(
  client: LakefsClient,
  repository: RepositoryName,
  { signal }: CallOptions = {},
): Promise<RepositoryInfo | undefined> {
  const call = { operation: 'getRepository', path: { repository }, signal } as const
  const result = await connectionOf(client).server.call(call, toRepository)
  return result.is === 'done' ? result.value : undefined
}

export function listRepositories(
  client: LakefsClient,
  options: CallOptions & { readonly prefix?: string; readonly pageSize?: number } = {},
): AsyncIterable<RepositoryInfo> {
  const { prefix, pageSize, signal } = options
  return paged(
    async (page) => {
      const call = { operation: 'listRepositories', query: { ...page, prefix }, signal } as const
      return (await connectionOf(client).server.call(call, (json) => toPage(json, toRepository))).value
    },
    { pageSize, what: 'list repositories' },
  )
}

/** The storage namespace stays in use for ever: a new repository needs a new one. */
export async function deleteRepository(
  client: LakefsClient,
  repository: RepositoryName,
  { signal }: CallOptions = {},
): Promise<{ readonly deleted: boolean }> {
  const call = { operation: 'deleteRepository', path: { repository }, signal } as const
  const result = await connectionOf(client).server.call(call, () => undefined)
  return { deleted: result.is === 'done' }
}

/** Which branches take merges only, as patterns. */
export async function readBranchProtection(
  client: LakefsClient,
  repository: RepositoryName,
  { signal }: CallOptions = {},
): Promise<readonly string[]> {
  const call = { operation: 'getBranchProtectionRules', path: { repository }, signal } as const
  const result = await connectionOf(client).server.call(call, (json) =>
    list(json, 'rules').map((rule) => text(whole(rule)['pattern'], 'pattern')),
  )
  return result.value
}

/** Replaces the rules. The server takes some seconds until they are in force. */
export async function setBranchProtection(
  client: LakefsClient,
  request: { readonly repository: RepositoryName; readonly patterns: readonly string[] },
  { signal }: CallOptions = {},
): Promise<void> {
  const path = { repository: request.repository }
  const json = request.patterns.map((pattern) => ({ pattern }))
  await connectionOf(client).server.call(
    { operation: 'setBranchProtectionRules', path, json, signal },
    () => undefined,
  )
}

export function toRepository(json: components['schemas']['Repository']): RepositoryInfo {
  const from: Record<string, unknown> = whole(json as unknown)
  return {
    repository: repositoryName(text(from['id'], 'id')),
    storageNamespace: text(from['storage_namespace'], 'storage_namespace'),
    defaultBranch: text(from['default_branch'], 'default_branch'),
    createdAt: toDate(from['creation_date'], 'creation_date'),
    readOnly: from['read_only'] === true,
  }
}
