/** Bytes that go around the API: staging addresses, linking, and multi-part uploads through presigned addresses. */

import { Readable } from 'node:stream'

import { EMBEDDED_PARTS_MAX } from '../../limits.ts'
import { EngineError, type Entry } from '../engine/engine.ts'
import { empty, failure, HttpProblem, json, type Answer } from './answer.ts'
import type { Exchange } from './exchange.ts'
import type { Fields } from './json-body.ts'
import { pathExists, readCreateOnly } from './object-handlers.ts'
import { presign, PRESIGN_NOT_OFFERED } from './presigned-entries.ts'
import { chooseParts, multipartEtag, type MultipartUpload } from './presigned-uploads.ts'
import { renderEntry } from './renderings.ts'
import type { AddressVerdict, PresignedGrant, StagingTarget } from './signatures.ts'

const DEFAULT_CONTENT_TYPE = 'application/octet-stream'

/** Measured: also for a branch that does not exist. */
export function getPhysicalAddress(exchange: Exchange): Answer {
  const { engine, parts, repository } = exchange
  const target = stagingTarget(exchange)
  const isPresigned = exchange.query.flag('presign') ?? false
  if (isPresigned && !parts.presign) return failure(500, PRESIGN_NOT_OFFERED)
  const reserved = engine.reserveAddress(repository)
  const signed = parts.signatures.signStagingAddress(target, reserved)
  if (!isPresigned) return json(200, { physical_address: signed, presigned_url: null })
  const { url, expiry } = presign(exchange, putGrant(repository, reserved))
  return json(200, { physical_address: signed, presigned_url: url, presigned_url_expiry: expiry })
}

