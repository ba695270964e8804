/**
 * What publication needs of a versioned repository. The caller owns this interface; `lakefs/` meets it.
 *
 * An expected response (nothing to commit, a conflict, a moved head) is a value. What is thrown is a `PeragoError`:
 * `missing` (repository, branch or ref does not exist), `refused` (protected branch, read-only), `unavailable` (surely
 * not done), `uncertain` (sent, response lost; `read` says what to look at), `invalid`, `defect`.
 */

import type { Readable } from 'node:stream'
import type { BranchName, CommitRef, MetaRangeId, RepositoryName } from '../base/ids.ts'

export type Metadata = Readonly<Record<string, string>>

export interface CallOptions {
  /** Cuts the request. Throws `uncertain` where it may have taken effect, otherwise the reason of the signal. */
  readonly signal?: AbortSignal | undefined
  /** Given to a guard: what it reads belongs to a branch write and never queues behind anything else. */
  readonly lane?: 'branch-write' | undefined
}

/** What a branch write depends on. A repository asks it once the write has its place, and sends nothing without its word. */
export interface WriteGuard {
  /**
   * Reads what the write depends on. `false`: the write is not wanted any more, and nothing is sent; throws when it is
   * forbidden. Called again after `mayBegin` said no.
   */
  confirm(options: CallOptions): Promise<boolean>
  /** Called when the connection stands, in the moment before the first byte is sent. `false`: what was read is too old. */
  mayBegin(): boolean
}

export interface WriteOptions extends CallOptions {
  readonly guard?: WriteGuard
}

export interface BranchHead {
  readonly branch: BranchName
  readonly head: CommitRef
}

export interface CommitRecord {
  readonly ref: CommitRef
  readonly parents: readonly CommitRef[]
  readonly message: string
  readonly committer: string
  readonly metadata: Metadata
  readonly createdAt: Date
  /** Empty for the first commit of a repository. */
  readonly metaRange: MetaRangeId | ''
  readonly generation: number
}

export type DetachedCommit = Omit<CommitRecord, 'ref' | 'metaRange'> & { readonly metaRange: MetaRangeId }

export interface ObjectStat {
  readonly path: string
  /** Opaque: compare for equality only. On some stores it is the MD5 of the content, on others it is not. */
  readonly checksum: string
  readonly sizeBytes: number
  readonly modifiedAt: Date
  readonly contentType: string
  readonly metadata: Metadata
  /** Where the store keeps the bytes, where the server tells: one address, one content. */
  readonly address?: string
}

export type ListEntry =
  ({ readonly kind: 'object' } & ObjectStat) | { readonly kind: 'prefix'; readonly path: string }

export interface ListOptions extends CallOptions {
  /** Only paths that start with this text. Default: all. */
  readonly prefix?: string
  /** Exclusive; need not exist. */
  readonly after?: string
  /** Usually `/`: what has it after the prefix is listed as one entry of kind `prefix`. Default: every object is listed. */
  readonly delimiter?: string
  /** How many entries to ask for in one page; the iterator asks for as many pages as there are. */
  readonly pageSize?: number
}

export type DiffOptions = Omit<ListOptions, 'delimiter'>

export type ChangeKind = 'added' | 'removed' | 'changed' | 'conflict'

export interface Change {
  readonly path: string
  readonly change: ChangeKind
  readonly sizeBytes: number | undefined
}

export interface ByteRange {
  readonly start: number
  /** Inclusive, like the Range header. */
  readonly end?: number
}

export interface OpenedObject {
  readonly checksum: string
  /** The bytes of `body`: of the range, when one was asked for. */
  readonly sizeBytes: number
  readonly contentType: string
  /** Fails with `lakefs/checksum-mismatch` or `lakefs/short-body` when what arrived is not what was stored. */
  readonly body: Readable
}

/** Receives the bytes of one try of a download, piece by piece. The next piece waits until a returned promise resolves. */
export type DownloadSink = ((piece: Uint8Array) => Promise<void> | undefined) & {
  /** Hex MD5 of all that it received, for `verify: 'by-sink'`; called at the end. */
  readonly md5?: () => Promise<string>
}

export interface DownloadOptions extends CallOptions {
  /** From the listing. Small objects are read with the fewest requests, large ones at the highest rate. */
  readonly sizeBytes?: number
  /**
   * Whether the bytes are compared with the checksum, where it is comparable. Their number always is. `by-sink`: the
   * sink computes their MD5, perhaps in another thread.
   */
  readonly verify?: boolean | 'by-sink'
}

