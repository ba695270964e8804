import { requireBranch, type StoredBranch } from './branch-rows.ts'
import { requireCommit, treeOf } from './commits.ts'
import { unixSeconds, type EngineContext } from './engine-context.ts'
import {
  EngineError,
  type DelimitedPageRequest,
  type DeleteRefusal,
  type Entry,
  type Listed,
  type Page,
} from './engine.ts'
import { decodeEntry, encodeEntry } from './entry-codec.ts'
import { readPage } from './listing.ts'
import { checkPath, isPath } from './names.ts'
import { isProtected, refuseProtected } from './protection.ts'
import { resolveRef } from './refs.ts'
import { requireStored, requireWritable } from './repositories.ts'
import { toByteKey, type ByteKey } from './tree/byte-key.ts'
import { lookUp } from './tree/node-store.ts'
import { overlayEntries } from './tree/overlay-streams.ts'
import { streamTree } from './tree/tree-cursor.ts'

/** `ref` may end in `$`, or be a branch name alone, to see uncommitted objects. */
export function stat(context: EngineContext, repository: string, ref: string, path: string): Entry {
  checkPath(path)
  const { rid } = requireStored(context.db, repository)
  const found = findEntry(context, rid, { ref, path })
  if (found === undefined) throw noSuchObject(ref, path)
  return found
}

export function list(
  context: EngineContext,
  repository: string,
  ref: string,
  page: DelimitedPageRequest,
): Page<Listed> {
  const { db, nodes, staging } = context
  const { rid } = requireStored(db, repository)
  const resolved = resolveRef(db, rid, ref)
  const committed = streamTree(nodes, treeOf(requireCommit(db, rid, resolved.commitId)))
  const { uncommitted } = resolved
  const entries =
    uncommitted === undefined ? committed : overlayEntries(committed, staging.stream(uncommitted.bid))
  return readPage<{ key: ByteKey; value: Buffer }, Listed>(entries, page, {
    item: ({ key, value }) => ({ kind: 'object', ...decodeEntry(key, value) }),
    prefix: (path) => ({ kind: 'prefix', path }),
  })
}

/** The last write wins, unless `ifAbsent`; an uncommitted deletion counts as absent. */
export function putEntry(
  context: EngineContext,
  request: {
    repository: string
    branch: string
    entry: Entry
    ifAbsent: boolean
    /** Another entry than every one before, so that the tree is another one, as an upload's own address makes it in lakeFS. */
    isUnique?: boolean
  },
): Promise<Entry> {
  return context.writes.run(() => {
    checkPath(request.entry.path)
    const { rid, branch } = requireWritableBranch(context, request)
    if (request.ifAbsent && findOnBranch(context, { rid, branch, path: request.entry.path }) !== undefined) {
      throw new EngineError('object-exists', 'path already exists')
    }
    return stage(context, branch, { ...request.entry, isUnique: request.isUnique })
  })
}

/** Replaces the metadata; the content stays. */
export function setUserMetadata(
  context: EngineContext,
  request: { repository: string; branch: string; path: string; metadata: Record<string, string> },
): Promise<void> {
  return context.writes.run(() => {
    checkPath(request.path)
    const { rid, branch } = requireWritableBranch(context, request)
    const entry = findOnBranch(context, { rid, branch, path: request.path })
    if (entry === undefined) throw noSuchObject(request.branch, request.path)
    stage(context, branch, { ...entry, metadata: request.metadata })
  })
}

/** Copies the entry; both then name the same bytes. */
export function copyEntry(
  context: EngineContext,
  request: {
    repository: string
    branch: string
    destination: string
    sourceRef: string
    sourcePath: string
  },
): Promise<Entry> {
  return context.writes.run(() => {
    checkPath(request.destination)
    checkPath(request.sourcePath)
    const { rid } = requireWritable(context.db, request.repository)
    requireBranch(context.db, rid, request.branch)
    const source = findEntry(context, rid, { ref: request.sourceRef, path: request.sourcePath })
    if (source === undefined) throw noSuchObject(request.sourceRef, request.sourcePath)
    const { branch } = requireWritableBranch(context, request)
    return stage(context, branch, {
      ...source,
      isUnique: true,
      path: request.destination,
      modifiedAt: unixSeconds(context.clock),
    })
  })
}

