/**
 * Lays out the files of one attempt: lists once, decides, and only then writes. What fails or is aborted leaves nothing
 * behind.
 */

import { mkdir, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { InvalidError, isPeragoError, UnavailableError } from '../../base/errors.ts'
import { WORKSPACE_BYTES_MAX, WORKSPACE_FILES_MAX } from '../limits.ts'
import type { Transferred } from '../../base/transferred.ts'
import { silentLogger, type Logger } from '../../base/logger.ts'
import { asDiskError } from '../disk-errors.ts'
import { passFileClock } from '../comparing/file-clock.ts'
import { laterOf } from '../comparing/file-facts.ts'
import type { FileTimes } from '../comparing/file-times.ts'
import { fetchFrom, type FileProvider } from './file-provider.ts'
import type { Manifest, ManifestRecord } from '../manifest.ts'
import type { OwnedDirectory, WorkspaceAttempt, WorkspaceRoot } from '../ownership/ownership.ts'
import { spreadInodes } from './spread-inodes.ts'
import { LayOutPlanner, type LayOutPlan } from './plan-lay-out.ts'
import type { ObjectSource } from '../ports.ts'
import { provideFiles } from './provide-files.ts'
import { describeRefusals } from '../refusals.ts'
import { readWorkspaceSpec, type WorkspaceSpec, type WorkspaceView } from '../../tasks/workspace-spec.ts'

export interface WorkspaceLimits {
  readonly maxFiles: number
  readonly maxBytes: number
  readonly downloadsInFlight: number
}

export interface LayOutOptions {
  readonly root: WorkspaceRoot
  readonly attempt: WorkspaceAttempt
  readonly source: ObjectSource
  readonly spec: WorkspaceSpec
  /** Provides the content; fetched from the source unless given. */
  readonly provider?: FileProvider
  /** Called with the bytes that are missing before a full disk fails the layout. */
  readonly makeRoom?: (bytes: number) => Promise<void>
  readonly limits?: Partial<WorkspaceLimits>
  readonly signal?: AbortSignal
  readonly logger?: Logger
  /** Called after each file. */
  readonly onProvided?: ((so: Transferred) => void) | undefined
}

/** The files of one attempt, from when they are laid out until they are removed. */
export interface AttemptWorkspace {
  /** Absolute; the files the task sees. */
  readonly dir: string
  /** Absolute; for files that are not published. */
  readonly scratch: string
  readonly view: WorkspaceView
  readonly manifest: ManifestRecord
  readonly times: FileTimes
  /** The directory that holds both. */
  readonly owned: OwnedDirectory
  /** Throws `workspace/directory-gone` unless the directory is still this attempt's own. */
  assertOwned(): void
  /** Removes it all. May be called twice. */
  remove(): Promise<void>
}

/**
 * ```ts
 * const workspace = await layOut({ root, attempt, source, spec: { prefix: 'orders' }, signal })
 * try {
 *   await runBody(workspace.dir)
 * } finally {
 *   await workspace.remove()
 * }
 * ```
 */
export async function layOut(options: LayOutOptions): Promise<AttemptWorkspace> {
  const { root, attempt, signal } = options
  const doing = `lay out the workspace of task ${attempt.taskId}`
  const view = readWorkspaceSpec(options.spec)
  const place = root.place(attempt)
  const planner = new LayOutPlanner({
    view,
    traits: place.traits,
    maxFiles: options.limits?.maxFiles ?? WORKSPACE_FILES_MAX,
    maxBytes: options.limits?.maxBytes ?? WORKSPACE_BYTES_MAX,
  })
  const plan = await listAndPlan(options, view, planner)
  let owned: OwnedDirectory | undefined
  try {
    signal?.throwIfAborted()
    await assertRoom(root.directory, plan.manifest, options.makeRoom)
    owned = await root.claim(place, attempt)
    await spreadInodes(place, plan.manifest.count)
    await makeDirectories(owned.tree, plan.directories, signal)
    await provideFiles(owned.tree, plan.manifest, {
      provider: options.provider ?? fetchFrom(options.source),
      inFlight: options.limits?.downloadsInFlight,
      // All are hashed again when they are compared.
      wantsAllMd5: !root.times.areTrusted,
      onProvided: options.onProvided,
      signal,
    })
    plan.manifest.layOutEndNs = await passClockTick(owned, plan.manifest, root.clock)
    signal?.throwIfAborted()
    return workspaceOf({ root, owned, view, manifest: plan.manifest })
  } catch (error) {
    // The failure of the layout is reported, not that of the clean-up; a later collection of orphans tries again.
    await owned?.remove().catch((leftover: unknown) => {
      const logger = options.logger ?? silentLogger
      logger.warn('could not remove a workspace that was not laid out', {
        directory: place.tree,
        error: leftover,
      })
    })
    if (isPeragoError(error)) throw error
    throw asDiskError(doing, error) ?? error
  }
}

async function listAndPlan(
  { attempt, source, signal }: LayOutOptions,
  view: WorkspaceView,
  planner: LayOutPlanner,
): Promise<LayOutPlan> {
  for await (const object of source.list(view.prefix, signal === undefined ? {} : { signal })) {
    signal?.throwIfAborted()
    if (!planner.add(object)) break
  }
  const decision = planner.decide()
  const doing = `lay out the workspace of task ${attempt.taskId}`
  switch (decision.action) {
    case 'lay-out':
      return decision.plan
    case 'refuse':
      throw new InvalidError(
        'workspace/unsafe-keys',
        `${doing}: ${decision.refusals.count} keys cannot be files of a directory: ${describeRefusals(decision.refusals)}`,
        {
          details: { count: decision.refusals.count, keys: decision.refusals.named },
          next: 'Rename these objects in the repository, or exclude them in the workspace of the task.',
        },
      )
    case 'too-large':
      throw new InvalidError(
        'workspace/too-large',
        `${doing}: below ${JSON.stringify(view.prefix)} there are more than ${decision.limit} ${decision.what}`,
        {
          details: { prefix: view.prefix, what: decision.what, limit: decision.limit },
          next: 'Narrow the prefix, include or exclude globs of the task, or raise the limit.',
        },
      )
  }
}

/** Checked first: a disk that fills up on the way would harm every task that shares it. */
async function assertRoom(
  directory: string,
  manifest: Manifest,
  makeRoom: LayOutOptions['makeRoom'],
): Promise<void> {
  const look = async (): Promise<{ readonly freeBytes: number; readonly freeFiles: number }> => {
    const { bavail, bsize, ffree, files } = await statfs(directory)
    // File systems that allocate inodes on demand report none.
    return { freeBytes: bavail * bsize, freeFiles: files === 0 ? Infinity : ffree }
  }
  let { freeBytes, freeFiles } = await look()
  if (manifest.totalBytes > freeBytes && makeRoom !== undefined) {
    await makeRoom(manifest.totalBytes - freeBytes)
    ;({ freeBytes, freeFiles } = await look())
  }
  if (manifest.totalBytes <= freeBytes && manifest.count <= freeFiles) return
  throw new UnavailableError(
    'workspace/disk-full',
    `lay out ${manifest.count} files of ${manifest.totalBytes} bytes: the disk of ${JSON.stringify(directory)} ` +
      `has room for ${freeFiles} files and ${freeBytes} bytes`,
    {
      details: { needBytes: manifest.totalBytes, freeBytes, needFiles: manifest.count },
      next: 'Free some space below the worker root, or move the root to a larger disk.',
    },
  )
}

async function makeDirectories(
  tree: string,
  directories: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  // In order, because a parent comes before its children; there are far fewer than files.
  for (const directory of directories) {
    signal?.throwIfAborted()
    await mkdir(join(tree, directory))
  }
}

/** The file with which the clock of the file system is read; see `readFileClock`. */
export function clockFileOf({ scratch }: Pick<OwnedDirectory, 'scratch'>): string {
  return join(scratch, '.clock')
}

/**
 * Waits until the clock of the file system has advanced, so that every later edit changes the times and recent files need
 * not be hashed. If the clock is too coarse for that, they are hashed; see `suspect`.
 */
async function passClockTick(owned: OwnedDirectory, manifest: Manifest, clock: Clock): Promise<bigint> {
  let newestNs = 0n
  for (let index = 0; index < manifest.count; index++) newestNs = laterOf(newestNs, manifest.facts(index))
  return passFileClock(clockFileOf(owned), newestNs, clock)
}

export function workspaceOf(parts: {
  readonly root: WorkspaceRoot
  readonly owned: OwnedDirectory
  readonly view: WorkspaceView
  readonly manifest: ManifestRecord
}): AttemptWorkspace {
  const { root, owned, view, manifest } = parts
  return {
    owned,
    dir: owned.tree,
    scratch: owned.scratch,
    view,
    manifest,
    times: root.times,
    assertOwned: () => owned.assertOwned(),
    remove: () => owned.remove(),
  }
}
