/** What the file system says of a file without opening it, and what can be concluded from it. */

import { lstatSync, type BigIntStats } from 'node:fs'
import type { FileFacts } from '../../tasks/tree-entry.ts'

export function factsOf(stats: BigIntStats): FileFacts {
  return {
    sizeBytes: Number(stats.size),
    mtimeNs: stats.mtimeNs,
    ctimeNs: stats.ctimeNs,
    inode: stats.ino,
  }
}

/** The facts of a regular file; `undefined` when there is none, or something else has its name. */
export function readFileFacts(path: string): FileFacts | undefined {
  // Synchronous on purpose: an lstat takes a few microseconds, handing it to another thread takes tens.
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return stats?.isFile() === true ? factsOf(stats) : undefined
}

export function sameFacts(a: FileFacts, b: FileFacts): boolean {
  return (
    a.sizeBytes === b.sizeBytes && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs && a.inode === b.inode
  )
}

export type Suspicion = 'same' | 'changed' | 'look-inside'

/**
 * Whether a file still holds what was laid out, as far as its facts tell.
 *
 * 1. Another size: changed.
 * 2. Another mtime, ctime or inode: perhaps. A touched file need not differ, and a file whose mtime was set back has a
 *    newer ctime, which no program can set.
 * 3. The same facts, but a ctime or mtime not older than the end of the layout: perhaps. The clock of a file system
 *    moves in steps, and an edit within the same step leaves the same times.
 * 4. Otherwise it is the same.
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
