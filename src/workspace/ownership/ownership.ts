/**
 * Who owns which directory below a worker's root.
 *
 * ```
 * root/
 *   locks/<worker>.lock                  held while the worker's process runs
 *   workers/<worker>/worker.json         which process it is
 *   workers/<worker>/beat                its mtime is when the worker last used the root
 *   workers/<worker>/attempts/<attempt>/
 *     attempt.json                       the marker: which attempt this is
 *     tree/                              the files the task sees, and nothing else
 *     scratch/                           files that are not published
 *   workers/<worker>/aside/…             directories that a later attempt may use
 *   status/<number>.json                 what a worker process says of itself, for those who look
 *   trash/…                              being removed
 *   reserve/…                            space that opening a root on a full disk may use
 * ```
 *
 * The marker is beside the tree, not in it: everything in the tree belongs to the task's author.
 */

import { randomBytes } from 'node:crypto'
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, writeSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { systemClock, type Clock } from '../../base/clock.ts'
import { BoundedMap } from '../../base/bounded-map.ts'
import { InvalidError, isPeragoError, RefusedError } from '../../base/errors.ts'
import { silentLogger, type Logger } from '../../base/logger.ts'
import { makeDirectory } from '../../base/make-directory.ts'
import { nodeFaultOf } from '../../base/node-fault.ts'
import { once } from '../../base/once.ts'
import { identifyThisProcess, type ProcessIdentity } from '../../base/process-identity.ts'
import { judgeFileTimes, type FileTimes } from '../comparing/file-times.ts'
import { WORKSPACE_TOLD_MAX } from '../limits.ts'
import { probeFileSystem, traitsBelow } from '../laying-out/file-system-traits.ts'
import type { FileSystemTraits } from '../../tasks/unsafe-path.ts'
import { takeProcessLock, type ProcessLock } from './process-lock.ts'
import { discardTree, removeTree } from './remove-tree.ts'
import { isNearlyFull, releaseReserve } from './reserve.ts'
import { diskError } from '../disk-errors.ts'

/** What identifies an attempt. */
export interface WorkspaceAttempt {
  readonly workflowId: string
  readonly taskId: string
  readonly retryCount: number
  readonly pollCount: number
  readonly workerId: string
}

/** The content of a marker file. */
export interface AttemptMarker extends WorkspaceAttempt {
  readonly format: 'perago-attempt'
  readonly version: 1
  /** Unique for each directory. */
  readonly token: string
  readonly pid: number
  readonly startedAt: string
}

/** A directory that belongs to no attempt. */
export interface AsideDirectory {
  readonly path: string
  /** Its files. */
  readonly tree: string
  /** Removes it all, if it still exists. */
  discard(): Promise<void>
}

/** Where an attempt's directory will be made. */
export interface DirectoryPlace {
  readonly directory: string
  readonly tree: string
  /** What the file system does to names below it. */
  readonly traits: FileSystemTraits
}

export interface OpenWorkspaceRootOptions {
  readonly directory: string
  readonly workerId: string
  readonly logger?: Logger
  readonly clock?: Clock
}

/**
 * Opens a root: makes it if it is missing, and registers this process in it. Close it, or its directories stay until another
 * worker of the root finds that this process has ended.
 *
 * ```ts
 * const root = await openWorkspaceRoot({ directory: '.perago/work', workerId: 'worker-1' })
 * ```
 */
export async function openWorkspaceRoot(options: OpenWorkspaceRootOptions): Promise<WorkspaceRoot> {
  const directory = resolve(options.directory)
  const logger = (options.logger ?? silentLogger).child({ workspaceRoot: directory })
  const opening = { ...options, directory, logger, clock: options.clock ?? systemClock }
  try {
    for (const part of ROOT_PARTS) makeDirectory(join(directory, part), PRIVATE)
    // What follows the opening needs some room too.
    if (isNearlyFull(directory) && releaseReserve(directory))
      logger.warn('the disk is full: used the reserve', {})
    try {
      return await register(opening)
    } catch (error) {
      // A quota may be used up where the disk has room.
      if (nodeFaultOf(error) === undefined || !releaseReserve(directory)) throw error
      return await register(opening)
    }
  } catch (error) {
    if (isPeragoError(error)) throw error
    throw diskError(`open workspace root ${JSON.stringify(directory)}`, error)
  }
}

