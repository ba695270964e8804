/**
 * Uploads that go around lakeFS: ask for an address, put the bytes there, tell lakeFS what they are called. Until that
 * last step nothing refers to the bytes, so everything before it may be repeated.
 */

import { createHash } from 'node:crypto'
import { InvalidError, errorKindOf } from '../base/errors.ts'
import { LAKEFS_ABORT_UPLOAD_MS, LAKEFS_PARTS_MAX } from './limits.ts'
import type { CallOptions, ObjectStat, WriteOutcome } from '../publication/ports.ts'
import { corrupted, looksLikeMd5, openForSending } from './bodies.ts'
import type { LakefsClient } from './client.ts'
import { shapeFailure, type Call } from './failures.ts'
import { list, text, toObjectStat } from './readers.ts'
import { isStoreTrouble } from './store-transport.ts'
import { checkStored, DEFAULT_CONTENT_TYPE, uploadTarget, whatOf, type Upload } from './upload-checks.ts'

type Uploading = CallOptions & { readonly isMd5: boolean }

export async function uploadInOnePiece(
  client: LakefsClient,
  upload: Upload,
  options: Uploading,
): Promise<WriteOutcome> {
  const placed = await client.calls.repeat(() => putBytes(client, upload, options), {
    signal: options.signal,
    shouldRetry: isStoreTrouble,
  })
  return link(client, upload, placed, options)
}

interface PlacedBytes {
  readonly physicalAddress: string
  readonly checksum: string
  readonly md5: string
}

async function putBytes(client: LakefsClient, upload: Upload, options: Uploading): Promise<PlacedBytes> {
  const place = await askForAddress(client, upload, options)
  let progress: () => void = () => undefined
  const sent = openForSending(upload.body, { what: whatOf(upload), progress: () => progress() })
  try {
    const { etag } = await client.store.put({
      address: place.presignedUrl,
      what: whatOf(upload),
      body: sent.stream,
      sizeBytes: upload.body.sizeBytes,
      contentType: upload.contentType ?? DEFAULT_CONTENT_TYPE,
      signal: options.signal,
      onStart: (touch) => {
        progress = touch
      },
    })
    const md5 = sent.md5()
    checkPiece({ what: whatOf(upload), sizeBytes: upload.body.sizeBytes, etag, md5, isMd5: options.isMd5 })
    // A store that names no checksum leaves it to us; lakeFS takes what it is told.
    return { physicalAddress: place.physicalAddress, checksum: etag ?? md5, md5 }
  } catch (error) {
    throw sent.failure() ?? error
  } finally {
    sent.stream.destroy()
  }
}

async function askForAddress(
  client: LakefsClient,
  upload: Upload,
  options: Uploading,
): Promise<{ readonly physicalAddress: string; readonly presignedUrl: string }> {
  const { repository, branch, path } = upload
  const result = await client.calls.json(
    { operation: 'getPhysicalAddress', target: uploadTarget(upload), signal: options.signal },
    (api, init) =>
      api.GET('/repositories/{repository}/branches/{branch}/staging/backing', {
        ...init,
        params: { path: { repository, branch }, query: { path, presign: true } },
      }),
    (json) => ({
      physicalAddress: text(json?.physical_address, 'physical_address'),
      presignedUrl: text(json?.presigned_url, 'presigned_url'),
    }),
  )
  return result.value
}

async function link(
  client: LakefsClient,
  upload: Upload,
  placed: PlacedBytes,
  options: Uploading,
): Promise<WriteOutcome> {
  const { repository, branch, path } = upload
  const ifAbsent = upload.ifAbsent === true
  const call: Call<'linkPhysicalAddress' | 'linkPhysicalAddressIfAbsent'> = {
    operation: ifAbsent ? 'linkPhysicalAddressIfAbsent' : 'linkPhysicalAddress',
    target: uploadTarget(upload),
    signal: options.signal,
  }
  const result = await client.calls.json(
    call,
    (api, init) =>
      api.PUT('/repositories/{repository}/branches/{branch}/staging/backing', {
        ...init,
        params: {
          path: { repository, branch },
          query: { path },
          ...(ifAbsent ? { header: { 'If-None-Match': '*' } as const } : {}),
        },
        body: {
          staging: { physical_address: placed.physicalAddress },
          checksum: placed.checksum,
          size_bytes: upload.body.sizeBytes,
          content_type: upload.contentType ?? DEFAULT_CONTENT_TYPE,
          user_metadata: upload.metadata ?? {},
        },
      }),
    toObjectStat,
  )
  if (result.is !== 'done') return { written: false, reason: 'exists' }
  checkStored(call, upload, { object: result.value, md5: options.isMd5 ? placed.md5 : undefined })
  return { written: true, object: result.value }
}

