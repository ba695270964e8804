/** What can be wrong with a data directory, and a storage that is used after its end. */

import { InvalidError, messageOf, UnavailableError } from '../../../base/errors.ts'
import { nodeFaultOf } from '../../../base/node-fault.ts'
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

const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'SQLITE_FULL'])

/** The error itself, unless the disk is full: then one that says so. */
export function explainFullDisk(doing: string, error: unknown): unknown {
  const fault = nodeFaultOf(error)
  if (fault === undefined || !FULL.has(fault.code)) return error
  return new UnavailableError('embedded/disk-full', `${doing}: ${fault.what}. Nothing was stored`, {
    next: 'Make room on the disk with the data directory, then try again.',
    cause: error,
  })
}

export function closedError(doing: string): UnavailableError {
  return new UnavailableError('embedded/closed', `${doing}: the storage is closed`, {
    next: 'Start the server again.',
  })
}
