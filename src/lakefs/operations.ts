/**
 * The table of lakeFS: every request perago sends it, and what its responses mean.
 *
 * Decided by status alone, with two hints from the text. They can only make a verdict milder or clearer; when the server
 * words them differently, the careful verdict remains: `predicate failed` (others wrote at the same time, nothing was done)
 * and `invalid API endpoint` (the server does not know the operation).
 *
 * The operations are checked against `openapi/lakefs.yaml` by the compiler and by a test, and are shown in
 * `operations.md`.
 */

import type { Answer, FailureRow, OperationRow, ServerTable } from '../remote/server-table.ts'
import type { Connection } from '../remote/connection.ts'
import type { operations } from './generated/lakefs-api.ts'

/** The two writes that become another promise with `If-None-Match: *` have rows of their own. */
export interface LakefsContract extends operations {
  readonly uploadObjectIfAbsent: operations['uploadObject']
  readonly linkPhysicalAddressIfAbsent: operations['linkPhysicalAddress']
}

export type OperationName = keyof LakefsContract

const OBJECT_READ = 'the object on the branch: whether its checksum and size are those that were sent'

export const OPERATIONS = {
  getConfig: {
    doing: 'read the configuration',
    method: 'GET',
    path: '/config',
    class: 'safe',
  },
  getLakeFSVersion: {
    doing: 'read the version',
    method: 'GET',
    path: '/config/version',
    class: 'safe',
  },

  listRepositories: {
    doing: 'list repositories',
    method: 'GET',
    path: '/repositories',
    class: 'safe',
  },
  createRepository: {
    doing: 'create the repository',
    method: 'POST',
    path: '/repositories',
    class: 'look-before-repeat',
    read: 'the repository of that name, and whether its storage namespace and creation time are yours',
    done: [201],
    values: { 409: 'exists' },
  },
  getRepository: {
    doing: 'read the repository',
    method: 'GET',
    path: '/repositories/{repository}',
    class: 'safe',
    values: { 404: 'missing' },
  },
  deleteRepository: {
    doing: 'delete the repository',
    method: 'DELETE',
    path: '/repositories/{repository}',
    class: 'look-before-repeat',
    read: 'the repository of that name, some seconds later; it can be shown for a while after it is gone',
    done: [204],
    values: { 404: 'missing' },
  },
  getBranchProtectionRules: {
    doing: 'read the branch protection',
    method: 'GET',
    path: '/repositories/{repository}/settings/branch_protection',
    class: 'safe',
  },
  setBranchProtectionRules: {
    doing: 'set the branch protection',
    method: 'PUT',
    path: '/repositories/{repository}/settings/branch_protection',
    class: 'idempotent',
    read: 'the branch protection rules',
    done: [204],
  },

  listBranches: {
    doing: 'list branches',
    method: 'GET',
    path: '/repositories/{repository}/branches',
    class: 'safe',
  },
  createBranch: {
    doing: 'create the branch',
    method: 'POST',
    path: '/repositories/{repository}/branches',
    class: 'look-before-repeat',
    read: 'the branch: whether it exists and what its head is',
    done: [201],
    body: 'any',
    values: { 409: 'exists' },
  },
  getBranch: {
    doing: 'read the branch',
    method: 'GET',
    path: '/repositories/{repository}/branches/{branch}',
    class: 'safe',
    values: { 404: 'missing' },
  },
  deleteBranch: {
    doing: 'delete the branch',
    method: 'DELETE',
    path: '/repositories/{repository}/branches/{branch}',
    class: 'look-before-repeat',
    read: 'the branch: whether it is still there',
    done: [204],
    values: { 404: 'missing' },
  },
  hardResetBranch: {
    doing: 'move the branch',
    method: 'PUT',
    path: '/repositories/{repository}/branches/{branch}/hard_reset',
    class: 'look-before-repeat',
    isSentOnce: true,
    read: 'the head of the branch',
    done: [204],
    values: { 400: 'leads-nowhere' },
  },
  diffBranch: {
    doing: 'read the uncommitted changes',
    method: 'GET',
    path: '/repositories/{repository}/branches/{branch}/diff',
    class: 'safe',
  },

  // Tags never move, so a repetition does no harm; but it would answer "exists already" for our own tag.
  listTags: {
    doing: 'list tags',
    method: 'GET',
    path: '/repositories/{repository}/tags',
    class: 'safe',
  },
  createTag: {
    doing: 'create the tag',
    method: 'POST',
    path: '/repositories/{repository}/tags',
    class: 'look-before-repeat',
    read: 'the tag: whether it is there and where it points',
    done: [201],
    values: { 409: 'exists' },
  },
  getTag: {
    doing: 'read the tag',
    method: 'GET',
    path: '/repositories/{repository}/tags/{tag}',
    class: 'safe',
    values: { 404: 'missing' },
  },

  commit: {
    doing: 'commit',
    method: 'POST',
    path: '/repositories/{repository}/branches/{branch}/commits',
    class: 'look-before-repeat',
    read: 'the head of the branch and its metadata, and what is still uncommitted',
    done: [201],
    values: { 400: 'nothing-or-dirty', 412: 'hook-refused' },
  },
  getCommit: {
    doing: 'read the commit',
    method: 'GET',
    path: '/repositories/{repository}/commits/{commitId}',
    class: 'safe',
    values: { 404: 'missing' },
  },
  createCommitRecord: {
    doing: 'write the commit',
    method: 'POST',
    path: '/repositories/{repository}/commits',
    class: 'look-before-repeat',
    isSentOnce: true,
    read: 'the commit of that id: whether it is there',
    done: [204],
    values: { 409: 'exists' },
  },
  logCommits: {
    doing: 'read the log',
    method: 'GET',
    path: '/repositories/{repository}/refs/{ref}/commits',
    class: 'safe',
  },
  diffRefs: {
    doing: 'compare two commits',
    method: 'GET',
    path: '/repositories/{repository}/refs/{leftRef}/diff/{rightRef}',
    class: 'safe',
  },
  mergeIntoBranch: {
    doing: 'merge',
    method: 'POST',
    path: '/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}',
    class: 'look-before-repeat',
    isSentOnce: true,
    read: "the destination's first-parent log, for a commit with the metadata that was sent",
    values: { 400: 'nothing-or-dirty', 409: 'conflict', 412: 'hook-refused' },
  },

  listObjects: {
    doing: 'list objects',
    method: 'GET',
    path: '/repositories/{repository}/refs/{ref}/objects/ls',
    class: 'safe',
  },
  statObject: {
    doing: 'stat the object',
    method: 'GET',
    path: '/repositories/{repository}/refs/{ref}/objects/stat',
    class: 'safe',
    values: { 404: 'missing' },
  },
  getObject: {
    doing: 'download the object',
    method: 'GET',
    path: '/repositories/{repository}/refs/{ref}/objects',
    class: 'safe',
    done: [200, 206],
    body: 'any',
    values: { 404: 'missing' },
  },
  uploadObject: {
    doing: 'upload the object',
    method: 'POST',
    path: '/repositories/{repository}/branches/{branch}/objects',
    class: 'idempotent',
    read: OBJECT_READ,
    done: [201],
  },
  uploadObjectIfAbsent: {
    doing: 'upload the object if the path is free',
    method: 'POST',
    path: '/repositories/{repository}/branches/{branch}/objects',
    class: 'look-before-repeat',
    read: OBJECT_READ,
    done: [201],
    values: { 412: 'exists' },
  },
  deleteObjects: {
    doing: 'delete objects',
    method: 'POST',
    path: '/repositories/{repository}/branches/{branch}/objects/delete',
    class: 'idempotent',
    read: 'the uncommitted changes of the branch',
  },

  getPhysicalAddress: {
    doing: 'ask where to put the bytes',
    method: 'GET',
    path: '/repositories/{repository}/branches/{branch}/staging/backing',
    class: 'safe',
  },
  linkPhysicalAddress: {
    doing: 'link the uploaded bytes',
    method: 'PUT',
    path: '/repositories/{repository}/branches/{branch}/staging/backing',
    class: 'idempotent',
    read: OBJECT_READ,
  },
  linkPhysicalAddressIfAbsent: {
    doing: 'link the uploaded bytes if the path is free',
    method: 'PUT',
    path: '/repositories/{repository}/branches/{branch}/staging/backing',
    class: 'look-before-repeat',
    read: OBJECT_READ,
    values: { 412: 'exists' },
  },
  // A second start leaves an empty upload behind that no path refers to; the store's own clean-up removes it.
  createPresignMultipartUpload: {
    doing: 'start a multi-part upload',
    method: 'POST',
    path: '/repositories/{repository}/branches/{branch}/staging/pmpu',
    class: 'safe',
    done: [201],
  },
  uploadPart: {
    doing: 'sign the address of a part again',
    method: 'PUT',
    path: '/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}/parts/{partNumber}',
    class: 'safe',
  },
  completePresignMultipartUpload: {
    doing: 'complete the multi-part upload',
    method: 'PUT',
    path: '/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}',
    class: 'look-before-repeat',
    read: OBJECT_READ,
  },
  abortPresignMultipartUpload: {
    doing: 'abort the multi-part upload',
    method: 'DELETE',
    path: '/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}',
    class: 'idempotent',
    read: "the object store's list of unfinished uploads",
    done: [204],
    values: { 404: 'missing' },
  },
} as const satisfies Readonly<Record<OperationName, OperationRow>>

