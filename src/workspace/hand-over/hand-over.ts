/**
 * Reuses the directory of one attempt for the next: after a publication it has the content of the new commit, if nothing
 * in it changes any more.
 *
 * - HND-1 A directory is handed over only with what the comparison saw and what was then stored. Everything else is removed
 *   first; if that is not possible, the directory is not handed over.
 * - HND-2 A directory that is handed over belongs to nobody, under a path that nobody knows, until an attempt takes it by
 *   renaming it in one step.
 * - HND-3 No process has anything of it open, mapped or mounted, or works in it: the facts would prove nothing.
 * - HND-4 Before it is used again, size, mtime, ctime and inode of every file and all names are compared. If anything
 *   differs, somebody writes to it, and it is removed.
 */

import { chmodSync, lstatSync, rmdirSync, unlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { messageOf } from '../../base/errors.ts'
import type { ChangeSet } from '../comparing/diff.ts'
import { passFileClock, readFileClock } from '../comparing/file-clock.ts'
import { laterOf, readFileFacts, sameFacts } from '../comparing/file-facts.ts'
import type { FileFacts } from '../../tasks/tree-entry.ts'
import { findHolder, type ProcessMoment } from './find-holder.ts'
import { describeHeld, type HeldDirectory } from './held-directory.ts'
import { clockFileOf, workspaceOf, type AttemptWorkspace } from '../laying-out/lay-out.ts'
import { ManifestRecord } from '../manifest.ts'
import type { AsideDirectory, WorkspaceAttempt, WorkspaceRoot } from '../ownership/ownership.ts'
import { isUsual, usualPermissionsAt, type WatchedTree } from './tree-watch.ts'
import { permissionsOf, walkTree } from '../comparing/walk-tree.ts'
import type { WorkspaceView } from '../../tasks/workspace-spec.ts'

/** A directory between two attempts. */
export interface HandedOver {
  readonly aside: AsideDirectory
  /** Of the commit whose content it has. */
  readonly manifest: ManifestRecord
  readonly view: WorkspaceView
}

export type HandOver =
  | { readonly isHandedOver: true; readonly directory: HandedOver }
  /** It cannot be reused, and may have been removed. `why` is the end of a sentence. */
  | { readonly isHandedOver: false; readonly why: string }

export interface HandOverRequest {
  readonly workspace: AttemptWorkspace
  /** The comparison that was published. */
  readonly changes: ChangeSet
  /** The checksum of each uploaded object, by its key. */
  readonly stored: ReadonlyMap<string, string>
  /** A moment before the body began. */
  readonly since: ProcessMoment
  /** A process that held a file before it was stored, as the end of a sentence. */
  readonly holder?: string | undefined
}

/** To be called when the publication is confirmed, and the body and all readers of the directory have ended. */
export async function handOver(request: HandOverRequest): Promise<HandOver> {
  const { workspace, changes, since, holder: earlier } = request
  const { seen } = changes
  if (!workspace.times.areTrusted)
    return refused(`the times of its files do not show every edit (${workspace.times.fileSystem})`)
  if (seen === undefined) return refused('it changed while it was compared')
  if (earlier !== undefined) return refused(earlier)
  try {
    const facts = new Map(seen.facts)
    const trouble = resetPermissions(workspace, seen, facts) ?? removeLeftOut(workspace, changes)
    if (trouble !== undefined) return refused(trouble)
    const manifest = nextManifest(workspace.manifest, { ...request, facts })
    if (manifest === undefined) return refused('it is not known what was stored')
    const directories = tidyDirectories(workspace, manifest, seen.directories)
    const aside = await workspace.owned.setAside()
    // After it was renamed: from here on its old path leads nowhere.
    const holder = await findHolder(heldAt(aside, workspace, { manifest, directories }), since)
    if (holder === undefined)
      return { isHandedOver: true, directory: { aside, manifest, view: workspace.view } }
    await aside.discard()
    return refused(holder)
  } catch (error) {
    return refused(messageOf(error))
  }
}

export interface TakeOverOptions {
  readonly root: WorkspaceRoot
  readonly attempt: WorkspaceAttempt
  readonly signal?: AbortSignal | undefined
}

export type TakeOver =
  | { readonly isTaken: true; readonly workspace: AttemptWorkspace }
  | { readonly isTaken: false; readonly why: string }

/** Gives the directory to an attempt if it is unchanged, and removes it otherwise. Throws only for an abort. */
export async function takeOver(
  { aside, manifest, view }: HandedOver,
  { root, attempt, signal }: TakeOverOptions,
): Promise<TakeOver> {
  let owned
  try {
    owned = await root.adopt(aside, attempt)
    const workspace = workspaceOf({ root, owned, view, manifest })
    const newestNs = await assertUnchanged(workspace, signal)
    manifest.layOutEndNs = await passFileClock(clockFileOf(owned), newestNs, root.clock)
    return { isTaken: true, workspace }
  } catch (error) {
    await (owned === undefined ? aside.discard() : owned.remove()).catch((leftover: unknown) => {
      root.logger.warn('could not remove a directory that had changed', { error: leftover })
    })
    signal?.throwIfAborted()
    return { isTaken: false, why: messageOf(error) }
  }
}

function refused(why: string): HandOver {
  return { isHandedOver: false, why }
}

/** Permissions are not published, so the next task must not see those that this one set. */
function resetPermissions(
  { dir, scratch }: AttemptWorkspace,
  { unlike }: WatchedTree,
  facts: Map<string, FileFacts>,
): string | undefined {
  const usual = usualPermissionsAt(clockFileOf({ scratch }))
  for (const { path, permissions } of unlike) {
    // If it has a second name, it can be written to under that.
    if (permissions.links !== 1 || permissions.owner !== usual.owner)
      return `${JSON.stringify(path)} has another name or owner`
    const local = join(dir, path)
    const before = readFileFacts(local)
    chmodSync(local, usual.mode)
    const after = readFileFacts(local)
    if (
      before === undefined ||
      after === undefined ||
      !sameFacts({ ...after, ctimeNs: before.ctimeNs }, before)
    )
      return `${JSON.stringify(path)} changed`
    const known = facts.get(path)
    if (known !== undefined && !sameFacts(before, known)) return `${JSON.stringify(path)} changed`
    facts.set(path, after)
  }
  return undefined
}

/** What the globs leave out was not published, so a new layout would not have it. */
function removeLeftOut({ dir }: AttemptWorkspace, { leftOut }: ChangeSet): string | undefined {
  if (leftOut.count > leftOut.named.length) return 'too much was left out of the publication'
  for (const { path } of leftOut.named) unlinkSync(join(dir, path))
  return undefined
}

/** The manifest of the commit that was published; `undefined` if a checksum is not known. */
function nextManifest(
  before: ManifestRecord,
  {
    changes,
    stored,
    facts,
  }: Pick<HandOverRequest, 'changes' | 'stored'> & { readonly facts: ReadonlyMap<string, FileFacts> },
): ManifestRecord | undefined {
  const { prefix } = before
  if (changes.uploads.length === 0 && changes.deletes.length === 0) {
    for (const [path, now] of facts) {
      const index = before.find(path)
      // The others were left out, and are removed already.
      if (index !== -1) before.recordFacts(index, now)
    }
    return before
  }
  const uploads = new Map(changes.uploads.map((upload) => [upload.key.slice(prefix.length), upload]))
  const deletes = new Set(changes.deletes.map((key) => key.slice(prefix.length)))
  const added = [...uploads.keys()].filter((path) => before.find(path) === -1).sort(compareBytes)
  const after = new ManifestRecord(prefix, before.outside)
  const kept: { readonly index: number; readonly facts: FileFacts; readonly from: number }[] = []
  const append = (path: string, from: number): boolean => {
    const upload = uploads.get(path)
    if (upload === undefined) {
      kept.push({ index: after.count, facts: facts.get(path) ?? before.facts(from), from })
      return after.append(path, before.entry(from))
    }
    const checksum = stored.get(upload.key)
    const now = facts.get(path)
    if (checksum === undefined || now?.sizeBytes !== upload.sizeBytes) return false
    kept.push({ index: after.count, facts: now, from: -1 })
    const { key, sizeBytes, contentType, metadata } = upload
    return after.append(path, { key, checksum, sizeBytes, contentType, metadata })
  }
  let next = 0
  for (let index = 0; index < before.count; index++) {
    const path = before.path(index)
    for (; next < added.length && compareBytes(added[next] ?? '', path) < 0; next++)
      if (!append(added[next] ?? '', -1)) return undefined
    if (!deletes.has(path) && !append(path, index)) return undefined
  }
  for (; next < added.length; next++) if (!append(added[next] ?? '', -1)) return undefined
  after.seal()
  for (const { index, facts: now, from } of kept) {
    after.recordFacts(index, now)
    if (from === -1) continue
    const md5 = before.ownMd5(from)
    if (md5 !== undefined) after.recordMd5(index, md5)
    if (before.isCached(from)) after.recordCached(index)
  }
  return after
}

/** An empty directory is not published, so a new layout would not have it. Returns the inodes of the others. */
function tidyDirectories(
  { dir, scratch }: AttemptWorkspace,
  manifest: ManifestRecord,
  directories: readonly string[],
): readonly bigint[] {
  const needed = directoriesOf(manifest)
  // Children before parents.
  const extra = directories.filter((path) => !needed.has(path)).sort((a, b) => b.length - a.length)
  for (const path of extra) rmdirSync(join(dir, path))
  const usualMode = modeOf(scratch)
  return ['', ...needed].map((path) => {
    const { mode, inode } = directoryAt(join(dir, path))
    if (mode !== usualMode) chmodSync(join(dir, path), usualMode)
    return inode
  })
}

/**
 * Looks for a process that could change what is to be stored without a trace: to what it has mapped and written to already it can
 * write again without a new time. To be awaited before anything is stored, because it may end afterwards. Never rejects.
 */
export async function findHolderBefore(
  { owned, scratch }: AttemptWorkspace,
  { seen, uploads }: ChangeSet,
  since: ProcessMoment,
): Promise<string | undefined> {
  // Without these nothing is handed over, or nothing is stored.
  if (seen === undefined || uploads.length === 0) return undefined
  try {
    const inodes = new Set([...seen.facts.values()].map(({ inode }) => inode))
    const path = dirname(owned.tree)
    const hasInode = (inode: bigint): boolean => inodes.has(inode)
    const file = clockFileOf({ scratch })
    return await findHolder(describeHeld({ path, file, formerNames: [], hasInode }), since)
  } catch (error) {
    return messageOf(error)
  }
}

function heldAt(
  aside: AsideDirectory,
  { owned }: AttemptWorkspace,
  found: { readonly manifest: ManifestRecord; readonly directories: readonly bigint[] },
): HeldDirectory {
  const scratch = join(aside.path, 'scratch')
  const directories = new Set([
    ...found.directories,
    directoryAt(aside.path).inode,
    directoryAt(scratch).inode,
  ])
  return describeHeld({
    path: aside.path,
    file: clockFileOf({ scratch }),
    formerNames: [basename(dirname(owned.tree))],
    hasInode: (inode) => directories.has(inode) || found.manifest.hasInode(inode),
  })
}

function directoriesOf(manifest: ManifestRecord): ReadonlySet<string> {
  const directories = new Set<string>()
  for (let index = 0; index < manifest.count; index++) {
    const path = manifest.path(index)
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const parent = path.slice(0, slash)
      if (directories.has(parent)) break
      directories.add(parent)
    }
  }
  return directories
}

