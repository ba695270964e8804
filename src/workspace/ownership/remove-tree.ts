/**
 * Removes directories: first renamed in one step, so that nobody finds half a directory, then removed. Two processes may do
 * it to the same directory at the same time, and a program that outlived its attempt may still change it.
 *
 * 1. Only what is in the directory is removed: no link is followed, no mount point entered, and what somebody moves away or
 *    puts in its place meanwhile is left alone.
 * 2. Neither depth nor the length of a path is limited: entries are named by their directory's descriptor, and only the
 *    deepest few directories are open.
 * 3. What cannot be removed keeps nothing else.
 */

import { randomBytes } from 'node:crypto'
import { chmodSync, type Dirent } from 'node:fs'
import { readdir, rename, rmdir, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isAborted } from '../../base/abort-signals.ts'
import { messageOf, UnavailableError } from '../../base/errors.ts'
import { forEachBounded } from '../../base/for-each-bounded.ts'
import {
  WORKSPACE_DOWNLOADS_IN_FLIGHT,
  WORKSPACE_REMOVE_BATCH,
  WORKSPACE_REMOVE_OPEN_MAX,
  WORKSPACE_REMOVE_TROUBLES_MAX,
} from '../limits.ts'
import { systemCode } from '../disk-errors.ts'
import {
  assertBelow,
  below,
  closeDirectory,
  openChild,
  openDirectory,
  openParent,
  type OpenDirectory,
} from './open-directory.ts'

const TRASH_NAME = /^[0-9a-f]{32}$/

/** Removes a directory of this root, if it still exists. Throws `workspace/not-removed` if a part of it is left, in the trash. */
export async function discardTree(root: string, directory: string, signal?: AbortSignal): Promise<void> {
  const trash = join(root, 'trash', randomBytes(16).toString('hex'))
  try {
    await rename(directory, trash)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return
    throw error
  }
  await removeTree(trash, signal)
}

export interface EmptyTrashOptions {
  readonly signal?: AbortSignal | undefined
  /** One directory cannot be removed; the others are not affected. */
  readonly onTrouble: (path: string, error: unknown) => void
}

/** Finishes removals that a crash interrupted. */
export async function emptyTrash(root: string, { signal, onTrouble }: EmptyTrashOptions): Promise<void> {
  const names = await readdir(join(root, 'trash')).catch(emptyIfGone)
  for (const name of names.filter((name) => TRASH_NAME.test(name))) {
    signal?.throwIfAborted()
    const path = join(root, 'trash', name)
    try {
      await removeTree(path, signal)
    } catch (error) {
      if (signal !== undefined && isAborted(signal)) throw error
      onTrouble(path, error)
    }
  }
}

/**
 * Removes a directory and everything in it. A program may have removed the right to write to its directories, so that is
 * restored where it is missing. Throws `workspace/not-removed` if something is left, when the rest is gone.
 */
export async function removeTree(directory: string, signal?: AbortSignal): Promise<void> {
  const above = openIfThere(dirname(directory))
  if (above === undefined) return
  try {
    await new Removal(directory, signal).run(above, Buffer.from(basename(directory)))
  } finally {
    closeDirectory(above)
  }
}

/** A directory on the way from the top to what is being removed. */
interface Level {
  readonly name: Buffer
  directory: OpenDirectory
  isOpen: boolean
  /** The directories in it that are still to be removed. */
  readonly waiting: Buffer[]
  /** Something in it is left. */
  isLeft: boolean
}

interface Trouble {
  readonly path: string
  readonly why: string
}

class Removal {
  readonly #path: string
  readonly #signal: AbortSignal | undefined
  readonly #levels: Level[] = []
  readonly #troubles: Trouble[] = []
  #troubleCount = 0

  constructor(path: string, signal: AbortSignal | undefined) {
    this.#path = path
    this.#signal = signal
  }

  async run(above: OpenDirectory, name: Buffer): Promise<void> {
    try {
      await this.#enter(above, name)
      for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) {
        this.#signal?.throwIfAborted()
        const next = level.waiting.pop()
        if (next === undefined) await this.#leave(level, above)
        else await this.#enter(level.directory, next)
      }
    } finally {
      this.#close()
    }
    if (this.#troubleCount > 0) throw notRemoved(this.#path, this.#troubles, this.#troubleCount)
  }

