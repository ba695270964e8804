/** Presigned addresses: no credentials, only what the signature grants. Errors are XML, as an object store sends them. */

import type { Readable } from 'node:stream'

import { EngineError, type StoredBlob } from '../engine/engine.ts'
import { DEFAULT_CONTENT_TYPE, empty, type Answer } from './answer.ts'
import { serveBytes } from './download-handlers.ts'
import type { Exchange } from './exchange.ts'
import type { PresignedGrant } from './signatures.ts'
import { receiveUpload } from './uploaded-body.ts'

export function presignedGet(exchange: Exchange): Promise<Answer> {
  return withGrant(exchange, (grant) => download(exchange, grant))
}

export function presignedPut(exchange: Exchange): Promise<Answer> {
  return withGrant(exchange, (grant) => upload(exchange, grant))
}

async function withGrant(
  { parts, query, request }: Exchange,
  handle: (grant: PresignedGrant) => Answer | Promise<Answer>,
): Promise<Answer> {
  const grant = parts.presign
    ? parts.signatures.readPresigned(request.method ?? '', (name) => query.text(name) ?? '')
    : undefined
  if (grant === undefined) return refusal(403, 'AccessDenied', 'the signature is wrong or has expired')
  try {
    return await handle(grant)
  } catch (error) {
    if (error instanceof EngineError && error.reason === 'repository-not-found') {
      return refusal(404, 'NoSuchBucket', error.message)
    }
    throw error
  }
}

async function download(exchange: Exchange, grant: PresignedGrant): Promise<Answer> {
  const sizeBytes = exchange.engine.blobSize(grant.repository, grant.physicalAddress)
  if (sizeBytes === undefined) return refusal(404, 'NoSuchKey', 'there is nothing at this address')
  return serveBytes(exchange, {
    repository: grant.repository,
    entry: { physicalAddress: grant.physicalAddress, sizeBytes },
    headers: {
      'Content-Type': DEFAULT_CONTENT_TYPE,
      'Accept-Ranges': 'bytes',
      ...(grant.checksum === '' ? {} : { ETag: `"${grant.checksum}"` }),
    },
    rangeHeader: exchange.header('range'),
  })
}

async function upload(exchange: Exchange, grant: PresignedGrant): Promise<Answer> {
  const { engine, parts } = exchange
  const { repository, physicalAddress, uploadId, partNumber } = grant
  if (uploadId !== '') {
    parts.uploads.get(uploadId, repository, physicalAddress)
    const part = await receive(exchange, (content) => engine.storeBlob(repository, content))
    // Looked up again: it may have been completed or aborted while the bytes came in.
    parts.uploads.get(uploadId, repository, physicalAddress).parts.set(partNumber, part)
    return empty(200, { ETag: `"${part.md5}"` })
  }
  parts.uploads.checkNotLinked(physicalAddress)
  const blob = await receive(exchange, (content) => engine.storeBlobAt(repository, physicalAddress, content))
  parts.uploads.stored(physicalAddress, blob)
  return empty(200, { ETag: `"${blob.md5}"` })
}

/** A presigned address takes the body as it is: a form is stored as a form. */
async function receive(
  { request, parts }: Exchange,
  store: (content: Readable | Buffer) => Promise<StoredBlob>,
): Promise<StoredBlob> {
  return (await receiveUpload(request, parts.objectMaxBytes, store, { raw: true })).result
}

function refusal(status: number, code: string, message: string): Answer {
  return {
    status,
    headers: { 'Content-Type': 'application/xml' },
    body: `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message.replaceAll(/[<>&]/g, '')}</Message></Error>\n`,
  }
}
