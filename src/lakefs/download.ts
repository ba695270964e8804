/** Bytes out of a repository: through lakeFS, or straight from the object store where the server offers that. */

import { createHash } from 'node:crypto'
import { invariant, isPeragoError } from '../base/errors.ts'
import type { BranchName, CommitRef, RepositoryName } from '../base/ids.ts'
import { LAKEFS_DIRECT_DOWNLOAD_MAX_BYTES } from './limits.ts'
import type {
  ByteRange,
  CallOptions,
  DownloadOptions,
  DownloadSink,
  ObjectStat,
  OpenedObject,
} from '../publication/ports.ts'
import { corrupted, looksLikeMd5, shortBody, verified } from './bodies.ts'
import type { LakefsClient } from './client.ts'
import { requestPath } from './endpoint.ts'
import { shapeFailure, type Call } from './failures.ts'
import { toObjectStat, toPhysicalAddress } from './readers.ts'
import { isStoreTrouble } from './store-transport.ts'
import type { RawAnswer } from './transport.ts'

export interface ObjectPlace {
  readonly repository: RepositoryName
  readonly at: CommitRef | BranchName
  readonly path: string
}

export interface OpenOptions extends CallOptions {
  readonly range?: ByteRange
}

/** `undefined` when something that was named is not there; which, is for the caller to find out. */
export async function openObject(
  client: LakefsClient,
  place: ObjectPlace,
  options: OpenOptions,
): Promise<OpenedObject | undefined> {
  const capabilities = await client.capabilities(options)
  const isMd5 = capabilities.checksumIsMd5
  return capabilities.presign
    ? openFromStore(client, place, { ...options, isMd5 })
    : openThroughServer(client, place, { ...options, isMd5 })
}

/**
 * The whole object straight to a sink. Through the server up to a size, also where the store could be asked: that takes
 * one request instead of two, and for small objects requests are what counts.
 */
export async function downloadObject(
  client: LakefsClient,
  place: ObjectPlace,
  open: () => DownloadSink,
  options: DownloadOptions,
): Promise<Pick<OpenedObject, 'checksum' | 'sizeBytes'> | undefined> {
  const { signal, sizeBytes: listedBytes = Infinity } = options
  const within = signal === undefined ? {} : { signal }
  const { checksumIsMd5, presign } = await client.capabilities(within)
  if (presign && listedBytes > LAKEFS_DIRECT_DOWNLOAD_MAX_BYTES) {
    const opened = await openFromStore(client, place, {
      ...within,
      isMd5: checksumIsMd5 && (options.verify ?? true) === true,
    })
    if (opened === undefined) return undefined
    const write = open()
    for await (const piece of opened.body as AsyncIterable<Uint8Array>) await write(piece)
    const { checksum: md5, sizeBytes } = opened
    if (options.verify === 'by-sink' && checksumIsMd5 && looksLikeMd5(md5)) {
      const arrived = await md5OfSink(write)
      if (arrived !== md5) throw corrupted({ sizeBytes, md5, what: whatOf(place) }, arrived)
    }
    return opened
  }
  const call: Call<'getObject'> = { operation: 'getObject', target: targetOf(place), signal }
  const path = objectPath(client, place)
  return client.calls.attempts(call, async () => {
    const got: Arrived = { checksum: '', sizeBytes: 0, arrivedBytes: 0, md5: undefined }
    const receive = (answer: Pick<RawAnswer, 'header'>): DownloadSink => {
      got.checksum = checksumOf(answer)
      got.sizeBytes = lengthOf(answer)
      if (!Number.isSafeInteger(got.sizeBytes)) throw shapeFailure(call, 'it has no length')
      const isHashable = checksumIsMd5 && options.verify !== false && looksLikeMd5(got.checksum)
      const write = open()
      const isBySink = options.verify === 'by-sink'
      const hash = isHashable && !isBySink ? createHash('md5') : undefined
      got.md5 = !isHashable ? undefined : isBySink ? () => md5OfSink(write) : () => hash?.digest('hex')
      return (piece) => {
        got.arrivedBytes += piece.byteLength
        hash?.update(piece)
        return write(piece)
      }
    }
    const result = await client.calls
      .deliverOnce(call, { method: 'GET', path, headers: {} }, receive)
      .catch((error: unknown) => {
        // Once bytes have come, a connection that breaks is a body that is too short. What the sink says stays as it is.
        const isBroken = got.arrivedBytes > 0 && signal?.aborted !== true && isBreak(error)
        throw isBroken
          ? shortBody({ sizeBytes: got.sizeBytes, what: whatOf(place) }, got.arrivedBytes, error)
          : error
      })
    if (result.is !== 'done') return undefined
    const { checksum, sizeBytes, arrivedBytes } = got
    const expected = { sizeBytes, what: whatOf(place), ...(got.md5 === undefined ? {} : { md5: checksum }) }
    if (arrivedBytes !== sizeBytes) throw shortBody(expected, arrivedBytes)
    const md5 = await got.md5?.()
    if (md5 !== expected.md5) throw corrupted(expected, md5)
    return { checksum, sizeBytes }
  })
}

interface Arrived {
  checksum: string
  sizeBytes: number
  arrivedBytes: number
  /** Left out where nothing is to be held against the checksum. */
  md5: (() => Promise<string> | string | undefined) | undefined
}

