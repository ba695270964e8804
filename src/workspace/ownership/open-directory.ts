/**
 * Directories by their descriptors. A path may lead elsewhere from one call to the next, and may be longer than the operating
 * system takes; a name below a descriptor is neither. Node has no `openat`, but on Linux `/proc/self/fd/<descriptor>/<name>` is
 * the same. Elsewhere paths are used, and only the checks remain.
 */

import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
} from 'node:fs'
import { systemCode } from '../disk-errors.ts'

export interface OpenDirectory {
  readonly descriptor: number
  /** Followed by a name: the path to use for an entry. Bytes, because a name need not be UTF-8. */
  readonly prefix: Buffer
  /** What stays the same when it is renamed or opened again. */
  readonly identity: DirectoryIdentity
}

export interface DirectoryIdentity {
  readonly device: bigint
  readonly inode: bigint
  /** Tells a bind mount from the file system it shows; only on Linux. */
  readonly mount: string | undefined
}

/** What was opened is on another file system than the directory it was opened in. */
class MountedHereError extends Error {}

/** What was opened is not what was there before. */
class MovedDirectoryError extends Error {}

export function below(directory: OpenDirectory, name: Buffer): Buffer {
  return Buffer.concat([directory.prefix, name])
}

/** Opens a directory by its path; links in the path are followed. */
export function openDirectory(path: string): OpenDirectory {
  const bytes = Buffer.from(path)
  return describe(openSync(bytes, LISTABLE), bytes)
}

/**
 * Opens a directory in an open one. No link is followed. Takes the right to list and change it where that is missing. Throws
 * `MountedHereError` for a mount point, and `ENOTDIR` or `ENOENT` if there is no directory.
 */
export function openChild(parent: OpenDirectory, name: Buffer): OpenDirectory {
  const path = below(parent, name)
  try {
    return assertSameMount(describe(openSync(path, LISTABLE | constants.O_NOFOLLOW), path), parent)
  } catch (error) {
    if (systemCode(error) !== 'EACCES') throw error
  }
  takeRights(path, parent)
  return assertSameMount(describe(openSync(path, LISTABLE | constants.O_NOFOLLOW), path), parent)
}

/** Opens the parent of an open directory again. Throws `MovedDirectoryError` if it has another one now. */
export function openParent(child: OpenDirectory, parent: OpenDirectory): OpenDirectory {
  const path = HAS_PROC ? below(child, Buffer.from('..')) : parent.prefix
  const opened = describe(openSync(path, LISTABLE), parent.prefix)
  const { device, inode, mount } = opened.identity
  const was = parent.identity
  if (device === was.device && inode === was.inode && mount === was.mount) return opened
  closeDirectory(opened)
  throw new MovedDirectoryError('it was moved meanwhile')
}

/** Throws `MovedDirectoryError` if a directory is not below another one any more, as far as that can be seen. */
export function assertBelow(directory: OpenDirectory, top: OpenDirectory): void {
  const [path, above] = [pathOf(directory), pathOf(top)]
  if (path === undefined || above === undefined || path.equals(above)) return
  if (!path.subarray(0, above.length + 1).equals(Buffer.concat([above, SLASH])))
    throw new MovedDirectoryError('it was moved away meanwhile')
}

export function closeDirectory({ descriptor }: OpenDirectory): void {
  closeSync(descriptor)
}

const HAS_PROC = hasProc()
const SLASH = Buffer.from('/')
const LISTABLE = constants.O_RDONLY | constants.O_DIRECTORY
/** Opens without any right to the file. Node does not name it; the value is that of x86 and ARM. */
const O_PATH = 0o10000000

/** Not for a process that may not be examined, such as one that changed its user. */
function hasProc(): boolean {
  try {
    return readdirSync('/proc/self/fd').length > 0
  } catch {
    return false
  }
}

function describe(descriptor: number, path: Buffer): OpenDirectory {
  try {
    const { dev, ino } = fstatSync(descriptor, { bigint: true })
    return {
      descriptor,
      prefix: HAS_PROC ? Buffer.from(`/proc/self/fd/${descriptor}/`) : Buffer.concat([path, SLASH]),
      identity: { device: dev, inode: ino, mount: mountOf(descriptor) },
    }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

function mountOf(descriptor: number): string | undefined {
  if (!HAS_PROC) return undefined
  return /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1]
}

function assertSameMount(opened: OpenDirectory, parent: OpenDirectory): OpenDirectory {
  const { device, mount } = opened.identity
  if (device === parent.identity.device && mount === parent.identity.mount) return opened
  closeDirectory(opened)
  throw new MountedHereError('a file system is mounted there')
}

/** Not by its name, which might be a link by now: by a descriptor that needs no right to it. */
function takeRights(path: Buffer, parent: OpenDirectory): void {
  if (!HAS_PROC) {
    chmodSync(path, 0o700)
    return
  }
  const descriptor = openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    const opened = describe(descriptor, path)
    if (opened.identity.mount !== parent.identity.mount)
      throw new MountedHereError('a file system is mounted there')
    chmodSync(`/proc/self/fd/${descriptor}`, 0o700)
  } finally {
    closeSync(descriptor)
  }
}

/** `undefined` where it cannot be told, or is too long to be told. */
function pathOf({ descriptor }: OpenDirectory): Buffer | undefined {
  if (!HAS_PROC) return undefined
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`, { encoding: 'buffer' })
  } catch {
    return undefined
  }
}
