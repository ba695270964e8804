/** Which keys cannot be files of a directory, exactly and without reaching outside it. */

import { WORKSPACE_NAME_MAX_BYTES } from './limits.ts'

/** What a file system does to names. */
export interface FileSystemTraits {
  /** `A` and `a` are one file. */
  readonly foldsCase: boolean
  /** One letter written in two ways of Unicode (NFC, NFD) is one file. */
  readonly foldsUnicode: boolean
  /** Names come back byte for byte as they were given. */
  readonly keepsNames: boolean
  /** A backslash ends a directory's name. */
  readonly separatesByBackslash: boolean
  /** The longest path relative to the directory, in bytes. */
  readonly pathMaxBytes: number
}

/** What most Linux file systems do: nothing. */
export const STRICT_FILE_SYSTEM: FileSystemTraits = {
  foldsCase: false,
  foldsUnicode: false,
  keepsNames: true,
  separatesByBackslash: false,
  pathMaxBytes: 4095,
}

/**
 * Says what is wrong with a path relative to a workspace, as the end of a sentence that begins with "it".
 * `undefined`: nothing is.
 */
export function unsafeReason(
  path: string,
  traits: FileSystemTraits = STRICT_FILE_SYSTEM,
): string | undefined {
  if (path === '') return 'is the directory itself'
  if (path.startsWith('/')) return 'begins with a slash'
  if (path.endsWith('/')) return 'ends with a slash, so it would be a directory'
  if (path.includes('\0')) return 'has a NUL character'
  if (LONE_SURROGATE.test(path)) return 'is not well-formed Unicode'
  if (traits.separatesByBackslash && /[\\:]/.test(path))
    return 'has a backslash or colon, which mean something here'
  if (!traits.keepsNames && path.normalize('NFD') !== path) return 'would be renamed by this file system'
  for (const name of path.split('/')) {
    const reason = unsafeNameReason(name)
    if (reason !== undefined) return reason
  }
  if (Buffer.byteLength(path) > traits.pathMaxBytes) {
    return `is longer than the ${traits.pathMaxBytes} bytes that are left for it below this directory`
  }
  return undefined
}

/** JavaScript's text may hold halves of a character, which UTF-8 cannot. */
const LONE_SURROGATE = /\p{Surrogate}/u

function unsafeNameReason(name: string): string | undefined {
  if (name === '') return 'has an empty segment'
  if (name === '.' || name === '..') return `has a segment "${name}"`
  if (Buffer.byteLength(name) > WORKSPACE_NAME_MAX_BYTES) {
    return `has a segment longer than ${WORKSPACE_NAME_MAX_BYTES} bytes`
  }
  return undefined
}
