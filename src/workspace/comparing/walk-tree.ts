/** Walks through a directory without following links, a few milliseconds at a time. */

import { isUtf8 } from 'node:buffer'
import { lstatSync, type BigIntStats, type Dirent, type Stats } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { RefusedError } from '../../base/errors.ts'
import type { FilePermissions, TreeEntry } from '../../tasks/tree-entry.ts'
import { systemCode } from '../disk-errors.ts'
import { WORKSPACE_WALK_SLICE_MS } from '../limits.ts'
import { factsOf } from './file-facts.ts'

/**
 * Calls `onEntry` for every file below `directory`, with its relative path, in no particular order. Throws
 * `workspace/still-changing` if something is removed meanwhile.
 *
 * Files are read synchronously, with pauses: on a local disk that is twice as fast as passing each to another thread, and
 * takes a third of the processor time.
 */
export async function walkTree(
  directory: string,
  options: {
    readonly signal?: AbortSignal | undefined
    readonly onDirectory?: ((path: string) => void) | undefined
  },
  onEntry: (entry: TreeEntry) => void,
): Promise<void> {
  const slice = new Slice()
  const pending = ['']
  for (let below = pending.pop(); below !== undefined; below = pending.pop()) {
    options.signal?.throwIfAborted()
    const entries = await readEntries(directory, below, onEntry)
    for (const entry of entries) {
      const path = below + entry.name.toString()
      if (!isUtf8(entry.name)) {
        onEntry({ kind: 'other', path, what: 'has a name that is not UTF-8' })
      } else if (entry.isDirectory()) {
        options.onDirectory?.(path)
        pending.push(`${path}/`)
      } else {
        onEntry(entry.isFile() ? readFile(directory, path) : { kind: 'other', path, what: kindOf(entry) })
        if (slice.isOver()) {
          await nextTurn()
          slice.begin()
          options.signal?.throwIfAborted()
        }
      }
    }
  }
}

export function permissionsOf({ mode, nlink, uid }: BigIntStats): FilePermissions {
  return { mode: Number(mode) & 0o7777, links: Number(nlink), owner: Number(uid) }
}

/** What something is that is not a file, as the end of a sentence. */
export function kindOf(thing: Dirent<Buffer> | Stats | BigIntStats): string {
  if (thing.isSymbolicLink()) return 'is a symbolic link'
  if (thing.isSocket()) return 'is a socket'
  if (thing.isFIFO()) return 'is a named pipe'
  if (thing.isBlockDevice()) return 'is a block device'
  if (thing.isCharacterDevice()) return 'is a character device'
  return thing.isDirectory() ? 'is a directory' : 'is of an unknown kind'
}

export function stillChanging(path: string, what: string): RefusedError {
  return new RefusedError('workspace/still-changing', `read the workspace: ${JSON.stringify(path)} ${what}`, {
    details: { path },
    next: 'Let the body end every program it started before it returns.',
  })
}

async function readEntries(
  directory: string,
  below: string,
  onEntry: (entry: TreeEntry) => void,
): Promise<readonly Dirent<Buffer>[]> {
  try {
    return await readdir(`${directory}/${below}`, { withFileTypes: true, encoding: 'buffer' })
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') throw stillChanging(below, 'was removed while it was read')
    if (code !== 'EACCES') throw error
    onEntry({ kind: 'other', path: below, what: 'cannot be listed: its permissions forbid it' })
    return []
  }
}

function readFile(directory: string, path: string): TreeEntry {
  const stats = lstatSync(`${directory}/${path}`, { bigint: true, throwIfNoEntry: false })
  if (stats === undefined) throw stillChanging(path, 'was removed while it was read')
  if (stats.isFile()) return { kind: 'file', path, facts: factsOf(stats), permissions: permissionsOf(stats) }
  return { kind: 'other', path, what: kindOf(stats) }
}

/** The clock is read only now and then: that takes longer than some of the calls it measures. */
const ENTRIES_PER_LOOK = 32

class Slice {
  #beganAtMs = performance.now()
  #entries = 0

  begin(): void {
    this.#beganAtMs = performance.now()
  }

  isOver(): boolean {
    if (++this.#entries % ENTRIES_PER_LOOK !== 0) return false
    return performance.now() - this.#beganAtMs > WORKSPACE_WALK_SLICE_MS
  }
}
