/** The storage of the embedded lakeFS-compatible server, opened. Every operation is in the file named for it. */

import { systemClock, type Clock } from '../../../base/clock.ts'
import { once } from '../../../base/once.ts'
import { fileLeftBlobs } from './blob-journal.ts'
import { MemoryBlobStore } from './blob-store.ts'
import { BranchTurns } from './branch-turns.ts'
import {
  createBranch,
  deleteBranch,
  getBranch,
  hardReset,
  listBranches,
  resetUncommitted,
} from './branches.ts'
import { commit } from './commit-branch.ts'
import { findMergeBase, getCommit, log } from './commit-graph.ts'
import { writeCommitRecord } from './commit-record.ts'
import { openDataDir } from './data-dir.ts'
import { diffRefs, diffUncommitted } from './diff.ts'
import { DiskBlobStore, sweepTempFiles } from './disk-blob-store.ts'
import type { EngineContext } from './engine-context.ts'
import type { HookEvent, HookRunner } from './engine.ts'
import { merge } from './merge-branch.ts'
import { openMetadataDb } from './metadata-db.ts'
import { blobSize, openBlob, readBlob, reserveAddress, storeBlob, storeBlobAt } from './object-bytes.ts'
import * as objects from './objects.ts'
import { getProtection, setProtection } from './protection.ts'
import { createRepository, deleteRepository, getRepository, listRepositories } from './repositories.ts'
import { cherryPick, revert } from './revert-branch.ts'
import { SqliteNodeStore } from './sqlite-node-store.ts'
import { Staging } from './staging.ts'
import { Sweeper } from './sweeper.ts'
import { createTag, deleteTag, getTag, listTags } from './tags.ts'
import { WriteQueue } from './write-queue.ts'

/**
 * What the engine can do. Reads are synchronous and see one consistent state. Writes are answered only when they are
 * durable; each is one atomic step, of which no reader ever sees half.
 */
const OPERATIONS = {
  createRepository,
  getRepository,
  listRepositories,
  deleteRepository,

  createBranch,
  getBranch,
  listBranches,
  deleteBranch,
  hardReset,
  resetUncommitted,
  revert,
  cherryPick,
  createTag,
  getTag,
  listTags,
  deleteTag,

  storeBlob,
  openBlob,
  readBlob,
  blobSize,
  reserveAddress,
  storeBlobAt,

  stat: objects.stat,
  list: objects.list,
  putEntry: objects.putEntry,
  setUserMetadata: objects.setUserMetadata,
  copyEntry: objects.copyEntry,
  deleteEntry: objects.deleteEntry,
  deleteEntries: objects.deleteEntries,

  diffRefs,
  diffUncommitted,

  commit,
  writeCommitRecord,
  getCommit,
  log,
  merge,
  findMergeBase,

  getProtection,
  setProtection,
}

/** The operations without their first parameter, the opened storage. */
type Bound<Operations> = {
  readonly [Name in keyof Operations]: Operations[Name] extends (
    context: EngineContext,
    ...parameters: infer Parameters
  ) => infer Result
    ? (...parameters: Parameters) => Result
    : never
}

export interface LakefsEngine extends Bound<typeof OPERATIONS> {
  /** Waits for writes under way, then closes the files. May be called twice. */
  close(): Promise<void>
}

export interface OpenEngineOptions {
  /** Left out: metadata and objects stay in this process, and are gone after `close()`. */
  readonly dataDir?: string | undefined
  readonly clock?: Clock
  /** Runs action files; left out, they are ordinary objects. */
  readonly hooks?: HookRunner
  /** Called with what a post-hook threw; the update before it has happened all the same. */
  readonly onPostHookError?: (error: unknown, event: Pick<HookEvent, 'type'>) => void
}

/**
 * Opens a data directory, or makes it. Only one process can have it open; a second one gets
 * `embedded/data-dir-in-use`.
 *
 * ```ts
 * const engine = await openEngine({ dataDir: '.perago/lakefs' })
 * await engine.createRepository({ name: 'lake', storageNamespace: 'local://lake', defaultBranch: 'main' })
 * await engine.close()
 * ```
 */
export async function openEngine(options: OpenEngineOptions): Promise<LakefsEngine> {
  if (options.dataDir === undefined) {
    const db = openMetadataDb(':memory:', 'create')
    return engineOver(options, { db, blobs: new MemoryBlobStore(), closeFiles: () => db.close() })
  }
  const dir = await openDataDir(options.dataDir)
  try {
    await sweepTempFiles(dir.tempDir)
    await fileLeftBlobs(dir)
    return engineOver(options, { db: dir.db, blobs: new DiskBlobStore(dir), closeFiles: () => dir.close() })
  } catch (error) {
    dir.close()
    throw error
  }
}

function engineOver(
  options: OpenEngineOptions,
  { db, blobs, closeFiles }: Pick<EngineContext, 'db' | 'blobs'> & { readonly closeFiles: () => void },
): LakefsEngine {
  const writes = new WriteQueue(db)
  const sweeper = new Sweeper(db, writes)
  const context: EngineContext = {
    db,
    blobs,
    writes,
    nodes: new SqliteNodeStore(db),
    staging: new Staging(db),
    turns: new BranchTurns(),
    clock: options.clock ?? systemClock,
    hooks: options.hooks,
    onPostHookError: options.onPostHookError ?? (() => undefined),
    startSweep: () => sweeper.start(),
  }
  context.startSweep()
  const close = once(async () => {
    await blobs.close()
    writes.close()
    await sweeper.stop()
    closeFiles()
  })
  return { ...bind(context), close }
}

function bind(context: EngineContext): Bound<typeof OPERATIONS> {
  const bound = Object.entries(OPERATIONS).map(([name, operation]) => [
    name,
    (operation as (...parameters: readonly unknown[]) => unknown).bind(undefined, context),
  ])
  return Object.fromEntries(bound) as Bound<typeof OPERATIONS>
}
