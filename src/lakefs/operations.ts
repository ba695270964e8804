/**
 * Every request perago makes of lakeFS, and what may be done when its answer does not arrive.
 *
 * - `safe`: reads only, or leaves nothing anybody can see. Repeated freely.
 * - `idempotent`: saying it twice is like saying it once. Repeated; `read` tells what to look at when the last
 *   answer was lost as well.
 * - `look-before-repeat`: a repetition could do harm or lie. Never repeated after it may have been received: the caller
 *   is told what to read.
 *
 * The table is held to `openapi/lakefs.yaml` by the compiler and shown in `operations.md`.
 */

import type { operations } from './generated/lakefs-api.ts'

export type OperationClass = 'safe' | 'idempotent' | 'look-before-repeat'

/** The two writes that become a different promise with `If-None-Match: *` are rows of their own. */
export type OperationName = keyof operations | 'uploadObjectIfAbsent' | 'linkPhysicalAddressIfAbsent'

/** What a status means when the protocol foresees it: a value for the caller, not an error. */
export type ExpectedRefusal =
  | 'missing'
  | 'exists'
  | 'conflict'
  | 'hook-refused'
  /** Which of the two has to be read: the server says the same for both. */
  | 'nothing-or-dirty'
  | 'leads-nowhere'

interface RowBase {
  readonly doing: string
  /** The statuses that say it was done. */
  readonly done: readonly number[]
  readonly values: Readonly<Partial<Record<number, ExpectedRefusal>>>
  /** What comes with success, where it is not a JSON document (or, with 204, nothing). */
  readonly body?: 'text' | 'bytes'
}

export type OperationRow =
  | (RowBase & { readonly class: 'safe' })
  | (RowBase & {
      readonly class: 'idempotent' | 'look-before-repeat'
      /** What shows whether the request took effect. */
      readonly read: string
    })

const OBJECT_READ = 'stat the path on the branch and compare checksum and size with what was sent'

