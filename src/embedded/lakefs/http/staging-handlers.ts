/** Bytes that go around the API: staging addresses, linking, and multi-part uploads through presigned addresses. */

import { Readable } from 'node:stream'

import { EMBEDDED_PARTS_MAX } from '../../limits.ts'
import type { Entry } from '../engine/engine.ts'
import { DEFAULT_CONTENT_TYPE, empty, failure, HttpProblem, json, type Answer } from './answer.ts'
import { PRESIGN_NOT_OFFERED, type Exchange, type ReadBody } from './exchange.ts'
import { flag, integer, listOf, metadata, objectOf, optional, text } from './json-body.ts'
import { readCreateOnly } from './object-handlers.ts'
import { chooseParts, multipartEtag, stripQuotes, type MultipartUpload } from './presigned-uploads.ts'
import { renderEntry } from './renderings.ts'
import type { PresignedGrant, StagingTarget } from './signatures.ts'

/** What is said of an object whose bytes came another way. */
const DESCRIPTION = {
  content_type: optional(text),
  user_metadata: optional(metadata),
  mtime: optional(integer),
}
type Description = { readonly [Name in keyof typeof DESCRIPTION]: ReturnType<(typeof DESCRIPTION)[Name]> }

/** Measured: also for a branch that does not exist. */
export function getPhysicalAddress(exchange: Exchange): Answer {
  const { engine, parts, repository } = exchange
  const target = stagingTarget(exchange)
  const isPresigned = exchange.query.flag('presign') ?? false
  if (isPresigned && !parts.presign) return failure(500, PRESIGN_NOT_OFFERED)
  const reserved = engine.reserveAddress(repository)
  const signed = parts.signatures.signStagingAddress(target, reserved)
  if (!isPresigned) return json(200, { physical_address: signed, presigned_url: null })
  const { url, expiry } = exchange.presign(putGrant(repository, reserved))
  return json(200, { physical_address: signed, presigned_url: url, presigned_url_expiry: expiry })
}

export const LINK = objectOf({
  staging: optional(objectOf({ physical_address: optional(text) })),
  checksum: text,
  size_bytes: integer,
  force: optional(flag),
  ...DESCRIPTION,
})

export async function linkPhysicalAddress(
  exchange: Exchange,
  readBody: ReadBody<typeof LINK>,
): Promise<Answer> {
  const { engine, parts, repository, branch } = exchange
  const target = stagingTarget(exchange)
  const ifAbsent = readCreateOnly(exchange)
  const body = await readBody()
  const address = body.staging?.physical_address ?? ''
  const checksum = stripQuotes(body.checksum)
  const sizeBytes = body.size_bytes
  if (checksum === '') throw new HttpProblem(400, 'checksum is required')
  if (sizeBytes < 0) throw new HttpProblem(400, 'size_bytes must not be negative')
  const physicalAddress = checkAddress(exchange, target, { address, checksum, sizeBytes })
  const entry = { ...describe(exchange, body), path: target.path, physicalAddress, checksum, sizeBytes }
  const linked = await engine.putEntry({ repository, branch, entry, ifAbsent })
  parts.uploads.linked(physicalAddress)
  return json(200, { ...renderEntry(linked), physical_address: address })
}

export function createPresignMultipartUpload(exchange: Exchange): Answer {
  const target = stagingTarget(exchange)
  const parts = exchange.query.integer('parts', { least: 0, most: EMBEDDED_PARTS_MAX }) ?? 0
  requireMultipart(exchange)
  exchange.engine.getBranch(exchange.repository, exchange.branch)
  const upload = exchange.parts.uploads.open(
    exchange.repository,
    exchange.engine.reserveAddress(exchange.repository),
  )
  const urls = Array.from({ length: parts }, (_, index) => presignPart(exchange, upload, index + 1))
  return json(201, {
    physical_address: exchange.parts.signatures.signStagingAddress(target, upload.physicalAddress),
    upload_id: upload.id,
    ...(urls.length === 0 ? {} : { presigned_urls: urls }),
  })
}

export const UPLOAD = objectOf({ physical_address: text })

/** A presigned address for one more part of an upload that was begun. */
export async function uploadPart(exchange: Exchange, readBody: ReadBody<typeof UPLOAD>): Promise<Answer> {
  const upload = findUpload(exchange, await readBody())
  const number = Number(exchange.segment('partNumber'))
  if (!Number.isInteger(number) || number < 1 || number > EMBEDDED_PARTS_MAX) {
    throw new HttpProblem(400, `part number must be from 1 to ${String(EMBEDDED_PARTS_MAX)}`)
  }
  return json(200, { presigned_url: presignPart(exchange, upload, number) })
}