/** Registers this process in a root; leaves nothing if that fails. */
async function register({
  directory,
  workerId,
  logger,
  clock,
}: Required<OpenWorkspaceRootOptions>): Promise<WorkspaceRoot> {
  const token = newToken()
  const identity = await identifyThisProcess()
  const home = workerHome(directory, token)
  const lock = await takeLock(lockPathOf(directory, token))
  try {
    makeDirectory(join(home, 'attempts'), PRIVATE)
    const record: WorkerRecord = {
      format: 'perago-worker',
      version: 1,
      ...{ token, workerId, ...identity },
      startedAt: clock.now().toISOString(),
    }
    await writeFile(join(home, WORKER_FILE), toJson(record), { flag: 'wx' })
    const traits = probeFileSystem(join(home, 'probe'))
    const times = await judgeFileTimes(home)
    const root = new WorkspaceRoot({ directory, token, identity, logger, clock, lock, traits, times })
    root.beat()
    return root
  } catch (error) {
    await removeTree(home).catch(() => undefined)
    lock.release()
    await rm(lockPathOf(directory, token), { force: true }).catch(() => undefined)
    throw error
  }
}

/** The content of a worker's own file. */
export interface WorkerRecord extends ProcessIdentity {
  readonly format: 'perago-worker'
  readonly version: 1
  readonly token: string
  readonly workerId: string
  readonly startedAt: string
}

const ROOT_PARTS = ['locks', 'workers', 'trash'] as const
export const WORKER_FILE = 'worker.json'
export const WORKER_BEAT_FILE = 'beat'
const ATTEMPT_FILE = 'attempt.json'
/** Other users of the machine must not read the trees. */
const PRIVATE = 0o700

const TOKEN = /^[0-9a-f]{32}$/

/** Whether a name is one that `openWorkspaceRoot` gives; directories with other names are left alone. */
export function isWorkerToken(name: string): boolean {
  return TOKEN.test(name)
}

export function workerHome(root: string, token: string): string {
  return join(root, 'workers', token)
}

export function lockPathOf(root: string, token: string): string {
  return join(root, 'locks', `${token}.lock`)
}

function newToken(): string {
  return randomBytes(16).toString('hex')
}

interface OpenRootParts {
  readonly directory: string
  readonly token: string
  readonly identity: ProcessIdentity
  readonly logger: Logger
  readonly clock: Clock
  readonly lock: ProcessLock
  readonly traits: FileSystemTraits
  readonly times: FileTimes
}

