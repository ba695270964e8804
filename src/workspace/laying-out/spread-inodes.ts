/**
 * Puts the directory of a large workspace into another area of the disk. When ext4 allocates an inode, it skips those
 * nearby that were freed within the last minute: many files made where as many were just removed take ten times as long.
 * The children of a directory with the "top of directory hierarchies" flag are spread over the disk.
 */

import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, rename, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { WORKSPACE_APART_FILES_MIN, WORKSPACE_MARK_TOP_MS } from '../limits.ts'
import type { DirectoryPlace } from '../ownership/ownership.ts'

/** As `statfs` names ext2, ext3 and ext4. */
const EXT_TYPE = 0xef53

/** Call it while the tree is empty. Where it is not possible, the tree stays where it is and is only slower. */
export async function spreadInodes(
  { directory, tree }: Pick<DirectoryPlace, 'directory' | 'tree'>,
  files: number,
): Promise<void> {
  if (files < WORKSPACE_APART_FILES_MIN) return
  if ((await statfs(directory)).type !== EXT_TYPE || !(await setTopFlag(directory))) return
  // The area follows from the name, so that is a new one each time.
  const elsewhere = join(directory, `tree-${randomBytes(8).toString('hex')}`)
  await mkdir(elsewhere)
  await rename(elsewhere, tree)
}

/** `false` if there is no such program, or the file system does not support the flag. */
function setTopFlag(directory: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile('chattr', ['+T', directory], { timeout: WORKSPACE_MARK_TOP_MS }, (error) =>
      resolve(error === null),
    )
  })
}
