/** The engine's values as the documents lakeFS sends. */

import { EMBEDDED_PAGE_MAX } from '../../limits.ts'
import type { Branch, Commit, Difference, Entry, Listed, Page, Repository, Tag } from '../engine/engine.ts'
import { json, type Answer } from './answer.ts'

export function renderRepository(repository: Repository): object {
  return {
    creation_date: repository.createdAt,
    default_branch: repository.defaultBranch,
    id: repository.id,
    read_only: repository.readOnly,
    storage_id: '',
    storage_namespace: repository.storageNamespace,
  }
}

export function renderRef(ref: Branch | Tag): object {
  return { commit_id: ref.commitId, id: ref.name }
}

export function renderCommit(commit: Commit): object {
  return {
    committer: commit.committer,
    creation_date: commit.createdAt,
    generation: commit.generation,
    id: commit.id,
    message: commit.message,
    meta_range_id: commit.metaRangeId,
    metadata: commit.metadata,
    parents: commit.parents,
    version: commit.version,
  }
}

export function renderEntry(entry: Entry, options: { readonly userMetadata?: boolean } = {}): object {
  return {
    checksum: entry.checksum,
    content_type: entry.contentType,
    metadata: options.userMetadata === false ? {} : entry.metadata,
    mtime: entry.modifiedAt,
    path: entry.path,
    path_type: 'object',
    physical_address: entry.physicalAddress,
    size_bytes: entry.sizeBytes,
  }
}

/** As in a listing: unlike in a stat, metadata is left out when there is none. */
export function renderListed(listed: Listed, options: { readonly userMetadata: boolean }): object {
  if (listed.kind === 'prefix') {
    return {
      checksum: '',
      mtime: 0,
      path: listed.path,
      path_type: 'common_prefix',
      physical_address: '',
    }
  }
  const { metadata, ...rest } = renderEntry(listed) as { metadata: Record<string, string> }
  return options.userMetadata && Object.keys(metadata).length > 0 ? { ...rest, metadata } : rest
}

export function renderDifference(difference: Difference, options: { readonly rightStats: boolean }): object {
  if (difference.kind === 'prefix') {
    return { path: difference.path, path_type: 'common_prefix', type: 'prefix_changed' }
  }
  const { right } = difference
  return {
    path: difference.path,
    path_type: 'object',
    size_bytes: difference.sizeBytes,
    type: difference.type,
    ...(options.rightStats && right !== undefined
      ? {
          right: {
            checksum: right.checksum,
            content_type: right.contentType,
            metadata: right.metadata,
            mtime: right.modifiedAt,
          },
        }
      : {}),
  }
}

/** One page; `offsetOf` names the item after which the next page starts. */
export function renderPage<Item>(
  page: Page<Item>,
  offsetOf: (item: Item) => string,
  render: (item: Item) => object,
): Answer {
  const last = page.items.at(-1)
  return json(200, {
    pagination: {
      has_more: page.hasMore,
      max_per_page: EMBEDDED_PAGE_MAX,
      next_offset: page.hasMore && last !== undefined ? offsetOf(last) : '',
      results: page.items.length,
    },
    results: page.items.map(render),
  })
}
