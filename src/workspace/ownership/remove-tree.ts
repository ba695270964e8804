/**
 * Removes directories: first renamed in one step, so that nobody finds half a directory, then removed. Two processes may do
 * it to the same directory at the same time.
 */

import { randomBytes } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { chmod, readdir, rename, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { WORKSPACE_DOWNLOADS_IN_FLIGHT } from '../limits.ts'
import { systemCode } from '../disk-errors.ts'
import { forEachBounded } from '../../base/for-each-bounded.ts'

const TRASH_NAME = /^[0-9a-f]{32}$/

/** Removes a directory of this root, if it still exists. */
export async function discardTree(root: string, directory: string): Promise<void> {
  const trash = join(root, 'trash', randomBytes(16).toString('hex'))
  try {
    await rename(directory, trash)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return
    throw error
  }
  await removeTree(trash)
}

/** Finishes removals that a crash interrupted. Returns how many directories it removed. */
export async function emptyTrash(root: string, signal?: AbortSignal): Promise<number> {
  const names = await readdir(join(root, 'trash')).catch(emptyIfGone)
  const ours = names.filter((name) => TRASH_NAME.test(name))
  for (const name of ours) {
    signal?.throwIfAborted()
    await removeTree(join(root, 'trash', name), signal)
  }
  return ours.length
}

/**
 * Removes a directory and everything in it, without following links. A program may have removed the right to write to its
 * directories, so that is restored where it is missing.
 */
export async function removeTree(directory: string, signal?: AbortSignal): Promise<void> {
  const path = Buffer.from(directory)
  await removeBelow(path, signal)
  await rmdir(path).catch(unlessGone)
}

/** Paths are bytes here, because a name need not be UTF-8. */
async function removeBelow(directory: Buffer, signal: AbortSignal | undefined): Promise<void> {
  const entries = await withRights(directory, () => readEntries(directory)).catch(emptyIfGone)
  const below = (entry: Dirent<Buffer>): Buffer => Buffer.concat([directory, SLASH, entry.name])
  for (const entry of entries.filter((entry) => entry.isDirectory())) {
    await removeBelow(below(entry), signal)
    await withRights(directory, () => rmdir(below(entry))).catch(unlessGone)
  }
  const files = entries.filter((entry) => !entry.isDirectory())
  await forEachBounded(files, { limit: WORKSPACE_DOWNLOADS_IN_FLIGHT, signal }, (entry) =>
    withRights(directory, () => unlink(below(entry))).catch(unlessGone),
  )
}

const SLASH = Buffer.from('/')

function readEntries(directory: Buffer): Promise<Dirent<Buffer>[]> {
  return readdir(directory, { withFileTypes: true, encoding: 'buffer' })
}

/** Removing something takes the right to write to its directory. */
async function withRights<T>(directory: Buffer, action: () => Promise<T>): Promise<T> {
  try {
    return await action()
  } catch (error) {
    if (systemCode(error) !== 'EACCES') throw error
    await chmod(directory, 0o700)
    return action()
  }
}

function emptyIfGone(error: unknown): [] {
  unlessGone(error)
  return []
}

function unlessGone(error: unknown): void {
  if (systemCode(error) !== 'ENOENT') throw error
}
