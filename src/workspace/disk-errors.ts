/** Errors of a full or failing disk as errors of perago. */

import { InvalidError, messageOf, UnavailableError, type PeragoError } from '../base/errors.ts'

const FULL = new Set(['ENOSPC', 'EDQUOT'])

/** The code of an error of the operating system, such as `ENOENT`. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code } = error as NodeJS.ErrnoException
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : undefined
}

/** `undefined` if the error is not one of the operating system. */
export function asDiskError(doing: string, error: unknown): PeragoError | undefined {
  const code = systemCode(error)
  if (code === undefined) return undefined
  if (FULL.has(code)) {
    return new UnavailableError('workspace/disk-full', `${doing}: the disk is full (${code})`, {
      cause: error,
      details: { systemCode: code },
      next: 'Free some space below the worker root, or move the root to a larger disk.',
    })
  }
  return new UnavailableError('workspace/disk-failed', `${doing}: the file system answered ${code}`, {
    cause: error,
    details: { systemCode: code },
    next: 'Check the worker root: its permissions, its free inodes, and the disk it is on.',
  })
}

/** The same, for errors that cannot have another source. */
export function diskError(doing: string, error: unknown): PeragoError {
  return (
    asDiskError(doing, error) ??
    new InvalidError('workspace/bad-directory', `${doing}: ${messageOf(error)}`, { cause: error })
  )
}