export type LakefsServer = Connection<typeof OPERATIONS, LakefsContract>

const TRY_LATER = 'Try again later; nothing was done.'
const READ_FIRST = 'Before trying again, read ….'
const READ_AGAIN = 'Read the present state and decide again.'

const BAD_REQUEST: FailureRow = {
  kind: 'invalid',
  code: 'lakefs/bad-request',
  next: 'Correct what the server names.',
}

const NOT_LAKEFS: FailureRow = {
  kind: 'invalid',
  code: 'lakefs/not-lakefs',
  next: 'Check the endpoint: it must be the address of a lakeFS server, and no proxy may answer in its place.',
}

/** Proxies and load balancers say these as well, in whatever form: nothing was done either way. */
const SAID_BY_PROXIES: ReadonlySet<number> = new Set([401, 408, 423, 429])

export const LAKEFS: ServerTable<OperationName> = {
  server: 'lakeFS',
  retryLogLevel: 'debug',
  operations: OPERATIONS,
  done: [200],
  statuses: {
    400: BAD_REQUEST,
    401: {
      kind: 'invalid',
      code: 'lakefs/unauthorized',
      next: 'Check the access key id and the secret access key.',
    },
    403: {
      kind: 'refused',
      code: 'lakefs/forbidden',
      next: 'Check the branch protection, whether the repository is read-only, and what the key may do.',
    },
    404: {
      kind: 'missing',
      code: 'lakefs/not-found',
      next: 'Check the names of repository, branch and commit.',
    },
    408: {
      kind: 'unavailable',
      code: 'lakefs/request-timeout',
      next: TRY_LATER,
      mayBeDone: true,
    },
    409: { kind: 'refused', code: 'lakefs/conflict', next: READ_AGAIN },
    410: {
      kind: 'missing',
      code: 'lakefs/gone',
      next: 'The data behind it is gone, or the repository is being deleted; check the storage.',
    },
    412: { kind: 'refused', code: 'lakefs/precondition', next: READ_AGAIN },
    416: {
      kind: 'invalid',
      code: 'lakefs/bad-range',
      next: 'Read the size of the object and ask for a range inside it.',
    },
    423: { kind: 'unavailable', code: 'lakefs/locked', next: TRY_LATER },
    429: { kind: 'unavailable', code: 'lakefs/too-many-requests', next: TRY_LATER },
    501: {
      kind: 'invalid',
      code: 'lakefs/not-supported',
      next: 'Use a server or a storage that supports the operation.',
    },
    // The key-value store of lakeFS can throttle the last of several writes, and a proxy can give up on a server that goes on.
    503: { kind: 'unavailable', code: 'lakefs/overloaded', next: TRY_LATER, mayBeDone: true },
  },
  badRequest: BAD_REQUEST,
  wrongServer: NOT_LAKEFS,
  unreachable: {
    kind: 'unavailable',
    code: 'lakefs/unreachable',
    next: 'Check the endpoint and that the server is running.',
  },
  safe: {
    trouble: {
      kind: 'unavailable',
      code: 'lakefs/server-trouble',
      next: 'Try again; if it stays, read the server log.',
    },
    answerLost: { kind: 'unavailable', code: 'lakefs/answer-lost', next: 'Try again.' },
    notHttp: NOT_LAKEFS,
  },
  unsafe: {
    trouble: { kind: 'uncertain', code: 'lakefs/server-trouble', next: READ_FIRST },
    answerLost: { kind: 'uncertain', code: 'lakefs/answer-lost', next: READ_FIRST },
    unknownAnswer: { kind: 'uncertain', code: 'lakefs/unknown-answer', next: READ_FIRST },
  },
  closed: 'lakefs/client-closed',
  isOwnRefusal: ({ status, json }) => SAID_BY_PROXIES.has(status) || isRefusal(json),
  messageOf,
  exception(operation, answer) {
    const { status } = answer
    const message = messageOf(answer)
    if (status >= 300 && status < 400) return NOT_LAKEFS
    if (status === 404 && message === 'invalid API endpoint') {
      return {
        kind: 'invalid',
        code: 'lakefs/server-too-old',
        next: 'Upgrade the lakeFS server; it does not know this operation.',
      }
    }
    // Each lakeFS has these, whatever is stored in it.
    if (status === 404 && ALWAYS_THERE.has(operation)) return NOT_LAKEFS
    if (status !== 500 || message?.includes('predicate failed') !== true) return undefined
    return {
      kind: 'unavailable',
      code: 'lakefs/contention',
      next: 'Others write to the same branch; try again.',
    }
  },
}

const ALWAYS_THERE: ReadonlySet<OperationName> = new Set<OperationName>([
  'getConfig',
  'getLakeFSVersion',
  'listRepositories',
])

/** A message and nothing else, or of a merge that conflicts a reference. Other servers have other fields, beside one or instead. */
function isRefusal(json: unknown): boolean {
  if (!isDocument(json) || Object.keys(json).length !== 1) return false
  return [json['message'], json['reference']].some((field) => typeof field === 'string')
}

function messageOf({ json }: Answer): string | undefined {
  const message = isDocument(json) ? json['message'] : undefined
  return typeof message === 'string' ? message : undefined
}

function isDocument(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null
}