  /** Removes the files of a directory; its directories come next. */
  async #enter(parent: OpenDirectory, name: Buffer): Promise<void> {
    const directory = await this.#open(parent, name)
    if (directory === undefined) return
    const level: Level = { name, directory, isOpen: true, waiting: [], isLeft: false }
    this.#levels.push(level)
    this.#closeAncestor()
    await this.#try([], async () => {
      const entries = await readdir(directory.prefix, { withFileTypes: true, encoding: 'buffer' })
      await this.#removeFiles(level, entries)
      for (const entry of entries) if (entry.isDirectory()) level.waiting.push(entry.name)
    })
  }

  async #open(parent: OpenDirectory, name: Buffer): Promise<OpenDirectory | undefined> {
    try {
      return openChild(parent, name)
    } catch (error) {
      await this.#try([name], () => {
        // Something else has the name now.
        if (isOneOf(error, 'ENOTDIR', 'ELOOP')) return unlink(below(parent, name))
        throw error
      })
      return undefined
    }
  }

  async #removeFiles({ directory }: Level, entries: readonly Dirent<Buffer>[]): Promise<void> {
    const top = this.#levels[0]
    const files = entries.filter((entry) => !entry.isDirectory())
    for (let from = 0; from === 0 || from < files.length; from += WORKSPACE_REMOVE_BATCH) {
      if (top?.isOpen === true) assertBelow(directory, top.directory)
      const batch = files.slice(from, from + WORKSPACE_REMOVE_BATCH)
      const options = { limit: WORKSPACE_DOWNLOADS_IN_FLIGHT, signal: this.#signal }
      await forEachBounded(batch, options, ({ name }) =>
        this.#try([name], () => withRights(directory, () => unlink(below(directory, name)))),
      )
    }
  }

  /** Removes a directory that is empty now. */
  async #leave(level: Level, above: OpenDirectory): Promise<void> {
    const parent = this.#levels.at(-2)
    if (parent?.isOpen === false && !(await this.#reopen(parent, level))) return
    this.#levels.pop()
    closeDirectory(level.directory)
    if (parent === undefined) {
      if (!level.isLeft) await this.#try([level.name], () => rmdir(below(above, level.name)))
    } else if (level.isLeft) parent.isLeft = true
    else {
      const path = below(parent.directory, level.name)
      await this.#try([level.name], () => withRights(parent.directory, () => rmdir(path)))
    }
  }

  /** Without the way back, all of it ends here. */
  async #reopen(parent: Level, { directory }: Level): Promise<boolean> {
    await this.#try([], () => {
      parent.directory = openParent(directory, parent.directory)
      parent.isOpen = true
      return Promise.resolve()
    })
    if (!parent.isOpen) this.#close()
    return parent.isOpen
  }

  #close(): void {
    for (const level of this.#levels.splice(0)) if (level.isOpen) closeDirectory(level.directory)
  }

  /** However deep the tree is, few descriptors are in use. The top stays open: others are compared with it. */
  #closeAncestor(): void {
    const at = this.#levels.length - WORKSPACE_REMOVE_OPEN_MAX
    const ancestor = at > 0 ? this.#levels[at] : undefined
    if (ancestor?.isOpen !== true) return
    closeDirectory(ancestor.directory)
    ancestor.isOpen = false
  }

  /** What fails stays, and is told at the end. */
  async #try(names: readonly Buffer[], action: () => Promise<unknown>): Promise<void> {
    try {
      await action()
    } catch (error) {
      if (this.#signal !== undefined && isAborted(this.#signal)) throw error
      if (systemCode(error) !== 'ENOENT') this.#leaveBehind(names, error)
    }
  }

  #leaveBehind(names: readonly Buffer[], error: unknown): void {
    const level = this.#levels.at(-1)
    if (level !== undefined) level.isLeft = true
    this.#troubleCount++
    if (this.#troubles.length >= WORKSPACE_REMOVE_TROUBLES_MAX) return
    const path = [...this.#levels.slice(1).map(({ name }) => name), ...names]
    this.#troubles.push({ path: shorten(path), why: systemCode(error) ?? messageOf(error) })
  }
}

function openIfThere(path: string): OpenDirectory | undefined {
  try {
    return openDirectory(path)
  } catch (error) {
    if (isOneOf(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

/** Removing something takes the right to write to its directory. */
async function withRights<T>(directory: OpenDirectory, action: () => Promise<T>): Promise<T> {
  try {
    return await action()
  } catch (error) {
    if (systemCode(error) !== 'EACCES') throw error
    chmodSync(directory.prefix, 0o700)
    return action()
  }
}

/** A path may have a million bytes. */
const SHOWN_MAX_CHARS = 200

function shorten(names: readonly Buffer[]): string {
  const whole = names.map((name) => name.toString()).join('/')
  if (whole.length <= SHOWN_MAX_CHARS) return whole
  return `${whole.slice(0, SHOWN_MAX_CHARS / 2)}…${whole.slice(-SHOWN_MAX_CHARS / 2)}`
}

function notRemoved(directory: string, troubles: readonly Trouble[], count: number): UnavailableError {
  const [first] = troubles
  const where = first === undefined || first.path === '' ? 'it' : JSON.stringify(first.path)
  return new UnavailableError(
    'workspace/not-removed',
    `remove ${JSON.stringify(directory)}: ${count} of its entries stay, the first is ${where} (${first?.why ?? ''})`,
    {
      details: { directory, count, troubles },
      next: 'Find out what protects it (another owner, an immutable flag, a mount), and remove it by hand.',
    },
  )
}

function isOneOf(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(systemCode(error) ?? '')
}

function emptyIfGone(error: unknown): [] {
  if (systemCode(error) !== 'ENOENT') throw error
  return []
}