/** For large bodies: parts travel side by side, each held in memory while it does, and only so many at a time. */
export async function uploadInParts(
  client: LakefsClient,
  upload: Upload,
  options: Uploading,
): Promise<ObjectStat> {
  const { sizeBytes } = upload.body
  const partBytes = Math.max(client.multipart.partBytes, Math.ceil(sizeBytes / LAKEFS_PARTS_MAX))
  const started = await startParts(client, upload, { ...options, parts: Math.ceil(sizeBytes / partBytes) })
  let parts: readonly UploadedPart[]
  try {
    parts = await sendParts(client, upload, { ...options, started, partBytes })
  } catch (error) {
    await abandon(client, upload, started)
    throw error
  }
  try {
    return await completeParts(client, upload, { ...options, started, parts })
  } catch (error) {
    // A completion whose answer was lost may still be under way; what it joins must not be torn up.
    if (errorKindOf(error) !== 'uncertain') await abandon(client, upload, started)
    throw error
  }
}

interface StartedUpload {
  readonly uploadId: string
  readonly physicalAddress: string
  readonly addresses: readonly string[]
}

interface UploadedPart {
  readonly part_number: number
  readonly etag: string
}

async function startParts(
  client: LakefsClient,
  upload: Upload,
  options: Uploading & { readonly parts: number },
): Promise<StartedUpload> {
  const { repository, branch, path } = upload
  const call: Call<'createPresignMultipartUpload'> = {
    operation: 'createPresignMultipartUpload',
    target: uploadTarget(upload),
    signal: options.signal,
  }
  const result = await client.calls.json(
    call,
    (api, init) =>
      api.POST('/repositories/{repository}/branches/{branch}/staging/pmpu', {
        ...init,
        params: { path: { repository, branch }, query: { path, parts: options.parts } },
      }),
    (json) => ({
      uploadId: text(json?.upload_id, 'upload_id'),
      physicalAddress: text(json?.physical_address, 'physical_address'),
      addresses: list(json?.presigned_urls, 'presigned_urls').map((url) => text(url, 'presigned_urls')),
    }),
  )
  if (result.value.addresses.length < options.parts) {
    throw shapeFailure(call, `${result.value.addresses.length} addresses for ${options.parts} parts`)
  }
  return result.value
}

async function sendParts(
  client: LakefsClient,
  upload: Upload,
  options: Uploading & { readonly started: StartedUpload; readonly partBytes: number },
): Promise<readonly UploadedPart[]> {
  const stop = new AbortController()
  const onAbort = (): void => stop.abort(options.signal?.reason)
  if (options.signal?.aborted === true) onAbort()
  options.signal?.addEventListener('abort', onAbort, { once: true })

  // Opened once and read from front to back: in memory are the parts that travel, the one being gathered, and those the
  // connections have not let go of yet; however large the whole is.
  const whole = openForSending(upload.body, { what: whatOf(upload), progress: () => undefined })
  const sending: Promise<UploadedPart>[] = []
  const travelling = new Set<Promise<unknown>>()
  try {
    for await (const bytes of cutIntoParts(whole.stream, options.partBytes)) {
      const number = sending.length + 1
      if (travelling.size >= client.multipart.partsInFlight) await Promise.race(travelling)
      stop.signal.throwIfAborted()
      const part = sendPart(client, upload, { ...options, number, bytes, signal: stop.signal })
      sending.push(part)
      // The first failure stops the others; it is thrown below, where all of them are awaited.
      const settled: Promise<unknown> = part.then(
        () => travelling.delete(settled),
        (error: unknown) => {
          travelling.delete(settled)
          stop.abort(error)
        },
      )
      travelling.add(settled)
    }
    return await Promise.all(sending)
  } catch (error) {
    stop.abort(error)
    await Promise.allSettled(sending)
    throw whole.failure() ?? error
  } finally {
    options.signal?.removeEventListener('abort', onAbort)
    whole.stream.destroy()
  }
}