function md5OfSink(sink: DownloadSink): Promise<string> {
  invariant(sink.md5 !== undefined, 'a sink that is to say its MD5 has one')
  return sink.md5()
}

/** What is known of an object. With `presign`, also where its bytes can be had. */
export async function statObject(
  client: LakefsClient,
  place: ObjectPlace,
  options: CallOptions & { readonly presign?: boolean },
): Promise<{ readonly object: ObjectStat; readonly address: string | undefined } | undefined> {
  const { repository, at, path } = place
  const presign = options.presign === true
  const result = await client.calls.json(
    { operation: 'statObject', target: targetOf(place), signal: options.signal },
    (api, init) =>
      api.GET('/repositories/{repository}/refs/{ref}/objects/stat', {
        ...init,
        params: { path: { repository, ref: at }, query: { path, ...(presign ? { presign } : {}) } },
      }),
    (json) => ({
      object: toObjectStat(json),
      address: presign ? toPhysicalAddress(json) : undefined,
    }),
  )
  return result.is === 'done' ? result.value : undefined
}

type Opening = OpenOptions & { readonly isMd5: boolean }

async function openThroughServer(
  client: LakefsClient,
  place: ObjectPlace,
  options: Opening,
): Promise<OpenedObject | undefined> {
  const call: Call<'getObject'> = {
    operation: 'getObject',
    target: targetOf(place),
    signal: options.signal,
  }
  const result = await client.calls.attempts(call, () =>
    client.calls.once(call, {
      method: 'GET',
      path: objectPath(client, place),
      headers: options.range === undefined ? {} : { range: rangeHeader(options.range) },
    }),
  )
  if (result.is !== 'done') return undefined

  const answer = result.value
  const checksum = checksumOf(answer)
  const sizeBytes = lengthOf(answer)
  if (!Number.isSafeInteger(sizeBytes) || (options.range !== undefined && answer.status !== 206)) {
    discard(answer)
    throw shapeFailure(call, 'it has no length, or is not the range that was asked for')
  }
  return opened(
    { place, checksum, sizeBytes, contentType: answer.header('content-type') ?? '' },
    answer,
    options,
  )
}

async function openFromStore(
  client: LakefsClient,
  place: ObjectPlace,
  options: Opening,
): Promise<OpenedObject | undefined> {
  const once = async (): Promise<OpenedObject | undefined> => {
    const stat = await statObject(client, place, { ...options, presign: true })
    if (stat === undefined) return undefined
    const { object, address = '' } = stat
    const range = options.range === undefined ? undefined : rangeWithin(options.range, object.sizeBytes)
    // The store could not say it in a way we know; the server can: it answers 416.
    if (options.range !== undefined && range === undefined) return openThroughServer(client, place, options)
    const answer = await client.store.get({
      address,
      what: whatOf(place),
      signal: options.signal,
      ...(range === undefined ? {} : { range }),
    })
    const sizeBytes = range === undefined ? object.sizeBytes : range.end - range.start + 1
    const { checksum, contentType } = object
    return opened({ place, checksum, sizeBytes, contentType }, answer, options)
  }
  return client.calls.repeat(once, { signal: options.signal, shouldRetry: isStoreTrouble })
}

function opened(
  object: Omit<OpenedObject, 'body'> & { readonly place: ObjectPlace },
  answer: RawAnswer,
  options: Opening,
): OpenedObject {
  const { place, checksum, sizeBytes, contentType } = object
  const hashable = options.isMd5 && options.range === undefined && looksLikeMd5(checksum)
  const body = verified(answer.body, {
    sizeBytes,
    what: whatOf(place),
    ...(hashable ? { md5: checksum } : {}),
  })
  return { checksum, sizeBytes, contentType, body }
}

function isBreak(error: unknown): boolean {
  return isPeragoError(error) && error.code.startsWith('lakefs/')
}

function objectPath({ endpoint }: LakefsClient, { repository, at, path }: ObjectPlace): string {
  const template = '/repositories/{repository}/refs/{ref}/objects'
  return requestPath(endpoint, template, { repository, ref: at }, { path })
}

function checksumOf(answer: Pick<RawAnswer, 'header'>): string {
  return answer.header('etag')?.replace(/^"(.*)"$/, '$1') ?? ''
}

function lengthOf(answer: Pick<RawAnswer, 'header'>): number {
  return Number(answer.header('content-length') ?? Number.NaN)
}

function rangeHeader(range: ByteRange): string {
  return `bytes=${range.start}-${range.end ?? ''}`
}

function rangeWithin(
  range: ByteRange,
  sizeBytes: number,
): { readonly start: number; readonly end: number } | undefined {
  const end = Math.min(range.end ?? sizeBytes - 1, sizeBytes - 1)
  return range.start < 0 || range.start > end ? undefined : { start: range.start, end }
}

function discard(answer: RawAnswer): void {
  answer.body.on('error', () => undefined)
  answer.body.destroy()
}

function targetOf(place: ObjectPlace): Readonly<Record<string, string>> {
  return { repository: place.repository, ref: place.at, path: place.path }
}

function whatOf(place: ObjectPlace): string {
  return `download ${JSON.stringify(place.path)} at ${place.at} of ${place.repository}`
}