export const OPERATIONS = {
  getConfig: { doing: 'read the configuration', class: 'safe', done: [200], values: {} },
  getLakeFSVersion: { doing: 'read the version', class: 'safe', done: [200], values: {} },

  listRepositories: { doing: 'list repositories', class: 'safe', done: [200], values: {} },
  createRepository: {
    doing: 'create the repository',
    class: 'look-before-repeat',
    read: 'the repository of that name, and whether its storage namespace and creation time are yours',
    done: [201],
    values: { 409: 'exists' },
  },
  getRepository: { doing: 'read the repository', class: 'safe', done: [200], values: { 404: 'missing' } },
  deleteRepository: {
    doing: 'delete the repository',
    class: 'look-before-repeat',
    read: 'the repository of that name, some seconds later; it can be shown for a while after it is gone',
    done: [204],
    values: { 404: 'missing' },
  },
  getBranchProtectionRules: {
    doing: 'read the branch protection',
    class: 'safe',
    done: [200],
    values: {},
  },
  setBranchProtectionRules: {
    doing: 'set the branch protection',
    class: 'idempotent',
    read: 'the branch protection rules',
    done: [204],
    values: {},
  },

  listBranches: { doing: 'list branches', class: 'safe', done: [200], values: {} },
  createBranch: {
    doing: 'create the branch',
    class: 'look-before-repeat',
    read: 'the branch: whether it is there and where it stands',
    done: [201],
    body: 'text',
    values: { 409: 'exists' },
  },
  getBranch: { doing: 'read the branch', class: 'safe', done: [200], values: { 404: 'missing' } },
  deleteBranch: {
    doing: 'delete the branch',
    class: 'look-before-repeat',
    read: 'the branch: whether it is still there',
    done: [204],
    values: { 404: 'missing' },
  },
  hardResetBranch: {
    doing: 'move the branch',
    class: 'look-before-repeat',
    read: 'the head of the branch',
    done: [204],
    values: { 400: 'leads-nowhere' },
  },
  diffBranch: { doing: 'read the uncommitted changes', class: 'safe', done: [200], values: {} },

  // Tags never move, so a repetition does no harm; but it would say "there already" of one's own tag.
  createTag: {
    doing: 'create the tag',
    class: 'look-before-repeat',
    read: 'the tag: whether it is there and where it points',
    done: [201],
    values: { 409: 'exists' },
  },
  getTag: { doing: 'read the tag', class: 'safe', done: [200], values: { 404: 'missing' } },

  commit: {
    doing: 'commit',
    class: 'look-before-repeat',
    read: 'the head of the branch and its metadata, and what is still uncommitted',
    done: [201],
    values: { 400: 'nothing-or-dirty', 412: 'hook-refused' },
  },
  createCommitRecord: {
    doing: 'write the commit record',
    class: 'idempotent',
    read: 'the commit of that id',
    done: [204],
    values: { 409: 'exists' },
  },
  getCommit: { doing: 'read the commit', class: 'safe', done: [200], values: { 404: 'missing' } },
  logCommits: { doing: 'read the log', class: 'safe', done: [200], values: {} },
  diffRefs: { doing: 'compare two commits', class: 'safe', done: [200], values: {} },
  mergeIntoBranch: {
    doing: 'merge',
    class: 'look-before-repeat',
    read: "the destination's first-parent log, for a commit with the metadata that was sent",
    done: [200],
    values: { 400: 'nothing-or-dirty', 409: 'conflict', 412: 'hook-refused' },
  },

  listObjects: { doing: 'list objects', class: 'safe', done: [200], values: {} },
  statObject: { doing: 'stat the object', class: 'safe', done: [200], values: { 404: 'missing' } },
  getObject: {
    doing: 'download the object',
    class: 'safe',
    done: [200, 206],
    body: 'bytes',
    values: { 404: 'missing' },
  },
  uploadObject: {
    doing: 'upload the object',
    class: 'idempotent',
    read: OBJECT_READ,
    done: [201],
    values: {},
  },
  uploadObjectIfAbsent: {
    doing: 'upload the object if the path is free',
    class: 'look-before-repeat',
    read: OBJECT_READ,
    done: [201],
    values: { 412: 'exists' },
  },
  deleteObjects: {
    doing: 'delete objects',
    class: 'idempotent',
    read: 'the uncommitted changes of the branch',
    done: [200],
    values: {},
  },

  getPhysicalAddress: { doing: 'ask where to put the bytes', class: 'safe', done: [200], values: {} },
  linkPhysicalAddress: {
    doing: 'link the uploaded bytes',
    class: 'idempotent',
    read: OBJECT_READ,
    done: [200],
    values: {},
  },
  linkPhysicalAddressIfAbsent: {
    doing: 'link the uploaded bytes if the path is free',
    class: 'look-before-repeat',
    read: OBJECT_READ,
    done: [200],
    values: { 412: 'exists' },
  },
  // A second start leaves a first, empty upload behind that no path knows; the store's own clean-up takes it.
  createPresignMultipartUpload: {
    doing: 'start a multi-part upload',
    class: 'safe',
    done: [201],
    values: {},
  },
  completePresignMultipartUpload: {
    doing: 'complete the multi-part upload',
    class: 'look-before-repeat',
    read: OBJECT_READ,
    done: [200],
    values: {},
  },
  abortPresignMultipartUpload: {
    doing: 'abort the multi-part upload',
    class: 'idempotent',
    read: "the object store's list of unfinished uploads",
    done: [204],
    values: { 404: 'missing' },
  },
} as const satisfies Readonly<Record<OperationName, OperationRow>>

/** What an operation may answer besides success, as far as the protocol foresees it. */
export type RefusalOf<Name extends OperationName> = Name extends unknown
  ? (typeof OPERATIONS)[Name]['values'][keyof (typeof OPERATIONS)[Name]['values']] & ExpectedRefusal
  : never

/** The row of an operation, with the literal types widened to the common shape. */
export function operationRow(operation: OperationName): OperationRow {
  return OPERATIONS[operation]
}