/** A worker's root, opened by one process. */
export class WorkspaceRoot {
  /** Absolute. */
  readonly directory: string
  /** The name of this process in the root. */
  readonly token: string
  readonly identity: ProcessIdentity
  readonly logger: Logger
  readonly clock: Clock
  /** Whether the times of its files show every edit. */
  readonly times: FileTimes
  readonly #lock: ProcessLock
  readonly #traits: FileSystemTraits
  readonly #told = new BoundedMap<string, true>({ max: WORKSPACE_TOLD_MAX, evict: 'oldest' })
  #isClosed = false
  /** Removes the directories of this process and releases its lock. May be called twice. */
  readonly close = once(() => this.#close())

  constructor(parts: OpenRootParts) {
    this.directory = parts.directory
    this.token = parts.token
    this.identity = parts.identity
    this.logger = parts.logger
    this.clock = parts.clock
    this.times = parts.times
    this.#lock = parts.lock
    this.#traits = parts.traits
  }

  place(attempt: WorkspaceAttempt): DirectoryPlace {
    // The random end makes it unique: a task id may come again after a rerun.
    const name = `${readableName(attempt.taskId)}-${randomBytes(6).toString('hex')}`
    const directory = join(this.#home, 'attempts', name)
    const tree = join(directory, 'tree')
    return { directory, tree, traits: traitsBelow(this.#traits, tree) }
  }

  async claim(place: DirectoryPlace, attempt: WorkspaceAttempt): Promise<OwnedDirectory> {
    if (this.#isClosed) {
      throw new InvalidError(
        'workspace/root-closed',
        `claim a directory for task ${attempt.taskId}: the root is closed`,
      )
    }
    const marker = this.#markerFor(attempt)
    const owned = new OwnedDirectory(this.directory, place, marker)
    try {
      await mkdir(place.directory)
      await writeFile(owned.markerPath, toJson(marker), { flag: 'wx' })
      await mkdir(owned.scratch)
      await mkdir(owned.tree)
    } catch (error) {
      await owned.remove().catch((leftover: unknown) => {
        this.logger.warn('could not remove a directory that was not claimed', { error: leftover })
      })
      throw error
    }
    return owned
  }

  /** Gives a directory that was set aside to an attempt, under a new path and with a new marker. */
  async adopt(aside: AsideDirectory, attempt: WorkspaceAttempt): Promise<OwnedDirectory> {
    const place = this.place(attempt)
    const owned = new OwnedDirectory(this.directory, place, this.#markerFor(attempt))
    // In one step: of two callers, one finds nothing.
    await rename(aside.path, place.directory)
    try {
      await removeTree(owned.scratch)
      await mkdir(owned.scratch)
      await rm(owned.markerPath)
      await writeFile(owned.markerPath, toJson(owned.marker), { flag: 'wx' })
    } catch (error) {
      await owned.remove()
      throw error
    }
    return owned
  }

  /** Updates `beat`. Returns the file system's time, in milliseconds since 1970. */
  beat(): number {
    const path = join(this.#home, WORKER_BEAT_FILE)
    // Without making it empty first: a full disk might have no room to write it again.
    const file = openSync(path, constants.O_WRONLY | constants.O_CREAT)
    try {
      writeSync(file, '.', 0)
      return fstatSync(file).mtimeMs
    } finally {
      closeSync(file)
    }
  }

  /** Logs a trouble with one directory or file, once: what cannot be removed is tried again and again. */
  warnOnce(path: string, message: string, error: unknown): void {
    if (this.#told.get(path) === true) return
    this.#told.set(path, true)
    this.logger.warn(message, { path, error })
  }

  get #home(): string {
    return workerHome(this.directory, this.token)
  }

  #markerFor(attempt: WorkspaceAttempt): AttemptMarker {
    const { workflowId, taskId, retryCount, pollCount, workerId } = attempt
    return {
      format: 'perago-attempt',
      version: 1,
      token: newToken(),
      ...{ workflowId, taskId, retryCount, pollCount, workerId },
      pid: this.identity.pid,
      startedAt: this.clock.now().toISOString(),
    }
  }

  async #close(): Promise<void> {
    this.#isClosed = true
    try {
      await discardTree(this.directory, this.#home)
    } catch (error) {
      this.warnOnce(this.#home, 'could not remove all directories of this worker', error)
    } finally {
      this.#lock.release()
      await rm(lockPathOf(this.directory, this.token), { force: true }).catch(() => undefined)
    }
  }
}

/** A directory that belongs to one attempt. */
export class OwnedDirectory {
  /** Absolute; the files the task sees. */
  readonly tree: string
  /** Absolute; for parameters, results and other files that are not published. */
  readonly scratch: string
  /** Absolute; the marker file. */
  readonly markerPath: string
  readonly marker: AttemptMarker
  readonly #root: string
  readonly #directory: string
  #removing: Promise<void> | undefined

  constructor(root: string, place: DirectoryPlace, marker: AttemptMarker) {
    this.#root = root
    this.#directory = place.directory
    this.tree = place.tree
    this.scratch = join(place.directory, 'scratch')
    this.markerPath = join(place.directory, ATTEMPT_FILE)
    this.marker = marker
  }

  /**
   * Throws `workspace/directory-gone` unless the directory is still this attempt's own: one that was removed while its task
   * ran looks like one in which everything was deleted, and must not be published as such.
   */
  assertOwned(): void {
    const isTree = lstatSync(this.tree, { throwIfNoEntry: false })?.isDirectory() === true
    if (isTree && readTokenOf(this.markerPath) === this.marker.token) return
    throw new RefusedError(
      'workspace/directory-gone',
      `look at the workspace of task ${this.marker.taskId}: ${JSON.stringify(this.tree)} is no longer its directory`,
      {
        details: { taskId: this.marker.taskId, directory: this.tree },
        next: 'Find out who removed or replaced it; nothing was published from it.',
      },
    )
  }

  /** Removes it all. May be called twice. */
  remove(): Promise<void> {
    this.#removing ??= discardTree(this.#root, this.#directory)
    return this.#removing
  }

  /** Takes it away from the attempt, to another path, until it is adopted or discarded. */
  async setAside(): Promise<AsideDirectory> {
    // Beside the attempts of this process, so that it is removed with them; under a name that nobody knows.
    const path = join(this.#directory, '..', '..', 'aside', randomBytes(16).toString('hex'))
    makeDirectory(join(path, '..'))
    await rename(this.#directory, path)
    // It is not removed with the attempt any more.
    this.#removing ??= Promise.resolve()
    return { path, tree: join(path, 'tree'), discard: () => discardTree(this.#root, path) }
  }
}

async function takeLock(path: string): Promise<ProcessLock> {
  const lock = await takeProcessLock(path)
  if (lock !== undefined) return lock
  throw new RefusedError('workspace/lock-taken', `lock ${JSON.stringify(path)}: another process holds it`, {
    next: 'Start the worker again.',
  })
}

function readTokenOf(path: string): unknown {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as { token?: unknown } | null)?.token
  } catch {
    // Removed or overwritten: not ours in either case.
    return undefined
  }
}

function readableName(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)
}

function toJson(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}
