/** Bytes into a repository: through lakeFS, or straight to the object store where the server offers that. */

import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { isPeragoError } from '../base/errors.ts'
import { LAKEFS_PRESIGNED_PUT_MAX_BYTES } from './limits.ts'
import type { CallOptions, Metadata, WriteOutcome } from '../publication/ports.ts'
import { openForSending, unreadable, wrongLength } from './bodies.ts'
import { readJson } from './calls.ts'
import type { LakefsClient } from './client.ts'
import { requestPath } from './endpoint.ts'
import type { Call } from './failures.ts'
import { toObjectStat } from './readers.ts'
import type { RawRequest } from './transport.ts'
import {
  checkMetadata,
  checkStored,
  DEFAULT_CONTENT_TYPE,
  uploadTarget,
  whatOf,
  type Upload,
} from './upload-checks.ts'
import { uploadInOnePiece, uploadInParts } from './upload-presigned.ts'

export async function uploadObject(
  client: LakefsClient,
  upload: Upload,
  options: CallOptions,
): Promise<WriteOutcome> {
  checkMetadata(upload)
  const { presign, presignMultipart, checksumIsMd5 } = await client.capabilities(options)
  const { sizeBytes } = upload.body
  const isMd5 = checksumIsMd5
  // Completing a multi-part upload knows no condition, so a conditional one goes in one piece.
  if (presignMultipart && upload.ifAbsent !== true && sizeBytes >= client.multipart.thresholdBytes) {
    return { written: true, object: await uploadInParts(client, upload, { ...options, isMd5 }) }
  }
  if (presign && sizeBytes <= LAKEFS_PRESIGNED_PUT_MAX_BYTES) {
    return uploadInOnePiece(client, upload, { ...options, isMd5 })
  }
  return uploadThroughServer(client, upload, { ...options, isMd5 })
}

type Uploading = CallOptions & { readonly isMd5: boolean }

async function uploadThroughServer(
  client: LakefsClient,
  upload: Upload,
  options: Uploading,
): Promise<WriteOutcome> {
  const ifAbsent = upload.ifAbsent === true
  const call: Call<'uploadObject' | 'uploadObjectIfAbsent'> = {
    operation: ifAbsent ? 'uploadObjectIfAbsent' : 'uploadObject',
    target: uploadTarget(upload),
    signal: options.signal,
  }
  return client.calls.attempts(call, () => {
    const source = openBody(upload)
    const request = requestFor(client, upload)
    return source instanceof Uint8Array
      ? sendWhole(client, upload, { ...options, call, request, bytes: source })
      : sendStream(client, upload, { ...options, call, request, source })
  })
}

interface Sending extends Uploading {
  readonly call: Call<'uploadObject' | 'uploadObjectIfAbsent'>
  readonly request: Pick<RawRequest, 'method' | 'path' | 'headers'>
}

function openBody(upload: Upload): Readable | Uint8Array {
  try {
    return upload.body.open()
  } catch (error) {
    throw isPeragoError(error) ? error : unreadable(error, whatOf(upload))
  }
}

function requestFor(client: LakefsClient, upload: Upload): Sending['request'] {
  return {
    method: 'POST',
    path: requestPath(
      client.endpoint,
      '/repositories/{repository}/branches/{branch}/objects',
      { repository: upload.repository, branch: upload.branch },
      { path: upload.path },
    ),
    headers: {
      'content-type': upload.contentType ?? DEFAULT_CONTENT_TYPE,
      'content-length': String(upload.body.sizeBytes),
      ...(upload.ifAbsent === true ? { 'if-none-match': '*' } : {}),
      ...metadataHeaders(upload.metadata ?? {}),
    },
  }
}

/** Streams on both sides of a small body take longer than the exchange. */
async function sendWhole(
  client: LakefsClient,
  upload: Upload,
  { call, request, bytes, isMd5 }: Sending & { readonly bytes: Uint8Array },
): Promise<WriteOutcome> {
  const { sizeBytes } = upload.body
  if (bytes.byteLength !== sizeBytes) throw wrongLength(upload.body, String(bytes.byteLength), whatOf(upload))
  const result = await client.calls.documentOnce(call, { ...request, body: bytes }, toObjectStat)
  if (result.is !== 'done') return { written: false, reason: 'exists' }
  const md5 = (): string => upload.body.md5 ?? createHash('md5').update(bytes).digest('hex')
  checkStored(call, upload, { object: result.value, md5: isMd5 ? md5() : undefined })
  return { written: true, object: result.value }
}

async function sendStream(
  client: LakefsClient,
  upload: Upload,
  { call, request, source, isMd5 }: Sending & { readonly source: Readable },
): Promise<WriteOutcome> {
  let progress: () => void = () => undefined
  const body = { ...upload.body, open: () => source }
  const sent = openForSending(body, { what: whatOf(upload), progress: () => progress() })
  try {
    const result = await client.calls.once(call, {
      ...request,
      body: sent.stream,
      onStart: (touch) => {
        progress = touch
      },
    })
    if (result.is !== 'done') return { written: false, reason: 'exists' }
    const object = await readJson(call, result.value, toObjectStat)
    checkStored(call, upload, { object, md5: isMd5 ? sent.md5() : undefined })
    return { written: true, object }
  } catch (error) {
    // A source that failed broke the connection, not the other way round.
    throw sent.failure() ?? error
  } finally {
    sent.stream.destroy()
  }
}

/**
 * lakeFS takes user metadata as headers. Their values are bytes to it, so UTF-8 passes when every byte is written as
 * the character a header allows for it.
 */
function metadataHeaders(metadata: Metadata): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(metadata).map(([key, value]) => [
      `x-lakefs-meta-${key}`,
      Buffer.from(value).toString('latin1'),
    ]),
  )
}
