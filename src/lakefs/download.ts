/** Bytes out of a repository: through lakeFS, or straight from the object store where the server offers that. */

import type { BranchName, CommitRef, RepositoryName } from '../base/ids.ts'
import type { ByteRange, CallOptions, ObjectStat, OpenedObject } from '../publication/ports.ts'
import { looksLikeMd5, verified } from './bodies.ts'
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
      path: requestPath(
        client.endpoint,
        '/repositories/{repository}/refs/{ref}/objects',
        { repository: place.repository, ref: place.at },
        { path: place.path },
      ),
      headers: options.range === undefined ? {} : { range: rangeHeader(options.range) },
    }),
  )
  if (result.is !== 'done') return undefined

  const answer = result.value
  const checksum = answer.header('etag')?.replace(/^"(.*)"$/, '$1') ?? ''
  const sizeBytes = Number(answer.header('content-length') ?? Number.NaN)
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