/** An object that is to become a file. */
export interface FileDownload {
  /** The caller's, unlike any other of the same call. */
  readonly id: number
  readonly path: string
  /** Absolute. Nothing is there, and its directory is. */
  readonly file: string
  /** These two from the listing. */
  readonly sizeBytes: number
  readonly checksum: string
  /** Whether the MD5 of the bytes is needed in any case. */
  readonly wantsMd5: boolean
}

/** A new file, and what the file system says about it. */
export interface DownloadedFile {
  readonly id: number
  readonly sizeBytes: number
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  readonly inode: bigint
  /** In hexadecimal; set if it was wanted. */
  readonly md5: string | undefined
}

export interface DownloadFilesOptions extends CallOptions {
  /** How many files and bytes there are. */
  readonly files: number
  readonly bytes: number
  /** How many are fetched in parallel at most. */
  readonly inFlight?: number | undefined
}

/** A body that can be sent again when the first try surely did nothing: opened again for each try. */
export interface UploadBody {
  readonly sizeBytes: number
  /** Of the bytes that must arrive, in hexadecimal; computed while they are sent if left out. */
  readonly md5?: string
  open(): Readable | Uint8Array
}

export interface WriteRequest {
  readonly branch: BranchName
  readonly path: string
  readonly body: UploadBody
  readonly contentType?: string | undefined
  /** Keys in lower case, values on one line: they may be sent as headers. */
  readonly metadata?: Metadata | undefined
  /** Create only when the path is absent; an existing object gives `{ written: false }`. */
  readonly ifAbsent?: boolean
}

export type WriteOutcome =
  | { readonly written: true; readonly object: ObjectStat }
  | { readonly written: false; readonly reason: 'exists' }

export interface CommitRequest {
  readonly branch: BranchName
  readonly message: string
  readonly metadata?: Metadata
  readonly allowEmpty?: boolean
  /** Commit exactly this tree on the branch's head; the branch must have no uncommitted changes. */
  readonly sourceMetaRange?: MetaRangeId
}

export type CommitOutcome =
  | { readonly committed: true; readonly commit: CommitRecord }
  | { readonly committed: false; readonly reason: 'nothing-to-commit' | 'dirty-branch' }
  | { readonly committed: false; readonly reason: 'hook-refused'; readonly message: string }

export interface MergeRequest {
  /** A commit, because a branch could move between the decision and the merge. */
  readonly source: CommitRef
  readonly into: BranchName
  readonly message?: string
  readonly metadata?: Metadata
  readonly squash?: boolean
  readonly allowEmpty?: boolean
  readonly strategy?: 'source-wins' | 'dest-wins'
  /** Also where nothing would change, and in a repository that is read-only. */
  readonly force?: boolean
}

export type MergeOutcome =
  | { readonly merged: true; readonly ref: CommitRef }
  | { readonly merged: false; readonly reason: 'conflict' | 'nothing-to-merge' | 'dirty-target' | 'withheld' }
  | { readonly merged: false; readonly reason: 'hook-refused'; readonly message: string }

export interface MoveRequest {
  readonly branch: BranchName
  /** The branch moves only if this is its head. */
  readonly expectedHead: CommitRef
  readonly to: CommitRef
}

/**
 * lakeFS has no conditional reset: `soft` means read, decide, act, with a small window between. `moved: true`
 * is only said when the branch was read afterwards and stood at `to`. `head` is `undefined` when the guard said no.
 */
export type MoveOutcome =
  | { readonly moved: true; readonly strength: 'soft' }
  | { readonly moved: false; readonly head: CommitRef | undefined }

/**
 * The target of a hard claim is the third parent of the head's second parent. A soft one leads there by a longer way, `claims.ts`,
 * of which one step has the number that its maker has chosen: neither is ever collapsed as the other, nor as another soft one.
 */
export interface CollapseRequest {
  readonly branch: BranchName
  readonly claim: ClaimShape
}

/** Whether the server compared the head when the claim was merged, or its maker afterwards; then it has a width, from 3 on. */
export type ClaimShape = 'hard' | { readonly width: number }

/** `collapsed: false`: the head of the branch is no claim, and stays. */
export interface CollapseOutcome {
  readonly collapsed: boolean
}

export interface TagRequest {
  /** Letters, digits, `_`, `-` and `.`; permanent. */
  readonly tag: string
  readonly at: CommitRef
}

/** `created: false`: a tag of that name is there already; `at` is where it points. It is never moved. */
export type TagOutcome = { readonly created: true } | { readonly created: false; readonly at: CommitRef }