/** Deleting what does not exist succeeds and changes nothing. */
export function deleteEntry(
  context: EngineContext,
  repository: string,
  branch: string,
  path: string,
): Promise<void> {
  return context.writes.run(() => {
    checkPath(path)
    const writable = requireWritableBranch(context, { repository, branch })
    stageDeletion(context, { ...writable, path })
  })
}

/** All or none: with one path that is empty or too long, lakeFS deletes none and reports none. */
export function deleteEntries(
  context: EngineContext,
  repository: string,
  branch: string,
  paths: readonly string[],
): Promise<readonly DeleteRefusal[]> {
  return context.writes.run(() => {
    const stored = requireWritable(context.db, repository)
    if (isProtected(stored, branch)) {
      const message = 'cannot write to protected branch'
      return paths.map((path) => ({ path, reason: 'protected-branch' as const, message }))
    }
    const storedBranch = requireBranch(context.db, stored.rid, branch)
    if (!paths.every(isPath)) return []
    for (const path of paths) stageDeletion(context, { rid: stored.rid, branch: storedBranch, path })
    return []
  })
}

function requireWritableBranch(
  { db }: EngineContext,
  request: { readonly repository: string; readonly branch: string },
): { readonly rid: number; readonly branch: StoredBranch } {
  const repository = requireWritable(db, request.repository)
  refuseProtected(repository, request.branch, 'write to')
  return { rid: repository.rid, branch: requireBranch(db, repository.rid, request.branch) }
}

function findEntry(
  context: EngineContext,
  rid: number,
  where: { readonly ref: string; readonly path: string },
): Entry | undefined {
  const resolved = resolveRef(context.db, rid, where.ref)
  return resolved.uncommitted === undefined
    ? findCommitted(context, { rid, commitId: resolved.commitId, path: where.path })
    : findOnBranch(context, { rid, branch: resolved.uncommitted, path: where.path })
}

function findOnBranch(
  context: EngineContext,
  where: { readonly rid: number; readonly branch: StoredBranch; readonly path: string },
): Entry | undefined {
  const key = toByteKey(where.path)
  const staged = context.staging.find(where.branch.bid, key)
  if (staged !== undefined) return staged.value && decodeEntry(key, staged.value)
  return findCommitted(context, { rid: where.rid, commitId: where.branch.commitId, path: where.path })
}

function findCommitted(
  { db, nodes }: EngineContext,
  where: { readonly rid: number; readonly commitId: string; readonly path: string },
): Entry | undefined {
  const key = toByteKey(where.path)
  const value = lookUp(nodes, treeOf(requireCommit(db, where.rid, where.commitId)), key)
  return value && decodeEntry(key, value)
}

function stage(
  { staging }: EngineContext,
  branch: StoredBranch,
  { isUnique = false, ...entry }: Entry & { readonly isUnique?: boolean | undefined },
): Entry {
  staging.put(
    branch.bid,
    toByteKey(entry.path),
    encodeEntry(entry, isUnique ? staging.lastNumber + 1 : undefined),
  )
  return entry
}

/** A deletion is stored only when there is something to delete, committed or staged. */
function stageDeletion(
  context: EngineContext,
  where: { readonly rid: number; readonly branch: StoredBranch; readonly path: string },
): void {
  if (findOnBranch(context, where) === undefined) return
  context.staging.put(where.branch.bid, toByteKey(where.path), undefined)
}

function noSuchObject(ref: string, path: string): EngineError {
  return new EngineError('object-not-found', `object ${JSON.stringify(path)} not found at ${ref}`)
}
