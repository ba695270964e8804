/**
 * The object store behind lakeFS, for presigned addresses. The address itself is the permission: no credentials are sent,
 * and neither the address nor the store's own words, which may quote it, are shown.
 */

import type { Readable } from 'node:stream'
import { InvalidError } from '../base/errors.ts'
import type { Connection, OpenedAnswer } from '../remote/connection.ts'
import type { FailureRow, OperationRow, ServerTable } from '../remote/server-table.ts'

const GET = { doing: 'download from the object store', method: 'GET', path: '', class: 'safe' } as const

/** Nothing refers to the bytes yet that are put, so every operation may be repeated. */
const STORE_OPERATIONS = {
  getBytes: { ...GET, body: 'any' },
  getRange: { ...GET, body: 'any', done: [206] },
  putBytes: {
    doing: 'upload to the object store',
    method: 'PUT',
    path: '',
    class: 'safe',
    done: [200, 201, 202, 203, 204],
    body: 'any',
  },
} as const satisfies Readonly<Record<string, OperationRow>>

type StoreOperation = keyof typeof STORE_OPERATIONS

const PRESIGNED_REFUSED: FailureRow = {
  kind: 'unavailable',
  code: 'lakefs/presigned-refused',
  next: 'Check the clocks of this machine and the server, and the store permissions of the lakeFS server.',
}
const TROUBLE: FailureRow = { kind: 'unavailable', code: 'lakefs/store-trouble', next: 'Try again later.' }
const REFUSED: FailureRow = {
  kind: 'invalid',
  code: 'lakefs/store-refused',
  next: 'Check the storage configuration of the lakeFS server.',
}
const UNREACHABLE: FailureRow = {
  kind: 'unavailable',
  code: 'lakefs/store-unreachable',
  next: 'Check that the object store can be reached from here.',
}

export const OBJECT_STORE: ServerTable<StoreOperation> = {
  server: 'the object store',
  retryLogLevel: 'debug',
  operations: STORE_OPERATIONS,
  done: [200],
  statuses: {
    // An address is refused once it is too old: a new one may do.
    400: PRESIGNED_REFUSED,
    401: PRESIGNED_REFUSED,
    403: PRESIGNED_REFUSED,
    404: {
      kind: 'missing',
      code: 'lakefs/gone',
      next: 'The bytes are no longer in the store; check its life-cycle rules.',
    },
    408: TROUBLE,
    429: TROUBLE,
  },
  badRequest: REFUSED,
  wrongServer: REFUSED,
  unreachable: UNREACHABLE,
  // No endpoint that somebody may have typed wrong: a response that is not HTTP is a broken connection like any other.
  safe: { trouble: TROUBLE, answerLost: UNREACHABLE, notHttp: UNREACHABLE },
  unsafe: { trouble: TROUBLE, answerLost: UNREACHABLE, unknownAnswer: REFUSED },
  closed: 'lakefs/client-closed',
  isOwnRefusal: () => true,
  messageOf: () => undefined,
  exception: () => undefined,
}

export type StoreConnection = Connection<typeof STORE_OPERATIONS, Readonly<Record<StoreOperation, object>>>

interface StoreRequest {
  readonly address: string
  /** What the bytes are called in lakeFS. */
  readonly target: object
  readonly signal?: AbortSignal | undefined
}

/** One try. */
export async function getBytes(
  store: StoreConnection,
  request: StoreRequest & { readonly range?: { readonly start: number; readonly end: number } | undefined },
): Promise<OpenedAnswer> {
  const { range } = request
  const headers = range && { range: `bytes=${range.start}-${range.end}` }
  const operation = range === undefined ? 'getBytes' : 'getRange'
  return (await store.open({ ...callOf(request), operation, headers })).value
}

/** One try. Returns the store's own checksum, without quotes. */
export async function putBytes(
  store: StoreConnection,
  request: StoreRequest & {
    readonly body: Uint8Array | Readable
    readonly sizeBytes: number
    readonly contentType?: string
    readonly onStart?: (progress: () => void) => void
  },
): Promise<string | undefined> {
  const { sizeBytes, contentType, body, onStart } = request
  const call = callOf(request)
  const headers = {
    'content-length': String(sizeBytes),
    ...(contentType !== undefined && { 'content-type': contentType }),
    // Azure requires it; other stores ignore it.
    ...(call.address.hostname.endsWith('.blob.core.windows.net') && { 'x-ms-blob-type': 'BlockBlob' }),
  }
  let etag: string | undefined
  await store.once({ ...call, operation: 'putBytes', headers, body, onStart }, (_, head) => {
    etag = unquoted(head.header('etag'))
  })
  return etag === '' ? undefined : etag
}

/** The value of an `etag` header. */
export function unquoted(etag: string | undefined): string | undefined {
  return etag?.replace(/^"(.*)"$/, '$1')
}

function callOf({ address, target, signal }: StoreRequest) {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new InvalidError(
      'lakefs/bad-presigned-address',
      'use a presigned address: the server gave one that is not an http or https address',
      { next: 'Check the storage configuration of the lakeFS server.', details: { ...target } },
    )
  }
  return { address: url, target: { ...target, host: url.host }, signal }
}
