/**
 * The engine of the embedded lakeFS-compatible server: what it remembers and the rules by which it changes.
 * It knows nothing of HTTP; `http/` knows nothing of SQLite. This file is the seam between the two.
 *
 * - Reads are synchronous and see one consistent state.
 * - Writes answer only when they are durable. Each is one atomic step; no reader ever sees half of one.
 * - A refusal is an `EngineError` with a reason; `http/` alone turns reasons into status codes.
 */

import type { Readable } from 'node:stream'

export const ENGINE_REASONS = [
  'repository-not-found',
  'repository-exists',
  'namespace-in-use',
  'branch-not-found',
  'branch-exists',
  'branch-name-is-a-commit',
  'default-branch',
  'tag-not-found',
  'tag-exists',
  'ref-not-found',
  /** `^2` of an ordinary commit, or another expression that cannot be followed. */
  'bad-ref-expression',
  /** `branch$` where only committed state makes sense. */
  'uncommitted-ref',
  'object-not-found',
  'object-exists',
  'protected-branch',
  'read-only-repository',
  'no-changes',
  'dirty-branch',
  /** A merge commit is to be reverted or picked, and nobody said against which of its parents. */
  'parent-number-required',
  'merge-conflict',
  'hook-refused',
  /** An action file of the commit that runs it cannot be read. */
  'bad-action-file',
  'bad-commit-record',
  'commit-exists',
  'meta-range-not-found',
  'bad-argument',
  'too-many-attempts',
  'stale-settings',
  /** The metadata is there but the bytes are not. */
  'data-missing',
] as const
export type EngineReason = (typeof ENGINE_REASONS)[number]

export class EngineError extends Error {
  override readonly name = 'EngineError'
  readonly reason: EngineReason

  constructor(reason: EngineReason, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.reason = reason
  }
}

export interface Repository {
  readonly id: string
  readonly storageNamespace: string
  readonly defaultBranch: string
  /** Unix seconds, as everywhere here. */
  readonly createdAt: number
  readonly readOnly: boolean
}

export interface Branch {
  readonly name: string
  readonly commitId: string
  readonly hidden: boolean
}

export interface Tag {
  readonly name: string
  readonly commitId: string
}

export interface Commit {
  readonly id: string
  readonly parents: readonly string[]
  readonly committer: string
  readonly message: string
  readonly createdAt: number
  readonly metaRangeId: string
  readonly metadata: Readonly<Record<string, string>>
  readonly generation: number
  readonly version: number
}

/** What is stored about one object. */
export interface Entry {
  readonly path: string
  /** Where the bytes are: `<storage namespace>/data/…`, or a foreign address that was linked on trust. */
  readonly physicalAddress: string
  readonly checksum: string
  readonly sizeBytes: number
  readonly modifiedAt: number
  readonly contentType: string
  readonly metadata: Readonly<Record<string, string>>
}

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly hasMore: boolean
}

export interface PageRequest {
  readonly prefix?: string
  /** Exclusive; need not exist. Byte order of UTF-8 throughout. */
  readonly after?: string
  readonly amount: number
}

export type Listed =
  ({ readonly kind: 'object' } & Entry) | { readonly kind: 'prefix'; readonly path: string }

export type DiffType = 'added' | 'removed' | 'changed' | 'conflict'

export type Difference =
  | {
      readonly kind: 'object'
      readonly path: string
      readonly type: DiffType
      readonly sizeBytes: number
      /**
       * The entry on the right side. For a removal the one that was removed, as lakeFS shows it; absent only for an
       * uncommitted removal, of which nothing is shown but its path.
       */
      readonly right?: Entry
    }
  | { readonly kind: 'prefix'; readonly path: string }

/** Bytes that are on disk and synced, not yet known by any path. */
export interface StoredBlob {
  readonly physicalAddress: string
  /** Hex MD5 of the content: what lakeFS on a local block store calls the checksum. */
  readonly md5: string
  readonly sizeBytes: number
}

export interface CommitRecordInput {
  readonly commitId: string
  readonly parents: readonly string[]
  readonly committer: string
  readonly message: string
  readonly createdAt: number
  readonly metaRangeId: string
  readonly metadata: Readonly<Record<string, string>>
  readonly generation: number
  readonly version: number
}

/** What an action hook is told. Mirrors what Lua sees as `action`. */
export interface HookEvent {
  readonly type: 'pre-merge' | 'post-merge' | 'pre-commit' | 'post-commit'
  readonly repository: string
  readonly branch: string
  /** The source of a merge as the request named it; the branch itself for a commit. */
  readonly sourceRef: string
  readonly commit: Commit
  /** Reads one object of the tree whose action files apply; undefined when it is not there. */
  listActionFiles(): readonly Entry[]
}

/**
 * Runs the action files that apply. Called inside the optimistic loop, after the commit object is made and before
 * the branch record is written. Throws `EngineError('hook-refused' | 'bad-action-file')` to stop the update.
 */
export type HookRunner = (event: HookEvent, read: (entry: Entry) => Promise<Buffer>) => Promise<void>

export interface LogRequest {
  readonly after?: string
  readonly amount: number
  readonly firstParent: boolean
  readonly stopAt?: string
  readonly objects: readonly string[]
  readonly prefixes: readonly string[]
}

