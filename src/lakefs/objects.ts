/** Objects of one repository: listing, reading, deleting. */

import { InvalidError, UnavailableError, type PeragoError } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import type {
  ByteRange,
  CallOptions,
  DownloadOptions,
  DownloadSink,
  ListEntry,
  ListOptions,
  ObjectStat,
  OpenedObject,
} from '../publication/ports.ts'
import { failureOf, quote } from '../remote/failures.ts'
import { classifyAnswer } from '../remote/server-table.ts'
import { readBranch } from './branches.ts'
import { checkPath, noSuchBranch, requireRef, type RepoContext } from './context.ts'
import { downloadObject, openObject } from './download.ts'
import { LAKEFS_BATCH_DELETE_MAX_PATHS, LAKEFS_REFUSED_PATHS_SHOWN } from './limits.ts'
import { LAKEFS } from './operations.ts'
import { paged } from './paging.ts'
import { list, number, toListEntry, toObjectStat, toPage, whole } from './readers.ts'

export function listObjects(
  { server, repository }: RepoContext,
  at: CommitRef | BranchName,
  options: ListOptions = {},
): AsyncIterable<ListEntry> {
  const { prefix, delimiter, pageSize, after, signal } = options
  return paged(
    async (page) => {
      const query = { ...page, prefix, delimiter }
      const call = { operation: 'listObjects', path: { repository, ref: at }, query, signal } as const
      return (await server.call(call, (json) => toPage(json, toListEntry))).value
    },
    { after, pageSize, what: `list objects at ${at} of ${repository}` },
  )
}

export async function stat(
  context: RepoContext,
  at: CommitRef | BranchName,
  path: string,
  options: CallOptions = {},
): Promise<ObjectStat | undefined> {
  checkPath(path)
  const { server, repository } = context
  const names = { repository, ref: at, path }
  const call = { operation: 'statObject', path: names, query: { path }, signal: options.signal } as const
  const result = await server.call(call, toObjectStat)
  if (result.is === 'done') return result.value
  await requireRef(context, at, options)
  return undefined
}

export async function read(
  context: RepoContext,
  at: CommitRef | BranchName,
  path: string,
  options: CallOptions & { readonly range?: ByteRange } = {},
): Promise<OpenedObject | undefined> {
  checkPath(path)
  checkRange(options.range)
  const found = await openObject(context, { at, path }, options)
  if (found === undefined) await requireRef(context, at, options)
  return found
}

export async function download(
  context: RepoContext,
  at: CommitRef | BranchName,
  path: string,
  open: () => DownloadSink,
  options: DownloadOptions = {},
): Promise<Pick<OpenedObject, 'checksum' | 'sizeBytes'> | undefined> {
  checkPath(path)
  const found = await downloadObject(context, { at, path }, open, options)
  if (found === undefined) await requireRef(context, at, options)
  return found
}

/**
 * The server also answers "done" for a branch that does not exist, so the branch is read at the end: if it exists then, it
 * existed while its paths were deleted.
 */
export async function deleteObjects(
  context: RepoContext,
  branch: BranchName,
  paths: Iterable<string>,
  options: CallOptions = {},
): Promise<void> {
  let batch: string[] = []
  for (const path of paths) {
    checkPath(path)
    batch.push(path)
    if (batch.length < LAKEFS_BATCH_DELETE_MAX_PATHS) continue
    await deleteBatch(context, branch, batch, options)
    batch = []
  }
  if (batch.length > 0) await deleteBatch(context, branch, batch, options)
  if ((await readBranch(context, branch, options)) === undefined) throw noSuchBranch(context, branch)
}

async function deleteBatch(
  { server, repository }: RepoContext,
  branch: BranchName,
  paths: readonly string[],
  { signal }: CallOptions,
): Promise<void> {
  const target = { repository, branch }
  await server.call({ operation: 'deleteObjects', path: target, json: { paths }, signal }, (json) => {
    const refused = list(json.errors, 'errors')
    if (refused.length > 0) throw refusedPaths(target, refused)
  })
}

/** Some paths were refused: the first refusal decides what kind of error it is, as if it had been the answer to all. */
function refusedPaths(target: object, refused: readonly unknown[]): PeragoError {
  const errors = refused.map((error): Record<string, unknown> => whole(error))
  const status = number(errors[0]?.['status_code'], 'status_code')
  const shown = errors.slice(0, LAKEFS_REFUSED_PATHS_SHOWN).map(({ path }) => quote(String(path)))
  const paths = { ...target, paths: shown.join(', '), refused: refused.length }
  const answer = { status, contentType: '', text: '', json: { message: String(errors[0]?.['message']) } }
  const verdict = classifyAnswer(LAKEFS, 'deleteObjects', answer)
  if (verdict.is === 'error') {
    const subject = { operation: 'deleteObjects', target: paths } as const
    const words = LAKEFS.messageOf(answer)
    return failureOf(LAKEFS, subject, {
      failure: verdict.failure,
      said: `the server answered ${status}${words === undefined ? '' : `: ${quote(words)}`}`,
      details: { status },
    })
  }
  return new UnavailableError(
    'lakefs/paths-refused',
    `delete objects: ${refused.length} paths were refused`,
    { details: paths },
  )
}

function checkRange(range: ByteRange | undefined): void {
  if (range === undefined) return
  const { start, end = start } = range
  if (Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && end >= start) return
  throw new InvalidError('lakefs/bad-range', `read bytes ${start} to ${end}: this is not a range`)
}
