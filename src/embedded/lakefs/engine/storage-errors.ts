/** What can be wrong with a data directory, and a storage that is used after its end. */

import { InvalidError, messageOf, UnavailableError } from '../../../base/errors.ts'
import { nextAfter, type SqliteTrouble } from '../../../base/sqlite-trouble.ts'

export function corrupt(file: string, what: string, cause?: unknown): InvalidError {
  return new InvalidError('embedded/corrupt-data-dir', `open ${file}: ${what}`, {
    details: { file },
    next: 'Restore the data directory from a copy, or move it away to start with an empty one.',
    cause,
  })
}

/** The disk is full, fails or may not be written: nothing says that the data is damaged. */
export function unavailable(
  file: string,
  trouble: SqliteTrouble | undefined,
  cause: unknown,
): UnavailableError {
  return new UnavailableError('embedded/unavailable-data-dir', `open ${file}: ${messageOf(cause)}`, {
    details: { file },
    next: nextAfter(trouble, file),
    cause,
  })
}

export function unsupported(file: string, kind: string, version: unknown, known: number): InvalidError {
  return new InvalidError(
    'embedded/unsupported-data-dir',
    `open ${file}: it has ${kind} version ${String(version)}, this program knows ${known}`,
    { details: { file, version }, next: 'Use the version of perago that wrote this directory.' },
  )
}

export function closedError(doing: string): UnavailableError {
  return new UnavailableError('embedded/closed', `${doing}: the storage is closed`, {
    next: 'Start the server again.',
  })
}
