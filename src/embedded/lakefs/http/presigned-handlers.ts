/** Behind presigned addresses: no credentials, only what the signature grants. Answers like an object store, in XML. */

import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'

import { EngineError, type StoredBlob } from '../engine/engine.ts'
import { empty, type Answer } from './answer.ts'
import { serveBytes } from './download-handlers.ts'
import { Exchange, type ServerParts } from './exchange.ts'
import type { PresignedGrant } from './signatures.ts'
import { receiveUpload } from './uploaded-body.ts'

export async function handlePresigned(request: IncomingMessage, parts: ServerParts): Promise<Answer> {
  const rawQuery = (request.url ?? '').split('?')[1] ?? ''
  const grant = parts.presign
    ? parts.signatures.readPresigned(request.method ?? '', new URLSearchParams(rawQuery))
    : undefined
  if (grant === undefined) return refusal(403, 'AccessDenied', 'the signature is wrong or has expired')
  const exchange = new Exchange(request, parts, { segments: {}, rawQuery: '' })
  try {
    return grant.method === 'GET' ? download(exchange, grant) : await upload(exchange, grant)
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    if (error.reason === 'repository-not-found') return refusal(404, 'NoSuchBucket', error.message)
    throw error
  }
}

function download(exchange: Exchange, grant: PresignedGrant): Answer {
  const sizeBytes = exchange.engine.blobSize(grant.repository, grant.physicalAddress)
  if (sizeBytes === undefined) return refusal(404, 'NoSuchKey', 'there is nothing at this address')
  return serveBytes(exchange, {
    repository: grant.repository,
    entry: { physicalAddress: grant.physicalAddress, sizeBytes },
    headers: {
      'Content-Type': 'application/octet-stream',
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

/** A presigned address takes the body as it is: a form would be stored as a form. */
async function receive(
  { request, parts }: Exchange,
  store: (content: Readable) => Promise<StoredBlob>,
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
