/**
 * Files and directories that only their owner may use. The metadata have what users store about their data, and the secret that
 * tokens are signed with lies beside them: neither the umask nor an older directory may open them to others.
 */

import { chmodSync, closeSync, openSync, statSync } from 'node:fs'
import { RefusedError } from '../../base/errors.ts'

const OTHERS_MAY = 0o077

/** Makes the file, unless it exists, before a library makes it with the modes of the umask. */
export function makePrivateFile(file: string): void {
  closeSync(openSync(file, 'a', 0o600))
}

/** Takes from others what they may do. Returns the mode it had when that was something. */
export function makePrivate(path: string): number | undefined {
  if (process.platform === 'win32') return undefined
  const before = modeOf(path)
  if ((before & OTHERS_MAY) === 0) return undefined
  try {
    chmodSync(path, before & ~OTHERS_MAY)
  } catch (error) {
    throw open(path, before, error)
  }
  // Some file systems have no modes of their own and say nothing.
  if ((modeOf(path) & OTHERS_MAY) !== 0) throw open(path, before)
  return before
}

/** A directory that is somebody else's, such as a mounted one, is left as it is: what is in it is private by itself. */
export function makeOwnDirectoryPrivate(directory: string): void {
  if (statSync(directory).uid === process.geteuid?.()) makePrivate(directory)
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o777
}

function open(path: string, mode: number, cause?: unknown): RefusedError {
  return new RefusedError(
    'embedded/open-to-others',
    `open ${path}: others may use it (mode ${mode.toString(8)}), and this user may not change that`,
    {
      details: { path },
      next: 'Run "chmod -R go= " on the data directory as its owner, or name one on a file system with modes.',
      cause,
    },
  )
}
