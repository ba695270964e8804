/** What a file system does to names. Tried out, not guessed from the platform: any directory may be a mount. */

import { lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

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

const COMPOSED = 'Probe-\u00e9'
const DECOMPOSED = 'Probe-e\u0301'
const OTHER_CASE = 'PROBE-\u00e9'

/** Writes a file with a telling name into a new directory `probeDir`, looks for it under other names, and removes it. */
export function probeFileSystem(probeDir: string): FileSystemTraits {
  mkdirSync(probeDir)
  try {
    writeFileSync(join(probeDir, COMPOSED), '')
    return {
      foldsCase: isThere(join(probeDir, OTHER_CASE)),
      foldsUnicode: isThere(join(probeDir, DECOMPOSED)),
      keepsNames: readdirSync(probeDir)[0] === COMPOSED,
      separatesByBackslash: process.platform === 'win32',
      pathMaxBytes: PATH_MAX_BYTES[process.platform] ?? 4095,
    }
  } finally {
    rmSync(probeDir, { recursive: true, force: true })
  }
}

/** One byte of the platform's limit is for the NUL at the end. */
const PATH_MAX_BYTES: Partial<Record<NodeJS.Platform, number>> = {
  darwin: 1023,
  freebsd: 1023,
  linux: 4095,
}

/** What is left of the longest path below `directory`. */
export function traitsBelow(traits: FileSystemTraits, directory: string): FileSystemTraits {
  return { ...traits, pathMaxBytes: traits.pathMaxBytes - Buffer.byteLength(directory) - 1 }
}

/**
 * Two paths with one fold are one file there. Folding more than the file system does is safe, for it only refuses
 * more; so case goes up and down, which also unites the letters that have several small or capital forms.
 */
export function foldPath(path: string, traits: FileSystemTraits): string {
  let folded = path
  if (traits.foldsUnicode) folded = folded.normalize('NFD')
  if (traits.foldsCase) folded = folded.toUpperCase().toLowerCase()
  return traits.foldsUnicode ? folded.normalize('NFD') : folded
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