export async function linkPhysicalAddress(exchange: Exchange): Promise<Answer> {
  const { engine, parts, repository, branch } = exchange
  const target = stagingTarget(exchange)
  const ifAbsent = readCreateOnly(exchange)
  const body = await exchange.fields()
  const address = body.object('staging')?.text('physical_address') ?? ''
  const checksum = stripQuotes(body.requiredText('checksum'))
  const sizeBytes = body.requiredInteger('size_bytes')
  body.flag('force')
  if (checksum === '') throw new HttpProblem(400, 'checksum is required')
  if (sizeBytes < 0) throw new HttpProblem(400, 'size_bytes must not be negative')
  const physicalAddress = settleAddress(exchange, target, { address, checksum, sizeBytes })
  const entry = {
    ...readDescription(exchange, body),
    path: target.path,
    physicalAddress,
    checksum,
    sizeBytes,
  }
  try {
    const linked = await engine.putEntry({ repository, branch, entry, ifAbsent })
    parts.uploads.linked(physicalAddress)
    return json(200, { ...renderEntry(linked), physical_address: address })
  } catch (error) {
    if (error instanceof EngineError && error.reason === 'object-exists') return pathExists()
    throw error
  }
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

/** A presigned address for one more part of an upload that was begun. */
export async function uploadPart(exchange: Exchange): Promise<Answer> {
  const body = await exchange.fields()
  const upload = findUpload(exchange, body)
  const number = Number(exchange.segment('partNumber'))
  if (!Number.isInteger(number) || number < 1 || number > EMBEDDED_PARTS_MAX) {
    throw new HttpProblem(400, `part number must be from 1 to ${String(EMBEDDED_PARTS_MAX)}`)
  }
  return json(200, { presigned_url: presignPart(exchange, upload, number) })
}

export async function completePresignMultipartUpload(exchange: Exchange): Promise<Answer> {
  const { engine, parts, repository, branch } = exchange
  const body = await exchange.fields()
  const named = body.objects('parts').map((part) => ({
    partNumber: part.requiredInteger('part_number'),
    etag: part.requiredText('etag'),
  }))
  const description = readDescription(exchange, body)
  const upload = findUpload(exchange, body)
  if (named.length === 0) throw new HttpProblem(400, 'parts are required')
  const chosen = chooseParts(upload, named)
  const joined = await engine.storeBlobAt(
    repository,
    upload.physicalAddress,
    Readable.from(joinParts(exchange, chosen), { objectMode: false }),
  )
  const entry: Entry = {
    ...description,
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

export async function abortPresignMultipartUpload(exchange: Exchange): Promise<Answer> {
  const body = await exchange.fields()
  exchange.parts.uploads.close(findUpload(exchange, body).id)
  return empty(204)
}

function stagingTarget(exchange: Exchange): StagingTarget {
  return { repository: exchange.repository, branch: exchange.branch, path: exchange.query.objectPath() }
}

/** Where the bytes of a linked entry are, after every doubt about the address is settled. */
function settleAddress(
  exchange: Exchange,
  target: StagingTarget,
  claimed: { readonly address: string; readonly checksum: string; readonly sizeBytes: number },
): string {
  const { engine, parts, repository } = exchange
  const { storageNamespace } = engine.getRepository(repository)
  // Outside our own data folder nothing is ours to judge: taken on trust, as the real server takes it.
  if (!claimed.address.startsWith(`${storageNamespace.replace(/\/+$/, '')}/data/`)) return claimed.address
  const address = requireGood(parts.signatures.judgeStagingAddress(target, claimed.address))
  // Without presigned addresses nothing can have been uploaded here, so this too is taken on trust.
  if (!parts.presign) return address
  const sizeBytes = engine.blobSize(repository, address)
  if (sizeBytes === undefined) throw new HttpProblem(400, 'nothing was uploaded to this address')
  const digest = parts.uploads.digestOf(address) ?? claimed.checksum
  if (sizeBytes !== claimed.sizeBytes || digest !== claimed.checksum) {
    throw new HttpProblem(400, 'checksum or size is not that of what was uploaded to this address')
  }
  return address
}

function requireGood(verdict: AddressVerdict): string {
  switch (verdict.kind) {
    case 'good':
      return verdict.address
    case 'unsigned':
      throw new HttpProblem(400, 'address is not signed: link address invalid')
    case 'forged':
      throw new HttpProblem(400, 'invalid address signature: invalid address')
    case 'expired':
      throw new HttpProblem(400, 'link address expired')
  }
}

function readDescription(
  exchange: Exchange,
  body: Fields,
): Pick<Entry, 'contentType' | 'metadata' | 'modifiedAt'> {
  const contentType = body.text('content_type') ?? ''
  return {
    contentType: contentType === '' ? DEFAULT_CONTENT_TYPE : contentType,
    metadata: body.metadata('user_metadata') ?? {},
    modifiedAt: body.integer('mtime') ?? exchange.now(),
  }
}

function requireMultipart(exchange: Exchange): void {
  if (!exchange.parts.presign) throw new HttpProblem(501, 'presign multipart upload API is not supported')
}

function findUpload(exchange: Exchange, body: Fields): MultipartUpload {
  requireMultipart(exchange)
  const { signatures, uploads } = exchange.parts
  const signed = body.requiredText('physical_address')
  const address = requireGood(signatures.judgeStagingAddress(stagingTarget(exchange), signed))
  return uploads.get(exchange.segment('uploadId'), exchange.repository, address)
}

function presignPart(exchange: Exchange, upload: MultipartUpload, partNumber: number): string {
  const grant = putGrant(exchange.repository, upload.physicalAddress)
  return presign(exchange, { ...grant, uploadId: upload.id, partNumber }).url
}

function putGrant(repository: string, physicalAddress: string): PresignedGrant {
  return { method: 'PUT', repository, physicalAddress, checksum: '', uploadId: '', partNumber: 0 }
}

async function* joinParts(
  { engine, repository }: Exchange,
  parts: readonly { readonly physicalAddress: string }[],
): AsyncGenerator<Buffer> {
  for (const part of parts) {
    for await (const chunk of engine.openBlob(repository, part.physicalAddress)) yield chunk as Buffer
  }
}

function stripQuotes(etag: string): string {
  return etag.replaceAll(/^[\s"]+|[\s"]+$/g, '')
}
