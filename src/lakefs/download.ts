/** Bytes out of a repository: through lakeFS, or straight from the object store where the server offers that. */

import { createHash } from 'node:crypto'
import { invariant, isPeragoError } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import type {
  ByteRange,
  CallOptions,
  DownloadOptions,
  DownloadSink,
  OpenedObject,
} from '../publication/ports.ts'
import type { OpenedAnswer } from '../remote/connection.ts'
import { shapeFailure } from '../remote/failures.ts'
import type { AnswerHead } from '../remote/http-exchange.ts'
import { corrupted, looksLikeMd5, shortBody, verified } from './bodies.ts'
import type { RepoContext } from './context.ts'
import { LAKEFS_DIRECT_DOWNLOAD_MAX_BYTES } from './limits.ts'
import { getBytes, unquoted } from './object-store.ts'
import { LAKEFS } from './operations.ts'
import { toObjectStat, toPhysicalAddress } from './readers.ts'

export interface ObjectPlace {
  readonly at: CommitRef | BranchName
  readonly path: string
}

interface OpenOptions extends CallOptions {
  readonly range?: ByteRange
}

type Opening = OpenOptions & { readonly isMd5: boolean }

/** `undefined` when the object, the ref or the repository does not exist. */
export async function openObject(
  context: RepoContext,
  place: ObjectPlace,
  options: OpenOptions,
): Promise<OpenedObject | undefined> {
  const { checksumIsMd5: isMd5, presign } = await context.lakefs.capabilities(options)
  return presign
    ? openFromStore(context, place, { ...options, isMd5 })
    : context.server.attempts(objectCall(context, place, options), () =>
        openThroughServer(context, place, { ...options, isMd5 }),
      )
}

/**
 * The whole object straight to a sink. Up to a size it goes through the server even where the store offers it: that takes
 * one request instead of two, which is what counts for small objects.
 */
export async function downloadObject(
  context: RepoContext,
  place: ObjectPlace,
  open: () => DownloadSink,
  options: DownloadOptions,
): Promise<Pick<OpenedObject, 'checksum' | 'sizeBytes'> | undefined> {
  const { presign, checksumIsMd5 } = await context.lakefs.capabilities(options)
  const isComparable = checksumIsMd5 && options.verify !== false
  if (presign && (options.sizeBytes ?? Infinity) > LAKEFS_DIRECT_DOWNLOAD_MAX_BYTES)
    return pipeFromStore(context, place, open, { ...options, isComparable })
  const call = objectCall(context, place, options)
  return context.server.attempts(call, () =>
    receiveThroughServer(context, place, open, { ...options, isComparable }),
  )
}

type Receiving = DownloadOptions & { readonly isComparable: boolean }

async function pipeFromStore(
  context: RepoContext,
  place: ObjectPlace,
  open: () => DownloadSink,
  { signal, verify, isComparable }: Receiving,
): Promise<Pick<OpenedObject, 'checksum' | 'sizeBytes'> | undefined> {
  const isBySink = verify === 'by-sink'
  const isMd5 = isComparable && !isBySink
  const opened = await openFromStore(context, place, { signal, isMd5 })
  if (opened === undefined) return undefined
  const write = open()
  for await (const piece of opened.body as AsyncIterable<Uint8Array>) await write(piece)
  const { checksum: md5, sizeBytes } = opened
  if (isBySink && isComparable && looksLikeMd5(md5)) {
    const arrived = await md5OfSink(write)
    if (arrived !== md5) throw corrupted({ sizeBytes, md5, what: whatOf(context, place) }, arrived)
  }
  return opened
}

/** One try. */
async function receiveThroughServer(
  context: RepoContext,
  place: ObjectPlace,
  open: () => DownloadSink,
  { signal, verify, isComparable }: Receiving,
): Promise<Pick<OpenedObject, 'checksum' | 'sizeBytes'> | undefined> {
  const call = objectCall(context, place, { signal })
  let checksum = ''
  let sizeBytes = 0
  let arrivedBytes = 0
  let readMd5: (() => Promise<string> | string | undefined) | undefined
  const receive = (head: AnswerHead): DownloadSink => {
    checksum = unquoted(head.header('etag')) ?? ''
    sizeBytes = lengthOf(head)
    if (!Number.isSafeInteger(sizeBytes)) throw shapeFailure(LAKEFS, call, 'it has no length')
    const write = open()
    const isHashed = isComparable && looksLikeMd5(checksum)
    const hash = isHashed && verify !== 'by-sink' ? createHash('md5') : undefined
    if (isHashed) readMd5 = () => (hash === undefined ? md5OfSink(write) : hash.digest('hex'))
    return (piece) => {
      arrivedBytes += piece.byteLength
      hash?.update(piece)
      return write(piece)
    }
  }
  const what = whatOf(context, place)
  const result = await context.server
    .once(call, () => undefined, receive)
    .catch((error: unknown) => {
      // Once bytes have come, a connection that breaks is a body that is too short. An error of the sink stays as it is.
      const isBroken = arrivedBytes > 0 && signal?.aborted !== true && isOfLakefs(error)
      throw isBroken ? shortBody({ sizeBytes, what }, arrivedBytes, error) : error
    })
  if (result.is !== 'done') return undefined
  if (arrivedBytes !== sizeBytes) throw shortBody({ sizeBytes, what }, arrivedBytes)
  const md5 = await readMd5?.()
  if (md5 !== undefined && md5 !== checksum) throw corrupted({ sizeBytes, what, md5: checksum }, md5)
  return { checksum, sizeBytes }
}

