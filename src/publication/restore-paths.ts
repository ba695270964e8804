/**
 * Takes back what one publication did to some paths, by one new commit on the head: nothing leaves the branch. Only paths that
 * nobody has changed since are restored.
 */

import { Readable } from 'node:stream'
import { MissingError, RefusedError } from '../base/errors.ts'
import type { CommitRef } from '../base/ids.ts'
import { isSameAct } from './commit-metadata.ts'
import { showPaths, type PlannedChanges, type PlannedUpload } from './planned-changes.ts'
import type { Change, VersionedRepo } from './ports.ts'
import { publish } from './publish.ts'
import type { PathsRollback, PathsRolledBack } from './rollback-port.ts'
import { openSession, readHead, type Session, type SessionOptions } from './session.ts'

export async function restorePaths(
  options: SessionOptions,
  request: PathsRollback,
): Promise<PathsRolledBack> {
  const session = openSession(options)
  const { done, changes } = await examine(session, request)
  const paths = changes.map(({ path }) => path)
  if (done !== undefined) return { outputRef: done, paths }
  const { branch, expectedHead } = request
  const planned = await planRestoration(session, request, changes)
  const target = { branch, inputRef: expectedHead, prefix: '' }
  const { outputRef } = await publish({ ...options, target, changes: planned })
  return { outputRef, paths }
}

export async function checkPathsRollback(options: SessionOptions, request: PathsRollback): Promise<void> {
  await examine(openSession(options), request)
}

interface Examined {
  /** The commit that has restored them already. */
  readonly done: CommitRef | undefined
  /** What the publication did to these paths. */
  readonly changes: readonly Change[]
}

async function examine(session: Session, request: PathsRollback): Promise<Examined> {
  const { branch, expectedHead, publishedOn, published, paths } = request
  const { authority } = session
  const head = await readHead(session, branch)
  const isDone =
    head?.parents[0] === expectedHead &&
    authority.kind === 'actor' &&
    isSameAct(head.metadata, authority, expectedHead)
  if (!isDone && head?.ref !== expectedHead) throw headElsewhere(request, head?.ref)
  const all = await readChanges(session, publishedOn, published)
  const wanted = paths === undefined ? undefined : new Set(paths)
  const changes = all.filter(({ path }) => wanted?.delete(path) !== false)
  if (wanted !== undefined && wanted.size > 0) throw notPublished(request, [...wanted])
  const since = new Set((await readChanges(session, published, expectedHead)).map(({ path }) => path))
  const changedSince = changes.filter(({ path }) => since.has(path)).map(({ path }) => path)
  if (changedSince.length > 0) throw changedLater(request, changedSince)
  return { done: isDone ? head.ref : undefined, changes }
}

async function readChanges(
  { repo, repeat }: Session,
  from: CommitRef,
  to: CommitRef,
): Promise<readonly Change[]> {
  if (from === to) return []
  return repeat(async (call) => {
    const changes: Change[] = []
    for await (const change of repo.diff(from, to, call)) changes.push(change)
    return changes
  })
}

async function planRestoration(
  { repo, repeat }: Session,
  { publishedOn }: PathsRollback,
  changes: readonly Change[],
): Promise<PlannedChanges> {
  const uploads: PlannedUpload[] = []
  for (const { path } of changes.filter(({ change }) => change !== 'added')) {
    const object = await repeat((call) => repo.stat(publishedOn, path, call))
    if (object === undefined) throw goneObject(publishedOn, path)
    const { sizeBytes, contentType, metadata } = object
    const body = { sizeBytes, open: () => Readable.from(readObject(repo, publishedOn, path)) }
    uploads.push({ path, body, contentType, metadata })
  }
  return { uploads, deletes: changes.filter(({ change }) => change === 'added').map(({ path }) => path) }
}

/** Opened when it is sent: no connection waits for its turn. */
async function* readObject(repo: VersionedRepo, at: CommitRef, path: string): AsyncGenerator<Uint8Array> {
  const opened = await repo.read(at, path)
  if (opened === undefined) throw goneObject(at, path)
  yield* opened.body as AsyncIterable<Uint8Array>
}

function headElsewhere({ branch, expectedHead }: PathsRollback, head: CommitRef | undefined): RefusedError {
  return new RefusedError(
    'publication/head-moved',
    `restore paths on branch "${branch}": the execution left it at ${expectedHead}, its head is ${head ?? 'missing'}`,
    {
      details: { branch, expectedHead, head },
      next: `See in the log of "${branch}" who has written it since.`,
    },
  )
}

function notPublished({ branch, published }: PathsRollback, paths: readonly string[]): RefusedError {
  return new RefusedError(
    'publication/path-not-published',
    `restore paths on branch "${branch}": ${published} did not change ${showPaths(paths)}`,
    { details: { branch, published, paths }, next: 'Name paths that this unit has published.' },
  )
}

function changedLater({ branch, published }: PathsRollback, paths: readonly string[]): RefusedError {
  return new RefusedError(
    'publication/path-changed-since',
    `restore paths on branch "${branch}": ${paths.length} have changed since ${published}, such as ${showPaths(paths)}`,
    {
      details: { branch, published, count: paths.length },
      next: 'Roll back the units that changed them later, too, or name other paths.',
    },
  )
}

function goneObject(at: CommitRef, path: string): MissingError {
  return new MissingError(
    'publication/object-gone',
    `restore ${JSON.stringify(path)}: ${at} does not have it any more`,
    {
      details: { at, path },
      next: 'See whether garbage collection has removed objects of the commit.',
    },
  )
}
