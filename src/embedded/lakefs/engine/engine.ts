/**
 * The values of the storage engine: what it stores and what it refuses. The engine knows nothing of HTTP; `http/` uses
 * it through these types and `LakefsEngine`, knows nothing of SQLite, and alone turns reasons into status codes.
 */

export type EngineReason =
  | 'repository-not-found'
  | 'repository-exists'
  | 'namespace-in-use'
  | 'branch-not-found'
  | 'branch-exists'
  | 'branch-name-is-a-commit'
  | 'default-branch'
  | 'tag-not-found'
  | 'tag-exists'
  | 'ref-not-found'
  /** `^2` of an ordinary commit, or another expression that cannot be followed. */
  | 'bad-ref-expression'
  /** `branch$` where only committed state makes sense. */
  | 'uncommitted-ref'
  | 'object-not-found'
  | 'object-exists'
  | 'protected-branch'
  | 'read-only-repository'
  | 'no-changes'
  | 'dirty-branch'
  /** A merge commit is to be reverted, without the number of the parent to compare with. */
  | 'parent-number-required'
  | 'merge-conflict'
  | 'hook-refused'
  /** An action file of the commit that runs it cannot be read. */
  | 'bad-action-file'
  | 'bad-commit-record'
  | 'commit-exists'
  | 'meta-range-not-found'
  | 'bad-argument'
  | 'too-many-attempts'
  | 'stale-settings'
  /** The metadata is there but the bytes are not. */
  | 'data-missing'

/** A refusal of the engine. */
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
  /** Where the bytes are: `<storage namespace>/data/…`, or an address outside this server that was linked unchecked. */
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

export interface DelimitedPageRequest extends PageRequest {
  /** Keys that share a path up to it are shown once; left out or empty: none. */
  readonly delimiter?: string
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

/** Bytes that are stored durably; no path names them yet. */
export interface StoredBlob {
  readonly physicalAddress: string
  /** Hex MD5 of the content: what lakeFS on a local block store calls the checksum. */
  readonly md5: string
  readonly sizeBytes: number
}

/** What an action hook is given. */
export interface HookEvent {
  readonly type: 'pre-merge' | 'post-merge' | 'pre-commit' | 'post-commit'
  readonly repository: string
  readonly branch: string
  /** The source of a merge as the request named it; the branch itself for a commit. */
  readonly sourceRef: string
  readonly commit: Commit
  /** The action files of the tree that applies. */
  listActionFiles(): readonly Entry[]
}

/**
 * Runs the action files that apply. A pre-hook runs after the commit object is made and before the branch record is
 * written, and again when the branch moved meanwhile. Throws `EngineError('hook-refused' | 'bad-action-file')` to stop the update.
 */
export type HookRunner = (event: HookEvent, read: (entry: Entry) => Promise<Buffer>) => Promise<void>

export interface LogRequest {
  readonly after?: string
  readonly amount: number
  readonly firstParent: boolean
  /** Left out or empty: the first commit. */
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
  /** Unix seconds; left out: now. */
  readonly date?: number | undefined
  readonly allowEmpty: boolean
  /** Commits this tree; left out: what is staged on the branch. */
  readonly sourceMetaRange?: string | undefined
}

export interface MergeInput {
  readonly repository: string
  readonly source: string
  readonly destination: string
  readonly committer: string
  /** Left out or empty: one that names source and destination. */
  readonly message?: string
  readonly metadata: Readonly<Record<string, string>>
  readonly strategy?: 'source-wins' | 'dest-wins' | undefined
  readonly squash: boolean
  readonly allowEmpty: boolean
  /** Also in a read-only repository. */
  readonly force?: boolean | undefined
}

/** One path that a batch deletion refused. */
export interface DeleteRefusal {
  readonly path: string
  readonly reason: EngineReason
  readonly message: string
}
