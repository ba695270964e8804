/**
 * Removing directories so that nobody mistakes half a directory for a whole one: first renamed away, in one step, then
 * removed. Two processes may do it to the same directory at the same time.
 */

import { randomBytes } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { chmod, readdir, rename, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { WORKSPACE_DOWNLOADS_IN_FLIGHT } from '../limits.ts'
import { systemCode } from '../disk-errors.ts'
import { forEachBounded } from '../../base/for-each-bounded.ts'

const TRASH_NAME = /^[0-9a-f]{32}$/

/** Removes a directory of this root. That it is gone already is fine. */
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

/** Goes on with removals that a crash cut short. Gives the number of directories that are gone now. */
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
 * Removes a directory and what is in it, and follows no link. A program may have taken the right to write from its
 * directories, so that is given back where it is missing.
 */
export async function removeTree(directory: string, signal?: AbortSignal): Promise<void> {
  const path = Buffer.from(directory)
  await removeBelow(path, signal)
  await rmdir(path).catch(unlessGone)
}

/** Paths are bytes here: a name need not be UTF-8, and has to go all the same. */
async function removeBelow(directory: Buffer, signal: AbortSignal | undefined): Promise<void> {
  const entries = await withRights(directory, () => readEntries(directory)).catch(emptyIfGone)
  const below = (entry: Dirent<Buffer>): Buffer => Buffer.concat([directory, SLASH, entry.name])
  const [directories, files] = partition(entries, (entry) => entry.isDirectory())
  for (const entry of directories) {
    await removeBelow(below(entry), signal)
    await withRights(directory, () => rmdir(below(entry))).catch(unlessGone)
  }
  await forEachBounded(files, { limit: WORKSPACE_DOWNLOADS_IN_FLIGHT, signal }, (entry) =>
    withRights(directory, () => unlink(below(entry))).catch(unlessGone),
  )
}

const SLASH = Buffer.from('/')

function readEntries(directory: Buffer): Promise<Dirent<Buffer>[]> {
  return readdir(directory, { withFileTypes: true, encoding: 'buffer' })
}

/** To remove something takes the right to write to the directory it is in. */
async function withRights<T>(directory: Buffer, action: () => Promise<T>): Promise<T> {
  try {
    return await action()
  } catch (error) {
    if (systemCode(error) !== 'EACCES') throw error
    await chmod(directory, 0o700)
    return action()
  }
}

function partition<T>(items: readonly T[], belongsFirst: (item: T) => boolean): [T[], T[]] {
  const first: T[] = []
  const second: T[] = []
  for (const item of items) (belongsFirst(item) ? first : second).push(item)
  return [first, second]
}

function emptyIfGone(error: unknown): [] {
  unlessGone(error)
  return []
}

function unlessGone(error: unknown): void {
  if (systemCode(error) !== 'ENOENT') throw error
}