/** Throws unless everything is as it was. Returns the time of the last change of any file. */
async function assertUnchanged(
  workspace: AttemptWorkspace,
  signal: AbortSignal | undefined,
): Promise<bigint> {
  const { dir, manifest, scratch } = workspace
  const needed = directoriesOf(manifest)
  const clockFile = clockFileOf({ scratch })
  readFileClock(clockFile)
  const usual = usualPermissionsAt(clockFile)
  const usualDirectoryMode = modeOf(scratch)
  const fail = (path: string, what: string): never => {
    throw new Error(`${JSON.stringify(path)} ${what}`)
  }
  let files = 0
  let directories = 0
  let newestNs = 0n
  const isDirectoryUsual = (path: string): boolean => modeOf(join(dir, path)) === usualDirectoryMode
  if (!isDirectoryUsual('')) fail('', 'has other permissions')
  await walkTree(
    dir,
    {
      signal,
      onDirectory: (path) => {
        directories++
        if (!needed.has(path)) fail(path, 'is new')
        if (!isDirectoryUsual(path)) fail(path, 'has other permissions')
      },
    },
    (entry) => {
      if (entry.kind === 'other') return fail(entry.path, entry.what)
      const index = manifest.find(entry.path)
      if (index === -1) return fail(entry.path, 'is new')
      if (!sameFacts(entry.facts, manifest.facts(index))) fail(entry.path, 'was changed')
      if (!isUsual(entry.permissions, usual)) fail(entry.path, 'has other permissions, or another name')
      newestNs = laterOf(newestNs, entry.facts)
      files++
    },
  )
  if (files !== manifest.count || directories !== needed.size) fail(dir, 'lacks a file or directory')
  return newestNs
}

function modeOf(path: string): number {
  return directoryAt(path).mode
}

function directoryAt(path: string): { readonly mode: number; readonly inode: bigint } {
  const stats = lstatSync(path, { bigint: true })
  if (!stats.isDirectory()) throw new Error(`${JSON.stringify(path)} is not a directory`)
  return { mode: permissionsOf(stats).mode, inode: stats.ino }
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
