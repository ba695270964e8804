/**
 * Which file systems change the times of a file with every edit. Not all do: on tmpfs a program that maps a file shared, reads
 * it and then writes to it leaves size, times and inode as they were.
 *
 * The table has only file systems on which mapped writes of many kinds were tried and always seen. Everywhere else files are
 * compared by their content, and no directory is kept for the next attempt.
 */

import { lstatSync, readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { deviceName, parseMounts } from '../mounts.ts'
import { isMappedWriteSeen } from './try-mapped-write.ts'

export interface FileTimes {
  /** Whether a file with the same size, times and inode surely has the same content. */
  readonly areTrusted: boolean
  /** For people. */
  readonly fileSystem: string
}

/** By the `type` of statfs(2). */
const TRUSTED: ReadonlyMap<number, string> = new Map([
  // ext2 and ext3 have the same number.
  [0xef53, 'ext4'],
  [0x58465342, 'XFS'],
  [0x9123683e, 'Btrfs'],
])

const OVERLAY = 0x794c7630

/** Names of some others, for people. */
const OTHERS: ReadonlyMap<number, string> = new Map([
  [0x01021994, 'tmpfs'],
  [0x858458f6, 'ramfs'],
  [0x6969, 'NFS'],
  [0x65735546, 'FUSE'],
  [0x01021997, '9p'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x2fc12fc1, 'ZFS'],
  [0xf2f52010, 'F2FS'],
  [0x4d44, 'FAT'],
])

/** `directory` exists, and something may be made and removed in it. */
export async function judgeFileTimes(directory: string): Promise<FileTimes> {
  if (process.platform !== 'linux')
    return { areTrusted: false, fileSystem: `a file system of ${process.platform}` }
  const { type } = await statfs(directory)
  if (type !== OVERLAY) return judgeType(type)
  const upper = await readUpperType(directory)
  if (upper !== undefined) {
    const { areTrusted, fileSystem } = judgeType(upper)
    return { areTrusted, fileSystem: `overlay on ${fileSystem}` }
  }
  // In a container the directory below the overlay is usually out of sight.
  const areTrusted = await isMappedWriteSeen(directory)
  return {
    areTrusted,
    fileSystem: `overlay on an unknown file system, which was tried and ${areTrusted ? 'passed' : 'failed'}`,
  }
}

function judgeType(type: number): FileTimes {
  const trusted = TRUSTED.get(type)
  if (trusted !== undefined) return { areTrusted: true, fileSystem: trusted }
  return { areTrusted: false, fileSystem: OTHERS.get(type) ?? `file system 0x${type.toString(16)}` }
}

/** What new files of an overlay are written to; `undefined` if that cannot be seen from here. */
async function readUpperType(directory: string): Promise<number | undefined> {
  try {
    const device = deviceName(lstatSync(directory, { bigint: true }).dev)
    const mount = parseMounts(readFileSync('/proc/self/mountinfo', 'utf8')).find(
      (candidate) => candidate.device === device && candidate.type === 'overlay',
    )
    const upper = mount?.options.find((option) => option.startsWith(UPPER))?.slice(UPPER.length)
    if (upper?.startsWith('/') !== true) return undefined
    return (await statfs(upper)).type
  } catch {
    return undefined
  }
}

const UPPER = 'upperdir='
