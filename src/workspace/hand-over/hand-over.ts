/**
 * From the directory of one attempt to that of the next: after a publication a directory *is* the new commit, if nothing
 * in it moves any more.
 *
 * - HND-1 Only what the comparison saw, and what was then stored, makes a directory the new commit. What it held beside
 *   that is removed first; where that is not possible, the directory is not handed over.
 * - HND-2 A directory that is handed over belongs to nobody, under a path nobody was told, until somebody takes it; taking
 *   renames it in one step.
 * - HND-3 No process has a file of it open or mapped, or stands in it. Were it otherwise, the facts would prove nothing.
 * - HND-4 Whoever takes it proves by size, mtime, ctime and inode of every file, and by the names of all that is there,
 *   that it is what it was. What does not prove itself is thrown away as a whole: somebody writes to it.
 */

import { chmodSync, lstatSync, rmdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import type { ChangeSet } from '../comparing/diff.ts'
import { passFileClock, readFileClock } from '../comparing/file-clock.ts'
import { readFileFacts, sameFacts } from '../comparing/file-facts.ts'
import type { FileFacts } from '../../tasks/tree-entry.ts'
import { findHolder, type ProcessMoment } from './find-holder.ts'
import { clockFileOf, workspaceOf, type AttemptWorkspace } from '../laying-out/lay-out.ts'
import { ManifestRecord } from '../manifest.ts'
import type { AsideDirectory, WorkspaceAttempt, WorkspaceRoot } from '../ownership/ownership.ts'
import { isUsual, usualPermissionsAt, type WatchedTree } from './tree-watch.ts'
import { permissionsOf, walkTree } from '../comparing/walk-tree.ts'
import type { WorkspaceView } from '../../tasks/workspace-spec.ts'

/** A directory on its way from one attempt to another. */
export interface HandedOver {
  readonly aside: AsideDirectory
  /** Of the commit that it is now. */
  readonly manifest: ManifestRecord
  readonly view: WorkspaceView
}

export type HandOver =
  | { readonly isHandedOver: true; readonly directory: HandedOver }
  /** The directory is of no use to anybody else, and may be gone. Why, as the end of a sentence. */
  | { readonly isHandedOver: false; readonly why: string }

export interface HandOverRequest {
  readonly workspace: AttemptWorkspace
  /** Of the comparison that the publication was made from. */
  readonly changes: ChangeSet
  /** Key → the checksum under which what was uploaded is stored. */
  readonly stored: ReadonlyMap<string, string>
  /** From before the body began. */
  readonly since: ProcessMoment
}

/** To be called once the publication is confirmed, and after the body and whatever reads the directory have ended. */
export async function handOver(request: HandOverRequest): Promise<HandOver> {
  const { workspace, changes, since } = request
  const { seen } = changes
  if (seen === undefined) return refused('it still changed while it was compared')
  try {
    const facts = new Map(seen.facts)
    const trouble = makeUsual(workspace, seen, facts) ?? removeLeftOut(workspace, changes)
    if (trouble !== undefined) return refused(trouble)
    const manifest = succeed(workspace.manifest, { ...request, facts })
    if (manifest === undefined) return refused('it is not known what was stored')
    tidyDirectories(workspace, manifest, seen.directories)
    const aside = await workspace.owned.setAside()
    // After it was renamed: whoever has its path only cannot get at it any more.
    const holder = findHolder(aside.path, since)
    if (holder === undefined)
      return { isHandedOver: true, directory: { aside, manifest, view: workspace.view } }
    await aside.discard()
    return refused(holder)
  } catch (error) {
    return refused(error instanceof Error ? error.message : String(error))
  }
}

export interface TakeOverOptions {
  readonly root: WorkspaceRoot
  readonly attempt: WorkspaceAttempt
  readonly clock: Clock
  readonly signal?: AbortSignal | undefined
}

export type TakeOver =
  | { readonly isTaken: true; readonly workspace: AttemptWorkspace }
  | { readonly isTaken: false; readonly why: string }

/** Gives the directory to an attempt if it proves itself, and removes it if not. Throws only for an abort. */
export async function takeOver(
  { aside, manifest, view }: HandedOver,
  { root, attempt, clock, signal }: TakeOverOptions,
): Promise<TakeOver> {
  let owned
  try {
    owned = await root.adopt(aside, attempt)
    const workspace = workspaceOf(owned, view, manifest)
    const newestNs = await prove(workspace, signal)
    manifest.layOutEndNs = await passFileClock(clockFileOf(owned), newestNs, clock)
    return { isTaken: true, workspace }
  } catch (error) {
    await (owned === undefined ? aside.discard() : owned.remove()).catch((leftover: unknown) => {
      root.logger.warn('could not remove a directory that did not prove itself', { error: leftover })
    })
    signal?.throwIfAborted()
    return { isTaken: false, why: error instanceof Error ? error.message : String(error) }
  }
}

function refused(why: string): HandOver {
  return { isHandedOver: false, why }
}

/** Permissions are not published, so the next task must not see those that this one gave. */
function makeUsual(
  { dir, scratch }: AttemptWorkspace,
  { unlike }: WatchedTree,
  facts: Map<string, FileFacts>,
): string | undefined {
  const usual = usualPermissionsAt(clockFileOf({ scratch }))
  for (const { path, permissions } of unlike) {
    // With a second name somewhere, it can be written to from there.
    if (permissions.links !== 1 || permissions.owner !== usual.owner)
      return `${JSON.stringify(path)} is not its own alone`
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

/** What the globs leave out was not published; laid out anew, it would not be there. */
function removeLeftOut({ dir }: AttemptWorkspace, { leftOut }: ChangeSet): string | undefined {
  if (leftOut.count > leftOut.named.length) return 'too much was left out of the publication'
  for (const { path } of leftOut.named) unlinkSync(join(dir, path))
  return undefined
}

/** The manifest of the commit that was published; `undefined` when it is not known what some file is stored as. */
function succeed(
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
      // What is not in it was left out, and is gone by now.
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

/** An empty directory is not published; laid out anew, it would not be there. */
function tidyDirectories(
  { dir, scratch }: AttemptWorkspace,
  manifest: ManifestRecord,
  directories: readonly string[],
): void {
  const needed = directoriesOf(manifest)
  // The longer a path, the further below.
  const extra = directories.filter((path) => !needed.has(path)).sort((a, b) => b.length - a.length)
  for (const path of extra) rmdirSync(join(dir, path))
  const usualMode = modeOf(scratch)
  for (const path of ['', ...needed])
    if (modeOf(join(dir, path)) !== usualMode) chmodSync(join(dir, path), usualMode)
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

/** Throws unless everything is as it was. Gives the newest time that any file has. */
async function prove(workspace: AttemptWorkspace, signal: AbortSignal | undefined): Promise<bigint> {
  const { dir, manifest, scratch } = workspace
  const needed = directoriesOf(manifest)
  const clockFile = clockFileOf({ scratch })
  readFileClock(clockFile)
  const usual = usualPermissionsAt(clockFile)
  const usualDirectoryMode = modeOf(scratch)
  const doubt = (path: string, what: string): never => {
    throw new Error(`${JSON.stringify(path)} ${what}`)
  }
  let files = 0
  let directories = 0
  let newestNs = 0n
  const isDirectoryUsual = (path: string): boolean => modeOf(join(dir, path)) === usualDirectoryMode
  if (!isDirectoryUsual('')) doubt('', 'has other permissions')
  await walkTree(
    dir,
    {
      signal,
      onDirectory: (path) => {
        directories++
        if (!needed.has(path)) doubt(path, 'is new')
        if (!isDirectoryUsual(path)) doubt(path, 'has other permissions')
      },
    },
    (entry) => {
      if (entry.kind === 'other') return doubt(entry.path, entry.what)
      const index = manifest.find(entry.path)
      if (index === -1) return doubt(entry.path, 'is new')
      if (!sameFacts(entry.facts, manifest.facts(index))) doubt(entry.path, 'was changed')
      if (!isUsual(entry.permissions, usual)) doubt(entry.path, 'has other permissions, or another name')
      if (entry.facts.ctimeNs > newestNs) newestNs = entry.facts.ctimeNs
      if (entry.facts.mtimeNs > newestNs) newestNs = entry.facts.mtimeNs
      files++
    },
  )
  if (files !== manifest.count || directories !== needed.size) doubt(dir, 'lacks something')
  return newestNs
}

function modeOf(path: string): number {
  const stats = lstatSync(path, { bigint: true })
  if (!stats.isDirectory()) throw new Error(`${JSON.stringify(path)} is no directory`)
  return permissionsOf(stats).mode
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
