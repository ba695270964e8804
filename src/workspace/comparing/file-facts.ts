/** What the file system says about a file without opening it, and what follows from that. */

import { lstatSync, type BigIntStats } from 'node:fs'
import { systemCode } from '../disk-errors.ts'
import type { FileFacts } from '../../tasks/tree-entry.ts'

export function factsOf(stats: BigIntStats): FileFacts {
  return {
    sizeBytes: Number(stats.size),
    mtimeNs: stats.mtimeNs,
    ctimeNs: stats.ctimeNs,
    inode: stats.ino,
  }
}

/** The facts of a regular file; `undefined` if there is none. */
export function readFileFacts(path: string): FileFacts | undefined {
  const stats = readStats(path)
  return stats?.isFile() === true ? factsOf(stats) : undefined
}

function readStats(path: string): BigIntStats | undefined {
  try {
    // Synchronous on purpose: an lstat takes a few microseconds, passing it to another thread takes tens.
    return lstatSync(path, { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    // A directory above it is a file now.
    if (systemCode(error) === 'ENOTDIR') return undefined
    throw error
  }
}

export function sameFacts(a: FileFacts, b: FileFacts): boolean {
  return (
    a.sizeBytes === b.sizeBytes && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs && a.inode === b.inode
  )
}

/** The time of the last change of a file, or `timeNs` if that is later. */
export function laterOf(timeNs: bigint, { ctimeNs, mtimeNs }: FileFacts): bigint {
  const changedNs = ctimeNs > mtimeNs ? ctimeNs : mtimeNs
  return changedNs > timeNs ? changedNs : timeNs
}

export type Suspicion = 'same' | 'changed' | 'look-inside'

/**
 * Whether a file still has the content that was laid out, as far as its facts show.
 *
 * 1. Another size: changed.
 * 2. Another mtime, ctime or inode: perhaps changed. A touched file may have the same content. If the mtime was set back,
 *    the ctime is newer, which no program can set.
 * 3. The same facts, but a ctime or mtime not older than the end of the layout: perhaps changed. The clock of a file system
 *    advances in steps, and an edit within the same step leaves the same times.
 * 4. Otherwise: the same.
 */
export function suspect(options: {
  readonly laidOut: FileFacts
  readonly found: FileFacts
  /** The file system's time after the last file was laid out. */
  readonly layOutEndNs: bigint
}): Suspicion {
  const { laidOut, found, layOutEndNs } = options
  if (laidOut.sizeBytes !== found.sizeBytes) return 'changed'
  if (!sameFacts(laidOut, found)) return 'look-inside'
  if (found.ctimeNs >= layOutEndNs || found.mtimeNs >= layOutEndNs) return 'look-inside'
  return 'same'
}
