/** The storage of the embedded lakeFS-compatible server, opened. Every method is found in the file named for it. */

import { systemClock, type Clock } from '../../../base/clock.ts'
import { DiskBlobStore, MemoryBlobStore, sweepTempFiles, type BlobStore } from './blob-store.ts'
import { BranchTurns } from './branch-turns.ts'
import * as branches from './branches.ts'
import { commit } from './commit-branch.ts'
import { findMergeBase, log } from './commit-graph.ts'
import { writeCommitRecord } from './commit-record.ts'
import { requireCommit } from './commits.ts'
import { openDataDir } from './data-dir.ts'
import { diffRefs, diffUncommitted } from './diff.ts'
import type { EngineContext } from './engine-context.ts'
import type { Commit, HookEvent, HookRunner, LakefsEngine } from './engine.ts'
import { merge } from './merge-branch.ts'
import { openMetadataDb, type MetadataDb } from './metadata-db.ts'
import * as bytes from './object-bytes.ts'
import * as objects from './objects.ts'
import { getProtection, setProtection } from './protection.ts'
import { resolveCommitId } from './refs.ts'
import * as repositories from './repositories.ts'
import { cherryPick, revert } from './revert-branch.ts'
import { SqliteNodeStore } from './sqlite-node-store.ts'
import { Staging } from './staging.ts'
import { Sweeper } from './sweeper.ts'
import * as tags from './tags.ts'
import { WriteQueue } from './write-queue.ts'

export interface OpenEngineOptions {
  /** Left out, or `:memory:`: metadata and objects stay in this process, and are gone after `close()`. */
  readonly dataDir?: string | undefined
  readonly clock?: Clock
  /** Runs action files; left out, they are ordinary objects. */
  readonly hooks?: HookRunner
  /** Told what a post-hook threw; the update it followed has happened all the same. */
  readonly onPostHookError?: (error: unknown, event: HookEvent) => void
}

/**
 * Opens a data directory, or makes it. Only one process can have it open; a second one gets
 * `embedded/data-dir-in-use`.
 *
 * ```ts
 * const engine = await openEngine({ dataDir: ':memory:' })
 * await engine.createRepository({ name: 'lake', storageNamespace: 'local://lake', defaultBranch: 'main' })
 * await engine.close()
 * ```
 */
export async function openEngine(options: OpenEngineOptions): Promise<LakefsEngine> {
  if (options.dataDir === undefined || options.dataDir === ':memory:') {
    const db = openMetadataDb(':memory:', 'create')
    return engineOver(options, { db, blobs: new MemoryBlobStore(), closeFiles: () => db.close() })
  }
  const dir = await openDataDir(options.dataDir)
  try {
    await sweepTempFiles(dir.tempDir)
    return engineOver(options, { db: dir.db, blobs: new DiskBlobStore(dir), closeFiles: () => dir.close() })
  } catch (error) {
    dir.close()
    throw error
  }
}

interface EngineFiles {
  readonly db: MetadataDb
  readonly blobs: BlobStore
  readonly closeFiles: () => void
}

function engineOver(options: OpenEngineOptions, { db, blobs, closeFiles }: EngineFiles): LakefsEngine {
  const context: EngineContext = {
    db,
    blobs,
    writes: new WriteQueue(db),
    nodes: new SqliteNodeStore(db),
    staging: new Staging(db),
    clock: options.clock ?? systemClock,
    hooks: options.hooks,
    onPostHookError: options.onPostHookError ?? (() => undefined),
  }
  const turns = new BranchTurns()
  const sweeper = new Sweeper(context)
  sweeper.start()
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    await context.blobs.close()
    context.writes.close()
    await sweeper.stop()
    closeFiles()
  }

  return {
    createRepository: (request) => repositories.createRepository(context, request),
    getRepository: (name) => repositories.getRepository(context, name),
    listRepositories: (page) => repositories.listRepositories(context, page),
    deleteRepository: async (name) => {
      await repositories.deleteRepository(context, name)
      sweeper.start()
    },

    resolve: (repository, ref) => resolveCommitId(db, repositories.requireStored(db, repository).rid, ref),
    createBranch: (request) => branches.createBranch(context, request),
    getBranch: (repository, name) => branches.getBranch(context, repository, name),
    listBranches: (repository, page) => branches.listBranches(context, repository, page),
    deleteBranch: async (repository, name) => {
      await branches.deleteBranch(context, repository, name)
      sweeper.start()
    },
    hardReset: (request) => branches.hardReset(context, request),
    resetUncommitted: (repository, branch, what) =>
      branches.resetUncommitted(context, { repository, branch, what }),
    revert: (request) => revert(context, turns, request),
    cherryPick: (request) => cherryPick(context, turns, request),
    createTag: (request) => tags.createTag(context, request),
    getTag: (repository, name) => tags.getTag(context, repository, name),
    listTags: (repository, page) => tags.listTags(context, repository, page),
    deleteTag: (repository, name) => tags.deleteTag(context, repository, name),

    storeBlob: (repository, body) => bytes.storeBlob(context, repository, body),
    openBlob: (repository, physicalAddress, range) =>
      bytes.openBlob(context, { repository, physicalAddress, ...(range === undefined ? {} : { range }) }),
    readBlob: (repository, physicalAddress, maxBytes) =>
      bytes.readBlob(context, { repository, physicalAddress, maxBytes }),
    blobSize: (repository, physicalAddress) => bytes.blobSize(context, { repository, physicalAddress }),
    reserveAddress: (repository) => bytes.reserveAddress(context, repository),
    storeBlobAt: (repository, physicalAddress, body) =>
      bytes.storeBlobAt(context, { repository, physicalAddress, body }),

    stat: (repository, ref, path) => objects.stat(context, repository, ref, path),
    list: (repository, ref, page) => objects.list(context, repository, ref, page),
    putEntry: (request) => objects.putEntry(context, request),
    setUserMetadata: (request) => objects.setUserMetadata(context, request),
    copyEntry: (request) => objects.copyEntry(context, request),
    deleteEntry: (repository, branch, path) => objects.deleteEntry(context, { repository, branch, path }),
    deleteEntries: (repository, branch, paths) =>
      objects.deleteEntries(context, { repository, branch, paths }),

    diffRefs: (request) => diffRefs(context, request),
    diffUncommitted: (request) => diffUncommitted(context, request),

    commit: (input) => commit(context, turns, input),
    writeCommitRecord: (repository, record) => writeCommitRecord(context, repository, record),
    getCommit: (repository, ref) => getCommit(context, repository, ref),
    log: (repository, ref, request) => log(context, repository, ref, request),
    merge: (input) => merge(context, turns, input),
    findMergeBase: (repository, source, destination) =>
      findMergeBase(context, { repository, source, destination }),

    getProtection: (repository) => getProtection(context, repository),
    setProtection: (repository, patterns, ifMatch) =>
      setProtection(context, { repository, patterns, ...(ifMatch === undefined ? {} : { ifMatch }) }),

    close: () => (closing ??= close()),
  }
}

function getCommit({ db }: EngineContext, repository: string, ref: string): Commit {
  const { rid } = repositories.requireStored(db, repository)
  return requireCommit(db, rid, resolveCommitId(db, rid, ref))
}