function md5OfSink(sink: DownloadSink): Promise<string> {
  invariant(sink.md5 !== undefined, 'a sink that verifies has an MD5')
  return sink.md5()
}

/** One try. */
async function openThroughServer(
  context: RepoContext,
  place: ObjectPlace,
  options: Opening,
): Promise<OpenedObject | undefined> {
  const { range } = options
  const headers = range && { range: `bytes=${range.start}-${range.end ?? ''}` }
  const call = { ...objectCall(context, place, options), headers }
  const result = await context.server.open(call)
  if (result.is !== 'done') return undefined

  const { head, body } = result.value
  const sizeBytes = lengthOf(head)
  if (!Number.isSafeInteger(sizeBytes) || (range !== undefined && head.status !== 206)) {
    body.on('error', () => undefined).destroy()
    throw shapeFailure(LAKEFS, call, 'it has no length, or is not the range that was asked for')
  }
  const checksum = unquoted(head.header('etag')) ?? ''
  const contentType = head.header('content-type') ?? ''
  return opened({ checksum, sizeBytes, contentType }, result.value, {
    ...options,
    what: whatOf(context, place),
  })
}

async function openFromStore(
  context: RepoContext,
  place: ObjectPlace,
  options: Opening,
): Promise<OpenedObject | undefined> {
  const { lakefs, repository, server } = context
  const { signal } = options
  const target = { repository, ref: place.at, path: place.path }
  const query = { path: place.path, presign: true }
  const call = { operation: 'statObject', path: target, query, signal } as const
  // A signed address gets old, so each try asks for a new one.
  return server.attempts(call, async () => {
    const result = await server.once(call, (json) => ({
      object: toObjectStat(json),
      address: toPhysicalAddress(json),
    }))
    if (result.is !== 'done') return undefined
    const { object, address } = result.value
    const range = options.range && rangeWithin(options.range, object.sizeBytes)
    // Outside of the object: the store's refusal could not be told from others, lakeFS answers 416.
    if (options.range !== undefined && range === undefined) return openThroughServer(context, place, options)
    const answer = await getBytes(lakefs.store, { address, target, signal, range })
    const sizeBytes = range === undefined ? object.sizeBytes : range.end - range.start + 1
    return opened({ ...object, sizeBytes }, answer, { ...options, what: whatOf(context, place) })
  })
}

function opened(
  { checksum, sizeBytes, contentType }: Omit<OpenedObject, 'body'>,
  answer: OpenedAnswer,
  { isMd5, range, what }: Opening & { readonly what: string },
): OpenedObject {
  const isHashed = isMd5 && range === undefined && looksLikeMd5(checksum)
  const body = verified(answer.body, { sizeBytes, what, ...(isHashed && { md5: checksum }) })
  return { checksum, sizeBytes, contentType, body }
}

function objectCall({ repository }: RepoContext, { at, path }: ObjectPlace, { signal }: CallOptions) {
  const names = { repository, ref: at, path }
  return { operation: 'getObject', path: names, query: { path }, signal } as const
}

function isOfLakefs(error: unknown): boolean {
  return isPeragoError(error) && error.code.startsWith('lakefs/')
}

function lengthOf(head: AnswerHead): number {
  return Number(head.header('content-length') ?? Number.NaN)
}

function rangeWithin(
  range: ByteRange,
  sizeBytes: number,
): { readonly start: number; readonly end: number } | undefined {
  const end = Math.min(range.end ?? sizeBytes - 1, sizeBytes - 1)
  return range.start < 0 || range.start > end ? undefined : { start: range.start, end }
}

function whatOf({ repository }: RepoContext, { at, path }: ObjectPlace): string {
  return `download ${JSON.stringify(path)} at ${at} of ${repository}`
}
