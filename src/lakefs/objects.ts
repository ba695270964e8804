/** Objects of one repository: listing, reading, writing, deleting. */

import { InvalidError, UnavailableError, type PeragoError } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import { LAKEFS_BATCH_DELETE_MAX_PATHS, LAKEFS_PATH_MAX_BYTES, LAKEFS_REFUSED_PATHS_SHOWN } from './limits.ts'
import type {
  ByteRange,
  CallOptions,
  DownloadOptions,
  DownloadSink,
  ListEntry,
  ListOptions,
  ObjectStat,
  OpenedObject,
  WriteOutcome,
  WriteRequest,
} from '../publication/ports.ts'
import { classifyAnswer } from './answers.ts'
import { noSuchBranch, readBranch } from './branches.ts'
import { missingRef, type RepoContext } from './context.ts'
import { downloadObject, openObject, statObject } from './download.ts'
import { failureOf, quote, type Call } from './failures.ts'
import type { components } from './generated/lakefs-api.ts'
import { paged } from './paging.ts'
import { list, number, toListEntry, toPage } from './readers.ts'
import { uploadObject } from './upload.ts'

export function listObjects(
  { client, repository }: RepoContext,
  at: CommitRef | BranchName,
  options: ListOptions = {},
): AsyncIterable<ListEntry> {
  const { prefix, delimiter, pageSize, after, signal } = options
  return paged(
    async (page) => {
      const result = await client.calls.json(
        { operation: 'listObjects', target: { repository, ref: at }, signal },
        (api, init) =>
          api.GET('/repositories/{repository}/refs/{ref}/objects/ls', {
            ...init,
            params: {
              path: { repository, ref: at },
              query: {
                ...page,
                ...(prefix === undefined ? {} : { prefix }),
                ...(delimiter === undefined ? {} : { delimiter }),
              },
            },
          }),
        (json) => toPage(json, toListEntry),
      )
      return result.value
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
  const { client, repository } = context
  const found = await statObject(client, { repository, at, path }, signalOf(options))
  if (found !== undefined) return found.object
  await missingRef(context, at, options)
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
  const { client, repository } = context
  const found = await openObject(client, { repository, at, path }, options)
  if (found !== undefined) return found
  await missingRef(context, at, options)
  return undefined
}

export async function download(
  context: RepoContext,
  at: CommitRef | BranchName,
  path: string,
  open: () => DownloadSink,
  options: DownloadOptions = {},
): Promise<Pick<OpenedObject, 'checksum' | 'sizeBytes'> | undefined> {
  checkPath(path)
  const { client, repository } = context
  const found = await downloadObject(client, { repository, at, path }, open, options)
  if (found !== undefined) return found
  await missingRef(context, at, signalOf(options))
  return undefined
}

export async function write(
  { client, repository }: RepoContext,
  request: WriteRequest,
  options: CallOptions = {},
): Promise<WriteOutcome> {
  checkPath(request.path)
  return uploadObject(client, { ...request, repository }, options)
}

/**
 * The server says "done" for a branch that is not there, so the branch is read at the end: one that is there then was
 * there while its paths were deleted.
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
  { client, repository }: RepoContext,
  branch: BranchName,
  paths: readonly string[],
  options: CallOptions,
): Promise<void> {
  const call: Call<'deleteObjects'> = {
    operation: 'deleteObjects',
    target: { repository, branch },
    signal: options.signal,
  }
  await client.calls.attempts(call, async () => {
    const result = await client.calls.jsonOnce(
      call,
      (api, init) =>
        api.POST('/repositories/{repository}/branches/{branch}/objects/delete', {
          ...init,
          params: { path: { repository, branch } },
          body: { paths: [...paths] },
        }),
      (json) => list(json?.errors, 'errors') as components['schemas']['PathRefusals']['errors'],
    )
    if (result.value.length > 0) throw refusedPaths(call, result.value)
  })
}

/** Some paths were refused: the first refusal decides what kind of error it is, as if it had been the answer to all. */
function refusedPaths(
  call: Call<'deleteObjects'>,
  refused: components['schemas']['PathRefusals']['errors'],
): PeragoError {
  const first = refused[0]
  const status = number(first?.status_code, 'status_code')
  const message = typeof first?.message === 'string' ? first.message : undefined
  const answer = { status, isJson: true, message }
  const verdict = classifyAnswer(call.operation, answer)
  const shown = refused.slice(0, LAKEFS_REFUSED_PATHS_SHOWN).map((entry) => quote(entry.path ?? ''))
  const target = { ...call.target, paths: shown.join(', '), refused: String(refused.length) }
  if (verdict.is === 'error') {
    return failureOf({ ...call, target }, verdict, answer, { retryAfterMs: undefined, requestId: undefined })
  }
  return new UnavailableError(
    'lakefs/paths-refused',
    `delete objects: ${refused.length} paths were refused`,
    {
      details: target,
    },
  )
}

function checkPath(path: string): void {
  const bytes = Buffer.byteLength(path)
  if (bytes >= 1 && bytes <= LAKEFS_PATH_MAX_BYTES && isWellFormed(path)) return
  throw new InvalidError(
    'lakefs/bad-path',
    `use ${JSON.stringify(quote(path))} as a path: it has ${bytes} bytes`,
    { next: `A path is 1 to ${LAKEFS_PATH_MAX_BYTES} bytes of well-formed UTF-8.` },
  )
}

/** Half of a surrogate pair cannot be written as UTF-8; it would silently become another character. */
function isWellFormed(text: string): boolean {
  return Buffer.from(text).toString() === text
}

function checkRange(range: ByteRange | undefined): void {
  if (range === undefined) return
  const { start, end = start } = range
  if (Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && end >= start) return
  throw new InvalidError('lakefs/bad-range', `read bytes ${start} to ${end}: that is no range`)
}

function signalOf(options: CallOptions): CallOptions {
  return options.signal === undefined ? {} : { signal: options.signal }
}
