/** Keys that cannot be files inside a directory under exactly this name. */

import { WORKSPACE_NAME_MAX_BYTES } from './limits.ts'

/** How a file system treats names. */
export interface FileSystemTraits {
  /** `A` and `a` are the same file. */
  readonly foldsCase: boolean
  /** Two Unicode forms of a letter (NFC, NFD) are the same file. */
  readonly foldsUnicode: boolean
  /** Names are returned byte for byte as they were written. */
  readonly keepsNames: boolean
  /** A backslash separates directories. */
  readonly separatesByBackslash: boolean
  /** The longest path relative to the directory, in bytes. */
  readonly pathMaxBytes: number
}

/** Most Linux file systems: names are bytes. */
const STRICT_FILE_SYSTEM: FileSystemTraits = {
  foldsCase: false,
  foldsUnicode: false,
  keepsNames: true,
  separatesByBackslash: false,
  pathMaxBytes: 4095,
}

/**
 * Why a path relative to a workspace cannot be used, as the end of a sentence that begins with "it"; `undefined`: it can.
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
    return 'has a backslash or colon, which are special on this file system'
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

/** JavaScript strings may contain halves of surrogate pairs, UTF-8 cannot. */
const LONE_SURROGATE = /\p{Surrogate}/u

function unsafeNameReason(name: string): string | undefined {
  if (name === '') return 'has an empty segment'
  if (name === '.' || name === '..') return `has a segment "${name}"`
  if (Buffer.byteLength(name) > WORKSPACE_NAME_MAX_BYTES) {
    return `has a segment longer than ${WORKSPACE_NAME_MAX_BYTES} bytes`
  }
  return undefined
}