export type ResetRequest =
  | { readonly type: 'reset' }
  | { readonly type: 'object'; readonly path: string }
  | { readonly type: 'common_prefix'; readonly path: string }

export interface CommitInput {
  readonly repository: string
  readonly branch: string
  readonly committer: string
  readonly message: string
  readonly metadata: Readonly<Record<string, string>>
  readonly date?: number
  readonly allowEmpty: boolean
  readonly sourceMetaRange?: string
}

export interface MergeInput {
  readonly repository: string
  readonly source: string
  readonly destination: string
  readonly committer: string
  readonly message?: string
  readonly metadata: Readonly<Record<string, string>>
  readonly strategy?: 'source-wins' | 'dest-wins'
  readonly squash: boolean
  readonly allowEmpty: boolean
  readonly force: boolean
}

/** A page of batch deletion: paths that were refused, in the order they were named. */
export interface DeleteRefusal {
  readonly path: string
  readonly reason: EngineReason
  readonly message: string
}

export interface LakefsEngine {
  // ── repositories
  createRepository(request: {
    name: string
    storageNamespace: string
    defaultBranch: string
    readOnly?: boolean
  }): Promise<Repository>
  getRepository(name: string): Repository
  listRepositories(page: PageRequest): Page<Repository>
  deleteRepository(name: string): Promise<void>

  // ── references
  /** Resolves ids, branches, tags, short ids and `^ ~ @` expressions; `$` throws `uncommitted-ref`. */
  resolve(repository: string, ref: string): string
  createBranch(request: {
    repository: string
    name: string
    source: string
    hidden: boolean
  }): Promise<Branch>
  getBranch(repository: string, name: string): Branch
  listBranches(repository: string, page: PageRequest & { readonly showHidden: boolean }): Page<Branch>
  deleteBranch(repository: string, name: string): Promise<void>
  /** The ref is resolved at the moment of the write. */
  hardReset(request: { repository: string; branch: string; ref: string }): Promise<void>
  resetUncommitted(repository: string, branch: string, what: ResetRequest): Promise<void>
  revert(request: {
    repository: string
    branch: string
    ref: string
    parentNumber: number
    committer: string
    allowEmpty: boolean
  }): Promise<Commit>
  cherryPick(request: {
    repository: string
    branch: string
    ref: string
    parentNumber?: number
    committer: string
  }): Promise<Commit>
  createTag(request: { repository: string; name: string; ref: string }): Promise<Tag>
  getTag(repository: string, name: string): Tag
  listTags(repository: string, page: PageRequest): Page<Tag>
  deleteTag(repository: string, name: string): Promise<void>

  // ── bytes
  /** Streams to disk, hashes on the way, syncs, and only then answers. Never holds a body in memory. */
  storeBlob(repository: string, body: Readable): Promise<StoredBlob>
  openBlob(repository: string, physicalAddress: string, range?: { start: number; end: number }): Readable
  readBlob(repository: string, physicalAddress: string, maxBytes: number): Promise<Buffer>
  blobSize(repository: string, physicalAddress: string): number | undefined
  /** An address in the repository's namespace at which nothing is stored yet, to be given out before the bytes come. */
  reserveAddress(repository: string): string
  /** As `storeBlob`, but known by an address that was reserved; the last one to store there wins. */
  storeBlobAt(repository: string, physicalAddress: string, body: Readable): Promise<StoredBlob>

  // ── objects
  /** `ref` may end in `$` (or be a bare branch name) to see uncommitted objects. */
  stat(repository: string, ref: string, path: string): Entry
  list(repository: string, ref: string, page: PageRequest & { readonly delimiter?: string }): Page<Listed>
  putEntry(request: { repository: string; branch: string; entry: Entry; ifAbsent: boolean }): Promise<Entry>
  setUserMetadata(request: {
    repository: string
    branch: string
    path: string
    metadata: Record<string, string>
  }): Promise<void>
  copyEntry(request: {
    repository: string
    branch: string
    destination: string
    sourceRef: string
    sourcePath: string
  }): Promise<Entry>
  deleteEntry(repository: string, branch: string, path: string): Promise<void>
  deleteEntries(
    repository: string,
    branch: string,
    paths: readonly string[],
  ): Promise<readonly DeleteRefusal[]>

  // ── diffs
  diffRefs(
    request: PageRequest & {
      repository: string
      left: string
      right: string
      type: 'two_dot' | 'three_dot'
      delimiter?: string
    },
  ): Page<Difference>
  diffUncommitted(
    request: PageRequest & { repository: string; branch: string; delimiter?: string },
  ): Page<Difference>

  // ── commits
  commit(input: CommitInput): Promise<Commit>
  writeCommitRecord(repository: string, record: CommitRecordInput): Promise<void>
  getCommit(repository: string, ref: string): Commit
  log(repository: string, ref: string, request: LogRequest): Page<Commit>
  merge(input: MergeInput): Promise<Commit>
  findMergeBase(
    repository: string,
    source: string,
    destination: string,
  ): { source: string; destination: string; base: string }

  // ── settings
  getProtection(repository: string): { readonly patterns: readonly string[]; readonly etag: string }
  /** `ifMatch` is compared with the current etag inside the write. */
  setProtection(repository: string, patterns: readonly string[], ifMatch?: string): Promise<void>

  /** Waits for writes under way, then closes the files. May be called twice. */
  close(): Promise<void>
}
