/** What a file system does to names: tested, not derived from the platform, because any directory may be a mount. */

import { lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FileSystemTraits } from '../../tasks/unsafe-path.ts'

const COMPOSED = 'Probe-\u00e9'
const DECOMPOSED = 'Probe-e\u0301'
const OTHER_CASE = 'PROBE-\u00e9'

/** Writes a file into a new directory `probeDir`, looks for it under other names, and removes it. */
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
 * Two paths with the same fold are one file. Folding more than the file system does is safe, because it only refuses
 * more; so case is folded up and down, which also unites letters that have several small or capital forms.
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
