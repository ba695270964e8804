/** Reads answers into the values of the port. An error names the field that is missing or wrong. */

import { branchName, isCommitRef, type CommitRef, type MetaRangeId } from '../base/ids.ts'
import type {
  BranchHead,
  Change,
  ChangeKind,
  CommitRecord,
  ListEntry,
  Metadata,
  ObjectStat,
} from '../publication/ports.ts'
import { ShapeError } from '../remote/failures.ts'
import type { components } from './generated/lakefs-api.ts'
import type { Page } from './paging.ts'

type Schemas = components['schemas']

/** The types of the contract say what should be there; only these functions check it. */
type Unread<T> = { readonly [Key in keyof T]?: unknown }

export function toCommit(json: Schemas['Commit']): CommitRecord {
  const from: Unread<Schemas['Commit']> = whole(json)
  const metaRange = text(from.meta_range_id, 'meta_range_id')
  return {
    ref: toCommitRef(from.id, 'id'),
    parents: list(from.parents, 'parents').map((parent) => toCommitRef(parent, 'parents')),
    message: text(from.message, 'message'),
    committer: text(from.committer, 'committer'),
    metadata: toMetadata(from.metadata),
    createdAt: toDate(from.creation_date, 'creation_date'),
    metaRange: metaRange === '' ? '' : (metaRange as MetaRangeId),
    generation: from.generation === undefined ? 0 : number(from.generation, 'generation'),
  }
}

export function toBranchHead(json: Schemas['Branch']): BranchHead {
  const from: Unread<Schemas['Branch']> = whole(json)
  return { branch: branchName(text(from.id, 'id')), head: toTagged(json) }
}

/** Where a tag points, or a branch. */
export function toTagged(json: Schemas['Branch']): CommitRef {
  const from: Unread<Schemas['Branch']> = whole(json)
  return toCommitRef(from.commit_id, 'commit_id')
}

export function toMergeRef(json: Schemas['MergeResult']): CommitRef {
  const from: Unread<Schemas['MergeResult']> = whole(json)
  return toCommitRef(from.reference, 'reference')
}

export function toObjectStat(json: Schemas['ObjectStats']): ObjectStat {
  const from: Unread<Schemas['ObjectStats']> = whole(json)
  return {
    path: text(from.path, 'path'),
    checksum: text(from.checksum, 'checksum'),
    sizeBytes: number(from.size_bytes, 'size_bytes'),
    modifiedAt: toDate(from.mtime, 'mtime'),
    contentType: from.content_type === undefined ? '' : text(from.content_type, 'content_type'),
    metadata: toMetadata(from.metadata),
  }
}

/** With `presign`, the physical address is where the bytes can be had without credentials. */
export function toPhysicalAddress(json: Schemas['ObjectStats']): string {
  const from: Unread<Schemas['ObjectStats']> = whole(json)
  return text(from.physical_address, 'physical_address')
}

export function toListEntry(json: Schemas['ObjectStats']): ListEntry {
  if (json.path_type === 'common_prefix') return { kind: 'prefix', path: text(json.path, 'path') }
  const { physical_address: address }: Unread<Schemas['ObjectStats']> = json
  // Only of a listing, which is never asked for presigned addresses: those must not be shown.
  return {
    kind: 'object',
    ...toObjectStat(json),
    ...(typeof address === 'string' && address !== '' ? { address } : {}),
  }
}

const CHANGE_KINDS: ReadonlySet<unknown> = new Set<ChangeKind>(['added', 'removed', 'changed', 'conflict'])

export function toChange(json: Schemas['Diff']): Change {
  const from: Unread<Schemas['Diff']> = whole(json)
  if (!CHANGE_KINDS.has(from.type)) throw new ShapeError(`"type" is ${JSON.stringify(from.type)}`)
  return {
    path: text(from.path, 'path'),
    change: from.type as ChangeKind,
    sizeBytes: from.size_bytes === undefined ? undefined : number(from.size_bytes, 'size_bytes'),
  }
}

/** What the protocol calls a page. */
export interface RawPage<Item> {
  readonly pagination: Schemas['Pagination']
  readonly results: readonly Item[]
}

/** The items of a page and where the next one begins; `undefined` at the end. */
export function toPage<Item, Read>(json: RawPage<Item>, read: (item: Item) => Read): Page<Read> {
  const from: Unread<RawPage<Item>> = whole(json)
  const pagination: Unread<Schemas['Pagination']> = whole(from.pagination)
  const items = (list(from.results, 'results') as Item[]).map(read)
  return {
    items,
    next: pagination.has_more === true ? text(pagination.next_offset, 'next_offset') : undefined,
  }
}

export function text(value: unknown, name: string): string {
  if (typeof value === 'string') return value
  throw new ShapeError(`"${name}" must be a string`)
}

export function number(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw new ShapeError(`"${name}" must be a number`)
}

export function list(value: unknown, name: string): readonly unknown[] {
  if (Array.isArray(value)) return value as unknown[]
  throw new ShapeError(`"${name}" must be an array`)
}

export function whole<T extends object>(value: T): T
export function whole(value: unknown): Record<string, unknown>
export function whole(value: unknown): unknown {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new ShapeError('it must be a JSON object')
}

export function toDate(value: unknown, name: string): Date {
  return new Date(number(value, name) * 1000)
}

function toCommitRef(value: unknown, name: string): CommitRef {
  const id = text(value, name)
  if (isCommitRef(id)) return id
  throw new ShapeError(`"${name}" must be a commit id`)
}

function toMetadata(value: unknown): Metadata {
  if (value === undefined || value === null) return {}
  const entries = Object.entries(whole(value)).map(([key, entry]) => [key, text(entry, `metadata.${key}`)])
  // Not by assignment: a key may be called `__proto__`.
  return Object.fromEntries(entries) as Metadata
}
