/**
 * Puts the directory of a large workspace into a part of the disk of its own. Before ext4 gives an inode away it looks at
 * every one beside it that was freed within the last minute or so: many files made where as many were just removed cost
 * ten times as much, for one workspace after the other. A directory that is marked as the top of a hierarchy has its
 * children spread over the disk.
 */

import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, rename, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { WORKSPACE_APART_FILES_MIN, WORKSPACE_MARK_TOP_MS } from '../limits.ts'
import type { DirectoryPlace } from '../ownership/ownership.ts'

/** As `statfs` names ext2, ext3 and ext4. */
const EXT_TYPE = 0xef53

/** To be called before anything is in the tree. Where it cannot be done, the tree stays where it is: it is only slower. */
export async function spreadInodes(
  { directory, tree }: Pick<DirectoryPlace, 'directory' | 'tree'>,
  files: number,
): Promise<void> {
  if (files < WORKSPACE_APART_FILES_MIN) return
  if ((await statfs(directory)).type !== EXT_TYPE || !(await markAsTop(directory))) return
  // Where it comes to lie follows from its name at first, so that is another one each time.
  const elsewhere = join(directory, `tree-${randomBytes(8).toString('hex')}`)
  await mkdir(elsewhere)
  await rename(elsewhere, tree)
}

/** `false` where there is no such program, or the file system does not know the mark. */
function markAsTop(directory: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile('chattr', ['+T', directory], { timeout: WORKSPACE_MARK_TOP_MS }, (error) =>
      resolve(error === null),
    )
  })
}
