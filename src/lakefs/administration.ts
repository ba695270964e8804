/** Repositories and the server as a whole: for tools, tests and whoever sets things up. */

import { repositoryName, type RepositoryName } from '../base/ids.ts'
import type { CallOptions } from '../publication/ports.ts'
import type { Capabilities } from './capabilities.ts'
import type { LakefsClient } from './client.ts'
import type { components } from './generated/lakefs-api.ts'
import { paged } from './paging.ts'
import { text, toDate, toPage, whole } from './readers.ts'

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

/** What the server is and can do; the first thing to ask of an endpoint somebody typed. */
export async function readServerInfo(client: LakefsClient, options: CallOptions = {}): Promise<ServerInfo> {
  return { endpoint: client.endpoint.apiUrl, ...(await client.capabilities(options)) }
}

/** `created: false` when a repository of that name is there already, whatever it holds. */
export async function createRepository(
  client: LakefsClient,
  request: {
    readonly repository: RepositoryName
    readonly storageNamespace: string
    readonly defaultBranch?: string
  },
  options: CallOptions = {},
): Promise<{ readonly created: boolean }> {
  const { repository, storageNamespace, defaultBranch } = request
  const result = await client.calls.json(
    { operation: 'createRepository', target: { repository, storageNamespace }, signal: options.signal },
    (api, init) =>
      api.POST('/repositories', {
        ...init,
        body: {
          name: repository,
          storage_namespace: storageNamespace,
          ...(defaultBranch === undefined ? {} : { default_branch: defaultBranch }),
        },
      }),
    toRepository,
  )
  return { created: result.is === 'done' }
}

/** `undefined` when there is no such repository. For some seconds after a deletion it can still be shown. */
export async function readRepository(
  client: LakefsClient,
  repository: RepositoryName,
  options: CallOptions = {},
): Promise<RepositoryInfo | undefined> {
  const result = await client.calls.json(
    { operation: 'getRepository', target: { repository }, signal: options.signal },
    (api, init) => api.GET('/repositories/{repository}', { ...init, params: { path: { repository } } }),
    toRepository,
  )
  return result.is === 'done' ? result.value : undefined
}

export function listRepositories(
  client: LakefsClient,
  options: CallOptions & { readonly prefix?: string; readonly pageSize?: number } = {},
): AsyncIterable<RepositoryInfo> {
  const { prefix, pageSize, signal } = options
  return paged(
    async (page) => {
      const result = await client.calls.json(
        { operation: 'listRepositories', target: {}, signal },
        (api, init) =>
          api.GET('/repositories', {
            ...init,
            params: { query: { ...page, ...(prefix === undefined ? {} : { prefix }) } },
          }),
        (json) => toPage(json, toRepository),
      )
      return result.value
    },
    { pageSize, what: 'list repositories' },
  )
}

/** The storage namespace stays used for ever: a new repository needs a new one. */
export async function deleteRepository(
  client: LakefsClient,
  repository: RepositoryName,
  options: CallOptions = {},
): Promise<{ readonly deleted: boolean }> {
  const result = await client.calls.json(
    { operation: 'deleteRepository', target: { repository }, signal: options.signal },
    (api, init) => api.DELETE('/repositories/{repository}', { ...init, params: { path: { repository } } }),
    () => undefined,
  )
  return { deleted: result.is === 'done' }
}

/** Which branches take merges only; as patterns. */
export async function readBranchProtection(
  client: LakefsClient,
  repository: RepositoryName,
  options: CallOptions = {},
): Promise<readonly string[]> {
  const result = await client.calls.json(
    { operation: 'getBranchProtectionRules', target: { repository }, signal: options.signal },
    (api, init) =>
      api.GET('/repositories/{repository}/settings/branch_protection', {
        ...init,
        params: { path: { repository } },
      }),
    (json) => (json ?? []).map((rule) => text(rule.pattern, 'pattern')),
  )
  return result.value
}

/** Replaces the rules. The server takes some seconds until they are in force. */
export async function setBranchProtection(
  client: LakefsClient,
  request: { readonly repository: RepositoryName; readonly patterns: readonly string[] },
  options: CallOptions = {},
): Promise<void> {
  const { repository, patterns } = request
  await client.calls.json(
    { operation: 'setBranchProtectionRules', target: { repository }, signal: options.signal },
    (api, init) =>
      api.PUT('/repositories/{repository}/settings/branch_protection', {
        ...init,
        params: { path: { repository } },
        body: patterns.map((pattern) => ({ pattern })),
      }),
    () => undefined,
  )
}

function toRepository(json: components['schemas']['Repository'] | undefined): RepositoryInfo {
  const from: Record<string, unknown> = whole(json as unknown)
  return {
    repository: repositoryName(text(from['id'], 'id')),
    storageNamespace: text(from['storage_namespace'], 'storage_namespace'),
    defaultBranch: text(from['default_branch'], 'default_branch'),
    createdAt: toDate(from['creation_date'], 'creation_date'),
    readOnly: from['read_only'] === true,
  }
}
