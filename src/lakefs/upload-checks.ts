/** What all uploads have in common, whichever way their bytes go. */

import { InvalidError, UnavailableError, UncertainError } from '../base/errors.ts'
import type { CallOptions, ObjectStat, WriteRequest } from '../publication/ports.ts'
import { quote } from '../remote/failures.ts'
import type { OperationRow } from '../remote/server-table.ts'
import { corrupted, looksLikeMd5 } from './bodies.ts'
import type { RepoContext } from './context.ts'
import { OPERATIONS, type OperationName } from './operations.ts'

/** What the server stores when it is told nothing. */
export const DEFAULT_CONTENT_TYPE = 'application/octet-stream'

/** `isMd5`: a checksum of the store that looks like an MD5 is one. */
export type Uploading = CallOptions & { readonly isMd5: boolean }

export function uploadNames(
  { repository }: RepoContext,
  { branch, path }: WriteRequest,
): { readonly repository: string; readonly branch: string; readonly path: string } {
  return { repository, branch, path }
}

export function whatOf({ repository }: RepoContext, { branch, path }: WriteRequest): string {
  return `upload ${JSON.stringify(quote(path))} to branch ${branch} of ${repository}`
}

/** What the server says it stored must be what was sent. `md5` is left out where checksums are not comparable. */
export function checkStored(
  what: string,
  { body }: WriteRequest,
  stored: {
    readonly operation: OperationName
    readonly object: ObjectStat
    readonly md5: string | undefined
  },
): void {
  const { operation, object, md5 } = stored
  let wrong: UnavailableError | undefined
  if (object.sizeBytes !== body.sizeBytes) {
    const said = `${what}: ${body.sizeBytes} bytes were sent, ${object.sizeBytes} are stored`
    wrong = new UnavailableError('lakefs/short-body', said, { next: 'Try again.' })
  } else if (md5 !== undefined && looksLikeMd5(object.checksum) && md5 !== object.checksum) {
    wrong = corrupted({ what, sizeBytes: object.sizeBytes, md5: object.checksum }, md5)
  }
  if (wrong === undefined) return
  const row: OperationRow = OPERATIONS[operation]
  // Sending it again repairs it; but a write that was to happen on a free path only has taken the path.
  if (row.class !== 'look-before-repeat') throw wrong
  throw new UncertainError(wrong.code, wrong.message, {
    read: row.read,
    next: 'Delete the object on its branch and write it again.',
    cause: wrong,
  })
}

/** The store's checksum of one piece, where it is known to be the MD5 of it. */
export function checkPiece(piece: {
  readonly what: string
  readonly sizeBytes: number
  readonly etag: string | undefined
  readonly md5: string
  readonly isMd5: boolean
}): void {
  const { what, sizeBytes, etag, md5, isMd5 } = piece
  if (!isMd5 || etag === undefined || !looksLikeMd5(etag) || etag === md5) return
  throw corrupted({ what, sizeBytes, md5: etag }, md5)
}

/** What cannot be sent as a header is refused on every way, so that a change of the storage changes nothing here. */
export function checkMetadata(context: RepoContext, upload: WriteRequest): void {
  for (const [key, value] of Object.entries(upload.metadata ?? {})) {
    const problem = !METADATA_KEY.test(key)
      ? 'a key may have lower-case letters, digits and "-_.~" only'
      : METADATA_VALUE.test(value) && value.trim() === value
        ? undefined
        : 'a value may not have control characters, nor blanks at its ends'
    if (problem !== undefined) {
      throw new InvalidError(
        'lakefs/bad-metadata',
        `${whatOf(context, upload)}: metadata ${JSON.stringify(quote(key))}: ${problem}`,
        { next: 'Encode it, for example as base64.' },
      )
    }
  }
}

const METADATA_KEY = /^[a-z0-9_.~-]+$/
// eslint-disable-next-line no-control-regex -- control characters are what a header cannot hold
const METADATA_VALUE = /^[^\u0000-\u001f\u007f]*$/