export interface LogOptions extends CallOptions {
  /** Follows the first parent of each commit only, so that commits that came by a merge are left out. Default: false. */
  readonly firstParent?: boolean
  /** At most this many commits in all. */
  readonly limit?: number
  /** The last commit to show; the walk ends with it. */
  readonly stopAt?: CommitRef
}

export interface VersionedRepo {
  readonly repository: RepositoryName

  /** `created: false` when a branch of that name is there already, whatever it points at. */
  createBranch(
    request: { readonly branch: BranchName; readonly from: CommitRef; readonly hidden?: boolean },
    options?: CallOptions,
  ): Promise<{ readonly created: boolean }>
  /** `undefined` when there is no such branch. */
  readBranch(branch: BranchName, options?: CallOptions): Promise<BranchHead | undefined>
  listBranches(
    request?: { readonly prefix?: string; readonly hidden?: boolean; readonly pageSize?: number },
    options?: CallOptions,
  ): AsyncIterable<BranchHead>
  deleteBranch(branch: BranchName, options?: CallOptions): Promise<{ readonly deleted: boolean }>
  /**
   * Sent once, whatever the answer, and never behind transfers; the caller looks and decides again. A guard looks in place
   * of the repository.
   */
  moveBranch(request: MoveRequest, options?: WriteOptions): Promise<MoveOutcome>

  /**
   * Moves the branch to where a claim of this shape leads (`CollapseRequest`), which is resolved at the write. No commit that
   * the server makes has a third parent, so on any other head nothing moves. Sent once; doing it twice does no harm.
   */
  collapseClaim(request: CollapseRequest, options?: CallOptions): Promise<CollapseOutcome>
  /** Whether the branch may be reset: `false` where it is protected. Asked by a reset that leads nowhere on any head. */
  takesReset(branch: BranchName, options?: CallOptions): Promise<boolean>

  /** A tag keeps a commit reachable that no branch holds any more. */
  createTag(request: TagRequest, options?: CallOptions): Promise<TagOutcome>

  /** `undefined` when there is no such commit. */
  readCommit(ref: CommitRef, options?: CallOptions): Promise<CommitRecord | undefined>
  log(from: CommitRef | BranchName, options?: LogOptions): AsyncIterable<CommitRecord>

  list(at: CommitRef | BranchName, options?: ListOptions): AsyncIterable<ListEntry>
  stat(at: CommitRef | BranchName, path: string, options?: CallOptions): Promise<ObjectStat | undefined>
  /** `undefined` when there is no such object. */
  read(
    at: CommitRef | BranchName,
    path: string,
    options?: CallOptions & { readonly range?: ByteRange },
  ): Promise<OpenedObject | undefined>

  /**
   * The whole object, passed on as it arrives: less work than a stream, and a broken connection is tried again. `open`
   * gives a new sink for each try; what an earlier one received is discarded. `undefined` when there is no such object.
   * Left out by a repository that has no faster way than `read`.
   */
  download?(
    at: CommitRef | BranchName,
    path: string,
    open: () => DownloadSink,
    options?: DownloadOptions,
  ): Promise<Pick<OpenedObject, 'checksum' | 'sizeBytes'> | undefined>

  /**
   * Many whole objects into new files, verified like any download, with little work for each. It does what goes without any
   * trouble: of an object for which `onFile` was not called nothing is left, and it is to be downloaded. Only an abort is an
   * error; when this has ended, nothing is written any more.
   */
  downloadFiles?(
    at: CommitRef,
    files: Iterable<FileDownload>,
    onFile: (file: DownloadedFile) => void,
    options: DownloadFilesOptions,
  ): Promise<void>

  write(request: WriteRequest, options?: CallOptions): Promise<WriteOutcome>
  /** A missing object is no error, a missing branch is. Split into as many requests as the server's limit needs. */
  deleteObjects(branch: BranchName, paths: Iterable<string>, options?: CallOptions): Promise<void>

  /** What changed from one commit to the other, as the two trees stand (two-dot). */
  diff(from: CommitRef, to: CommitRef, options?: DiffOptions): AsyncIterable<Change>

  commit(request: CommitRequest, options?: CallOptions): Promise<CommitOutcome>
  /**
   * Writes a commit that no branch holds, with any parents. Its id follows from its fields, so that the same twice is one
   * commit. Times count in whole seconds. Sent once.
   */
  writeCommit(commit: DetachedCommit, options?: CallOptions): Promise<CommitRef>
  /** Sent once, like `moveBranch`. */
  merge(request: MergeRequest, options?: WriteOptions): Promise<MergeOutcome>
}
