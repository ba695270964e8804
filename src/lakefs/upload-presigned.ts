/**
 * Uploads that go around lakeFS: ask for an address, put the bytes there, link them in lakeFS. Until that last step nothing
 * refers to the bytes, so everything before it may be repeated.
 */

import type { WriteOutcome, WriteRequest } from '../publication/ports.ts'
import { openForSending } from './bodies.ts'
import type { RepoContext } from './context.ts'
import { putBytes } from './object-store.ts'
import { text, toObjectStat } from './readers.ts'
import {
  checkPiece,
  checkStored,
  DEFAULT_CONTENT_TYPE,
  uploadNames,
  whatOf,
  type Uploading,
} from './upload-checks.ts'

export async function uploadInOnePiece(
  context: RepoContext,
  upload: WriteRequest,
  options: Uploading,
): Promise<WriteOutcome> {
  return link(context, upload, await placeBytes(context, upload, options), options)
}

interface PlacedBytes {
  readonly physicalAddress: string
  readonly checksum: string
  readonly md5: string
}

function placeBytes(
  context: RepoContext,
  upload: WriteRequest,
  { isMd5, signal }: Uploading,
): Promise<PlacedBytes> {
  const { lakefs, server } = context
  const what = whatOf(context, upload)
  const target = uploadNames(context, upload)
  const query = { path: upload.path, presign: true }
  const asking = { operation: 'getPhysicalAddress', path: target, query, signal } as const
  // A signed address gets old, so each try asks for a new one.
  return server.attempts(asking, async () => {
    const { value: place } = await server.once(asking, (json) => ({
      physicalAddress: text(json.physical_address, 'physical_address'),
      presignedUrl: text(json.presigned_url, 'presigned_url'),
    }))
    const sent = openForSending(upload.body, what)
    try {
      const { sizeBytes } = upload.body
      const etag = await putBytes(lakefs.store, {
        address: place.presignedUrl,
        target,
        body: sent.body,
        onStart: sent.onStart,
        sizeBytes,
        contentType: upload.contentType ?? DEFAULT_CONTENT_TYPE,
        signal,
      })
      const md5 = sent.md5()
      checkPiece({ what, sizeBytes, etag, md5, isMd5 })
      // A store that names no checksum leaves it to us; lakeFS takes what it is told.
      return { physicalAddress: place.physicalAddress, checksum: etag ?? md5, md5 }
    } catch (error) {
      throw sent.failure() ?? error
    } finally {
      sent.close()
    }
  })
}

async function link(
  context: RepoContext,
  upload: WriteRequest,
  placed: PlacedBytes,
  { isMd5, signal }: Uploading,
): Promise<WriteOutcome> {
  const ifAbsent = upload.ifAbsent === true
  const call = {
    operation: ifAbsent ? 'linkPhysicalAddressIfAbsent' : 'linkPhysicalAddress',
    path: uploadNames(context, upload),
    query: { path: upload.path },
    headers: ifAbsent ? { 'if-none-match': '*' } : undefined,
    json: {
      staging: { physical_address: placed.physicalAddress },
      checksum: placed.checksum,
      size_bytes: upload.body.sizeBytes,
      content_type: upload.contentType ?? DEFAULT_CONTENT_TYPE,
      user_metadata: upload.metadata ?? {},
    },
    signal,
  } as const
  const result = await context.server.call(call, toObjectStat)
  if (result.is !== 'done') return { written: false, reason: 'exists' }
  const stored = { operation: call.operation, object: result.value, md5: isMd5 ? placed.md5 : undefined }
  checkStored(whatOf(context, upload), upload, stored)
  return { written: true, object: result.value }
}