export const COMPLETE = objectOf({
  parts: listOf(objectOf({ part_number: integer, etag: text })),
  physical_address: text,
  ...DESCRIPTION,
})

export async function completePresignMultipartUpload(
  exchange: Exchange,
  readBody: ReadBody<typeof COMPLETE>,
): Promise<Answer> {
  const { engine, parts, repository, branch } = exchange
  const body = await readBody()
  const upload = findUpload(exchange, body)
  if (body.parts.length === 0) throw new HttpProblem(400, 'parts are required')
  const chosen = chooseParts(upload, body.parts)
  const joined = await engine.storeBlobAt(
    repository,
    upload.physicalAddress,
    Readable.from(joinParts(exchange, chosen), { objectMode: false }),
  )
  const entry: Entry = {
    ...describe(exchange, body),
    path: exchange.query.objectPath(),
    physicalAddress: joined.physicalAddress,
    checksum: multipartEtag(chosen),
    sizeBytes: joined.sizeBytes,
  }
  const linked = await engine.putEntry({ repository, branch, entry, ifAbsent: false })
  // Only now: when the entry was refused the upload can be completed again.
  parts.uploads.close(upload.id)
  return json(200, renderEntry(linked))
}

export async function abortPresignMultipartUpload(
  exchange: Exchange,
  readBody: ReadBody<typeof UPLOAD>,
): Promise<Answer> {
  exchange.parts.uploads.close(findUpload(exchange, await readBody()).id)
  return empty(204)
}

function stagingTarget(exchange: Exchange): StagingTarget {
  return { repository: exchange.repository, branch: exchange.branch, path: exchange.query.objectPath() }
}

/** Checks a claim about uploaded bytes; returns the address of the bytes without its signature. */
function checkAddress(
  exchange: Exchange,
  target: StagingTarget,
  claimed: { readonly address: string; readonly checksum: string; readonly sizeBytes: number },
): string {
  const { engine, parts, repository } = exchange
  const { storageNamespace } = engine.getRepository(repository)
  // An address outside our own data folder cannot be checked: it is trusted, as the real server does.
  if (!claimed.address.startsWith(`${storageNamespace.replace(/\/+$/, '')}/data/`)) return claimed.address
  const address = parts.signatures.checkStagingAddress(target, claimed.address)
  // Without presigned addresses nothing can have been uploaded here, so this too is trusted.
  if (!parts.presign) return address
  const sizeBytes = engine.blobSize(repository, address)
  if (sizeBytes === undefined) throw new HttpProblem(400, 'nothing was uploaded to this address')
  const digest = parts.uploads.digestOf(address) ?? claimed.checksum
  if (sizeBytes !== claimed.sizeBytes || digest !== claimed.checksum) {
    throw new HttpProblem(400, 'checksum or size is not that of what was uploaded to this address')
  }
  return address
}

function describe(
  exchange: Exchange,
  body: Description,
): Pick<Entry, 'contentType' | 'metadata' | 'modifiedAt'> {
  const { content_type: contentType = '' } = body
  return {
    contentType: contentType === '' ? DEFAULT_CONTENT_TYPE : contentType,
    metadata: body.user_metadata ?? {},
    modifiedAt: body.mtime ?? exchange.now(),
  }
}

function requireMultipart(exchange: Exchange): void {
  if (!exchange.parts.presign) throw new HttpProblem(501, 'presign multipart upload API is not supported')
}

function findUpload(exchange: Exchange, body: ReturnType<typeof UPLOAD>): MultipartUpload {
  requireMultipart(exchange)
  const { signatures, uploads } = exchange.parts
  const address = signatures.checkStagingAddress(stagingTarget(exchange), body.physical_address)
  return uploads.get(exchange.segment('uploadId'), exchange.repository, address)
}

function presignPart(exchange: Exchange, upload: MultipartUpload, partNumber: number): string {
  const grant = putGrant(exchange.repository, upload.physicalAddress)
  return exchange.presign({ ...grant, uploadId: upload.id, partNumber }).url
}

function putGrant(repository: string, physicalAddress: string): PresignedGrant {
  return { method: 'PUT', repository, physicalAddress, checksum: '', uploadId: '', partNumber: 0 }
}

async function* joinParts(
  { engine, repository }: Exchange,
  parts: readonly { readonly physicalAddress: string }[],
): AsyncGenerator<Buffer> {
  for (const part of parts) {
    const open = await engine.openBlob(repository, part.physicalAddress)
    yield* open() as AsyncIterable<Buffer>
  }
}
