/** What every upload has in common, whichever way its bytes go: what it is called and what must hold of it. */

import { InvalidError, UnavailableError, UncertainError } from '../base/errors.ts'
import type { RepositoryName } from '../base/ids.ts'
import type { ObjectStat, WriteRequest } from '../publication/ports.ts'
import { corrupted, looksLikeMd5 } from './bodies.ts'
import { quote, type Call } from './failures.ts'
import { operationRow } from './operations.ts'

export type Upload = WriteRequest & { readonly repository: RepositoryName }

/** What the server stores when it is told nothing. */
export const DEFAULT_CONTENT_TYPE = 'application/octet-stream'

export function uploadTarget(upload: Upload): Readonly<Record<string, string>> {
  return { repository: upload.repository, branch: upload.branch, path: upload.path }
}

export function whatOf(upload: Upload): string {
  return `upload ${JSON.stringify(quote(upload.path))} to branch ${upload.branch} of ${upload.repository}`
}

/** What the server says it stored must be what was sent. `md5` is left out where checksums are not comparable. */
export function checkStored(
  call: Call,
  upload: Upload,
  stored: { readonly object: ObjectStat; readonly md5: string | undefined },
): void {
  const { object, md5 } = stored
  const what = whatOf(upload)
  let wrong: UnavailableError | undefined
  if (object.sizeBytes !== upload.body.sizeBytes) {
    const said = `${what}: ${upload.body.sizeBytes} bytes were sent, ${object.sizeBytes} are stored`
    wrong = new UnavailableError('lakefs/short-body', said, { next: 'Try again.' })
  } else if (md5 !== undefined && looksLikeMd5(object.checksum) && md5 !== object.checksum) {
    wrong = corrupted({ what, sizeBytes: object.sizeBytes, md5: object.checksum }, md5)
  }
  if (wrong === undefined) return
  const row = operationRow(call.operation)
  // Sending the same again mends it; but a write that was only to happen on a free path has taken the path.
  if (row.class !== 'look-before-repeat') throw wrong
  throw new UncertainError(wrong.code, wrong.message, {
    read: row.read,
    next: 'Delete the object on its branch and write it again.',
    cause: wrong,
  })
}

/**
 * What cannot travel in a header is refused whichever way the bytes go, so that a change of the storage does not change
 * what may be written.
 */
export function checkMetadata(upload: Upload): void {
  for (const [key, value] of Object.entries(upload.metadata ?? {})) {
    const problem = !METADATA_KEY.test(key)
      ? 'a key has lower-case letters, digits and "-_.~" only'
      : METADATA_VALUE.test(value) && value.trim() === value
        ? undefined
        : 'a value has neither control characters nor blanks at its ends'
    if (problem !== undefined) {
      throw new InvalidError(
        'lakefs/bad-metadata',
        `${whatOf(upload)}: metadata ${JSON.stringify(quote(key))}: ${problem}`,
        { next: 'Encode it, for example as base64.' },
      )
    }
  }
}

const METADATA_KEY = /^[a-z0-9_.~-]+$/
// eslint-disable-next-line no-control-regex -- control characters are what a header cannot hold
const METADATA_VALUE = /^[^\u0000-\u001f\u007f]*$/
