/** Bytes into a repository: through lakeFS, or straight to the object store where the server offers that. */

import type { CallOptions, Metadata, WriteOutcome, WriteRequest } from '../publication/ports.ts'
import { openForSending } from './bodies.ts'
import { checkPath, type RepoContext } from './context.ts'
import { LAKEFS_PRESIGNED_PUT_MAX_BYTES } from './limits.ts'
import { toObjectStat } from './readers.ts'
import { checkMetadata, checkStored, DEFAULT_CONTENT_TYPE, uploadNames, whatOf } from './upload-checks.ts'
import { uploadInParts } from './upload-parts.ts'
import { uploadInOnePiece } from './upload-presigned.ts'

export async function uploadObject(
  context: RepoContext,
  upload: WriteRequest,
  options: CallOptions = {},
): Promise<WriteOutcome> {
  checkPath(upload.path)
  checkMetadata(context, upload)
  const { lakefs } = context
  const { presign, presignMultipart, checksumIsMd5: isMd5 } = await lakefs.capabilities(options)
  const { sizeBytes } = upload.body
  // Completing a multi-part upload knows no condition, so a conditional one goes in one piece.
  if (presignMultipart && upload.ifAbsent !== true && sizeBytes >= lakefs.multipart.thresholdBytes) {
    return { written: true, object: await uploadInParts(context, upload, { ...options, isMd5 }) }
  }
  if (presign && sizeBytes <= LAKEFS_PRESIGNED_PUT_MAX_BYTES)
    return uploadInOnePiece(context, upload, { ...options, isMd5 })
  return uploadThroughServer(context, upload, { ...options, isMd5 })
}

function uploadThroughServer(
  context: RepoContext,
  upload: WriteRequest,
  { isMd5, signal }: CallOptions & { readonly isMd5: boolean },
): Promise<WriteOutcome> {
  const { server } = context
  const what = whatOf(context, upload)
  const call = {
    operation: upload.ifAbsent === true ? 'uploadObjectIfAbsent' : 'uploadObject',
    path: uploadNames(context, upload),
    query: { path: upload.path },
    headers: headersOf(upload),
    signal,
  } as const
  return server.attempts(call, async () => {
    const sent = openForSending(upload.body, what)
    try {
      const result = await server.once({ ...call, body: sent.body, onStart: sent.onStart }, toObjectStat)
      if (result.is !== 'done') return { written: false, reason: 'exists' }
      const object = result.value
      checkStored(what, upload, {
        operation: call.operation,
        object,
        md5: isMd5 ? sent.md5() : undefined,
      })
      return { written: true, object }
    } catch (error) {
      // A source that failed broke the connection, not the other way round.
      throw sent.failure() ?? error
    } finally {
      sent.close()
    }
  })
}

function headersOf({
  body,
  contentType,
  ifAbsent,
  metadata = {},
}: WriteRequest): Readonly<Record<string, string>> {
  return {
    'content-type': contentType ?? DEFAULT_CONTENT_TYPE,
    'content-length': String(body.sizeBytes),
    ...(ifAbsent === true && { 'if-none-match': '*' }),
    ...metadataHeaders(metadata),
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
