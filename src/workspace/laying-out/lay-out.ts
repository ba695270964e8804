/**
 * Lays out the files of one attempt. In order: list once, decide, and only then write; what fails or is aborted on the
 * way leaves nothing behind.
 */

import { mkdir, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { InvalidError, isPeragoError, UnavailableError } from '../../base/errors.ts'
import { WORKSPACE_BYTES_MAX, WORKSPACE_FILES_MAX } from '../limits.ts'
import { silentLogger, type Logger } from '../../base/logger.ts'
import { asDiskError } from '../disk-errors.ts'
import { passFileClock } from '../comparing/file-clock.ts'
import { fetchFrom, type FileProvider } from './file-provider.ts'
import type { Manifest, ManifestRecord } from '../manifest.ts'
import type {
  AttemptMarker,
  OwnedDirectory,
  WorkspaceAttempt,
  WorkspaceRoot,
} from '../ownership/ownership.ts'
import { spreadInodes } from './spread-inodes.ts'
import { planLayOut, type LayOutPlan, type LayOutPlanner } from './plan-lay-out.ts'
import type { ObjectSource } from '../ports.ts'
import { provideFiles, type LayOutProgress } from './provide-files.ts'
import { describeRefusals } from '../refusals.ts'
import { readWorkspaceSpec, type WorkspaceSpec, type WorkspaceView } from '../../tasks/workspace-spec.ts'

export interface WorkspaceLimits {
  readonly maxFiles: number
  readonly maxBytes: number
  readonly downloadsInFlight: number
}

export type { LayOutProgress }

export interface LayOutOptions {
  readonly root: WorkspaceRoot
  readonly attempt: WorkspaceAttempt
  readonly source: ObjectSource
  readonly spec: WorkspaceSpec
  /** Where the content comes from; fetched from the source unless given. */
  readonly provider?: FileProvider
  /** Called when the disk has no room, with what is missing, before that fails the layout. */
  readonly makeRoom?: (bytes: number) => Promise<void>
  readonly limits?: Partial<WorkspaceLimits>
  readonly signal?: AbortSignal
  /** Told now and then, and once at the end. */
  readonly onProgress?: (progress: LayOutProgress) => void
  readonly logger?: Logger
}

/** The files of one attempt, from when they are laid out until they are removed. */
export interface AttemptWorkspace {
  /** Absolute; what the task sees. */
  readonly dir: string
  /** Absolute; for what is not to be published. */
  readonly scratch: string
  readonly view: WorkspaceView
  readonly manifest: ManifestRecord
  readonly marker: AttemptMarker
  /** The directory around it all. */
  readonly owned: OwnedDirectory
  /** Throws `workspace/directory-gone` unless the directory is still this attempt's own. */
  assertOwned(): void
  /** Removes it all. May be called again, and gives the same promise. */
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
  const planner = planLayOut({
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
      clock: root.clock,
      onProgress: options.onProgress,
      signal,
    })
    plan.manifest.layOutEndNs = await passClockTick(owned, plan.manifest, root.clock)
    signal?.throwIfAborted()
    return workspaceOf(owned, view, plan.manifest)
  } catch (error) {
    if (owned !== undefined) await removeQuietly(owned, options.logger ?? silentLogger)
    if (isPeragoError(error)) throw error
    throw asDiskError(doing, error) ?? error
  }
}

const CLOCK_FILE = '.clock'

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

/** Asked first, because a disk that is full in the middle harms every task that shares it. */
async function assertRoom(
  directory: string,
  manifest: Manifest,
  makeRoom: LayOutOptions['makeRoom'],
): Promise<void> {
  const look = async (): Promise<{ readonly freeBytes: number; readonly freeFiles: number }> => {
    const { bavail, bsize, ffree, files } = await statfs(directory)
    // Some file systems make inodes as they need them, and say that they have none.
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
  // Each after the one it is in, so one after another; there are far fewer than files.
  for (const directory of directories) {
    signal?.throwIfAborted()
    await mkdir(join(tree, directory))
  }
}

function* indexesOf({ count }: Manifest): IterableIterator<number> {
  for (let index = 0; index < count; index++) yield index
}

/** Where the clock of the file system is read for a workspace. */
export function clockFileOf({ scratch }: Pick<OwnedDirectory, 'scratch'>): string {
  return join(scratch, CLOCK_FILE)
}

/**
 * Waits until every later edit shows in the times, so that no file needs to be hashed for being recent. On file systems
 * with coarse clocks the wait is not enough; then the recent files are hashed, see `suspect`.
 */
async function passClockTick(owned: OwnedDirectory, manifest: Manifest, clock: Clock): Promise<bigint> {
  let newestNs = 0n
  for (const index of indexesOf(manifest)) {
    const { ctimeNs, mtimeNs } = manifest.facts(index)
    const newerNs = ctimeNs > mtimeNs ? ctimeNs : mtimeNs
    if (newerNs > newestNs) newestNs = newerNs
  }
  return passFileClock(clockFileOf(owned), newestNs, clock)
}

/** A directory that was laid out, as an attempt has it. */
export function workspaceOf(
  owned: OwnedDirectory,
  view: WorkspaceView,
  manifest: ManifestRecord,
): AttemptWorkspace {
  return {
    owned,
    dir: owned.tree,
    scratch: owned.scratch,
    view,
    manifest,
    marker: owned.marker,
    assertOwned: () => owned.assertOwned(),
    remove: () => owned.remove(),
  }
}

/** The reason for leaving is worth more than the trouble in cleaning up; a later sweep of the root tries again. */
async function removeQuietly(owned: OwnedDirectory, logger: Logger): Promise<void> {
  try {
    await owned.remove()
  } catch (error) {
    logger.warn('could not remove a workspace that was not laid out', { directory: owned.tree, error })
  }
}