async function sendPart(
  client: LakefsClient,
  upload: Upload,
  options: Uploading & {
    readonly started: StartedUpload
    readonly number: number
    readonly bytes: Buffer
  },
): Promise<UploadedPart> {
  const { started, number, bytes } = options
  const what = `${whatOf(upload)}, part ${number} of ${started.addresses.length}`
  const address = started.addresses[number - 1]
  if (address === undefined) {
    throw new InvalidError('lakefs/body-length', `${what}: the source has more than it announced`)
  }
  return client.calls.repeat(
    async () => {
      const { etag } = await client.store.put({
        address,
        what,
        body: bytes,
        sizeBytes: bytes.byteLength,
        signal: options.signal,
      })
      const md5 = createHash('md5').update(bytes).digest('hex')
      checkPiece({ what, sizeBytes: bytes.byteLength, etag, md5, isMd5: options.isMd5 })
      return { part_number: number, etag: etag ?? md5 }
    },
    { signal: options.signal, shouldRetry: isStoreTrouble },
  )
}

async function completeParts(
  client: LakefsClient,
  upload: Upload,
  options: Uploading & { readonly started: StartedUpload; readonly parts: readonly UploadedPart[] },
): Promise<ObjectStat> {
  const { repository, branch, path } = upload
  const { uploadId, physicalAddress } = options.started
  const call: Call<'completePresignMultipartUpload'> = {
    operation: 'completePresignMultipartUpload',
    target: uploadTarget(upload),
    signal: options.signal,
  }
  const result = await client.calls.json(
    call,
    (api, init) =>
      api.PUT('/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}', {
        ...init,
        params: { path: { repository, branch, uploadId }, query: { path } },
        body: {
          physical_address: physicalAddress,
          parts: [...options.parts],
          content_type: upload.contentType ?? DEFAULT_CONTENT_TYPE,
          user_metadata: upload.metadata ?? {},
        },
      }),
    toObjectStat,
  )
  checkStored(call, upload, { object: result.value, md5: undefined })
  return result.value
}

/** Gives the parts back to the store. Only tidying: that it failed is told to the log, the first error is the one that counts. */
async function abandon(client: LakefsClient, upload: Upload, started: StartedUpload): Promise<void> {
  const { repository, branch, path } = upload
  const { uploadId, physicalAddress } = started
  try {
    await client.calls.json(
      {
        operation: 'abortPresignMultipartUpload',
        target: uploadTarget(upload),
        // Not the caller's signal: it may be what ended the upload.
        signal: AbortSignal.timeout(LAKEFS_ABORT_UPLOAD_MS),
      },
      (api, init) =>
        api.DELETE('/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}', {
          ...init,
          params: { path: { repository, branch, uploadId }, query: { path } },
          body: { physical_address: physicalAddress },
        }),
      () => undefined,
    )
  } catch (error) {
    client.logger.warn('an unfinished multi-part upload stays behind in the object store', {
      repository,
      branch,
      path,
      error,
    })
  }
}

async function* cutIntoParts(source: AsyncIterable<Uint8Array>, partBytes: number): AsyncGenerator<Buffer> {
  // Copied into place as they come: gathering the pieces and joining them would hold every part twice.
  let part: Buffer | undefined
  let filled = 0
  for await (let piece of source) {
    while (piece.byteLength > 0) {
      part ??= Buffer.allocUnsafeSlow(partBytes)
      const taken = Math.min(piece.byteLength, partBytes - filled)
      part.set(piece.subarray(0, taken), filled)
      filled += taken
      piece = piece.subarray(taken)
      if (filled < partBytes) continue
      const full = part
      part = undefined
      filled = 0
      yield full
    }
  }
  if (part !== undefined) yield part.subarray(0, filled)
}

/** The store's checksum of one piece, where it is known to be the MD5 of it. */
function checkPiece(piece: {
  readonly what: string
  readonly sizeBytes: number
  readonly etag: string | undefined
  readonly md5: string
  readonly isMd5: boolean
}): void {
  const { what, sizeBytes, etag, md5, isMd5 } = piece
  if (!isMd5 || etag === undefined || !looksLikeMd5(etag) || etag === md5) return
  throw corrupted({ what, sizeBytes, md5: etag }, md5)
}
