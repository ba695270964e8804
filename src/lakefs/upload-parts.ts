/**
 * Large uploads that go around lakeFS, in parts: start, send the parts, complete. Nothing refers to the parts before the last
 * step, so everything before it may be repeated.
 */

import { createHash } from 'node:crypto'
import { followSignals } from '../base/abort-signals.ts'
import { InvalidError, UnavailableError, errorKindOf, isPeragoError } from '../base/errors.ts'
import type { ObjectStat, WriteRequest } from '../publication/ports.ts'
import { shapeFailure } from '../remote/failures.ts'
import { openForSending } from './bodies.ts'
import type { RepoContext } from './context.ts'
import {
  LAKEFS_ABORT_UPLOAD_MS,
  LAKEFS_PARTS_MAX,
  LAKEFS_SPEED_LOOK_MS,
  LAKEFS_UPLOAD_MAX_MS,
} from './limits.ts'
import { putBytes } from './object-store.ts'
import { LAKEFS } from './operations.ts'
import { list, text, toObjectStat } from './readers.ts'
import {
  checkPiece,
  checkStored,
  DEFAULT_CONTENT_TYPE,
  uploadNames,
  whatOf,
  type Uploading,
} from './upload-checks.ts'

/** Several parts are sent at once, each held in memory while it is sent. */
export async function uploadInParts(
  context: RepoContext,
  upload: WriteRequest,
  options: Uploading,
): Promise<ObjectStat> {
  const { sizeBytes } = upload.body
  const partBytes = Math.max(context.lakefs.multipart.partBytes, Math.ceil(sizeBytes / LAKEFS_PARTS_MAX))
  const started = await startParts(context, upload, { ...options, parts: Math.ceil(sizeBytes / partBytes) })
  try {
    const parts = await sendParts(context, upload, { ...options, started, partBytes })
    return await completeParts(context, upload, { ...options, started, parts })
  } catch (error) {
    // A completion whose answer was lost may still be going on; its parts must stay.
    if (errorKindOf(error) !== 'uncertain') await abandon(context, upload, started)
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
  context: RepoContext,
  upload: WriteRequest,
  { parts, signal }: Uploading & { readonly parts: number },
): Promise<StartedUpload> {
  const call = {
    operation: 'createPresignMultipartUpload',
    path: uploadNames(context, upload),
    query: { path: upload.path, parts },
    signal,
  } as const
  const { value } = await context.server.call(call, (json) => ({
    uploadId: text(json.upload_id, 'upload_id'),
    physicalAddress: text(json.physical_address, 'physical_address'),
    addresses: list(json.presigned_urls, 'presigned_urls').map((url) => text(url, 'presigned_urls')),
  }))
  if (value.addresses.length >= parts) return value
  throw shapeFailure(LAKEFS, call, `${value.addresses.length} addresses for ${parts} parts`)
}

async function sendParts(
  context: RepoContext,
  upload: WriteRequest,
  options: Uploading & { readonly started: StartedUpload; readonly partBytes: number },
): Promise<readonly UploadedPart[]> {
  const stop = followSignals(options.signal)

  // Opened once and read from front to back: in memory are the parts that are being sent, the one being filled, and those
  // the connections still hold; however large the whole is.
  const sent = openForSending(upload.body, whatOf(context, upload))
  const { clock, multipart } = context.lakefs
  const parts = Math.ceil(upload.body.sizeBytes / options.partBytes)
  const startedMs = clock.monotonicMs()
  let arrived = 0
  const sending: Promise<UploadedPart>[] = []
  const running = new Set<Promise<unknown>>()
  try {
    for await (const bytes of cutIntoParts(sent.body, options.partBytes)) {
      const number = sending.length + 1
      if (running.size >= multipart.partsInFlight) await Promise.race(running)
      stop.signal.throwIfAborted()
      const part = sendPart(context, upload, { ...options, number, bytes, signal: stop.signal })
      sending.push(part)
      // The first failure stops the others; it is thrown below, where all of them are awaited.
      const settled: Promise<unknown> = part.then(
        () => {
          running.delete(settled)
          arrived += 1
          // Those under way count as arrived: what is estimated is the least time that it can take.
          const share = (arrived + running.size) / parts
          const slow = judgeSpeed(whatOf(context, upload), share, clock.monotonicMs() - startedMs)
          if (slow !== undefined && arrived < parts) stop.abort(slow)
        },
        (error: unknown) => {
          running.delete(settled)
          stop.abort(error)
        },
      )
      running.add(settled)
    }
    return await Promise.all(sending)
  } catch (error) {
    stop.abort(error)
    await Promise.allSettled(sending)
    throw sent.failure() ?? error
  } finally {
    stop.release()
    sent.close()
  }
}

/** What to end with where an upload, at its speed so far, would end after lakeFS has forgotten how it began. */
function judgeSpeed(what: string, share: number, elapsedMs: number): UnavailableError | undefined {
  const expectedMs = elapsedMs / share
  if (elapsedMs < LAKEFS_SPEED_LOOK_MS || expectedMs <= LAKEFS_UPLOAD_MAX_MS) return undefined
  const [hours, most] = [expectedMs, LAKEFS_UPLOAD_MAX_MS].map((ms) => Math.round(ms / HOUR_MS))
  return new UnavailableError(
    'lakefs/upload-too-slow',
    `${what}: at this speed it takes ${hours} hours, and lakeFS keeps an upload open for ${most}`,
    { next: 'Write several smaller files, or upload from nearer to the object store.' },
  )
}

const HOUR_MS = 3_600_000

async function sendPart(
  context: RepoContext,
  upload: WriteRequest,
  options: Uploading & {
    readonly started: StartedUpload
    readonly number: number
    readonly bytes: Buffer
  },
): Promise<UploadedPart> {
  const { bytes, isMd5, number, signal, started } = options
  const { store } = context.lakefs
  const what = `${whatOf(context, upload)}, part ${number} of ${started.addresses.length}`
  const address = started.addresses[number - 1]
  if (address === undefined)
    throw new InvalidError('lakefs/body-length', `${what}: the source has more than it announced`)
  const target = { ...uploadNames(context, upload), part: number }
  const sizeBytes = bytes.byteLength
  let current = address
  return store.attempts({ operation: 'putBytes', target, signal }, async () => {
    try {
      const etag = await putBytes(store, { address: current, target, body: bytes, sizeBytes, signal })
      const md5 = createHash('md5').update(bytes).digest('hex')
      checkPiece({ what, sizeBytes, etag, md5, isMd5 })
      return { part_number: number, etag: etag ?? md5 }
    } catch (error) {
      // All addresses are signed at the start; with a large body or a slow line the later ones get too old.
      if (isRefused(error)) current = (await signAgain(context, upload, options)) ?? current
      throw error
    }
  })
}

function isRefused(error: unknown): boolean {
  return isPeragoError(error) && error.code === 'lakefs/presigned-refused'
}

/** `undefined`: the server has no new address for it. The parts that arrived are kept. */
async function signAgain(
  context: RepoContext,
  upload: WriteRequest,
  { number, signal, started }: { readonly number: number; readonly started: StartedUpload } & Uploading,
): Promise<string | undefined> {
  const { physicalAddress, uploadId } = started
  const target = uploadNames(context, upload)
  const call = {
    operation: 'uploadPart',
    path: { ...target, uploadId, partNumber: number },
    query: { path: upload.path },
    json: { physical_address: physicalAddress },
    target: { ...target, part: number },
    signal,
  } as const
  try {
    return (await context.server.call(call, (json) => text(json.presigned_url, 'presigned_url'))).value
  } catch (error) {
    // The refusal by the store says more than that an older lakeFS does not know the operation.
    context.lakefs.logger.debug('a part of an upload got no new address', { ...call.target, error })
    return undefined
  }
}

async function completeParts(
  context: RepoContext,
  upload: WriteRequest,
  options: Uploading & { readonly started: StartedUpload; readonly parts: readonly UploadedPart[] },
): Promise<ObjectStat> {
  const { uploadId, physicalAddress } = options.started
  const call = {
    operation: 'completePresignMultipartUpload',
    path: { ...uploadNames(context, upload), uploadId },
    query: { path: upload.path },
    json: {
      physical_address: physicalAddress,
      parts: options.parts,
      content_type: upload.contentType ?? DEFAULT_CONTENT_TYPE,
      user_metadata: upload.metadata ?? {},
    },
    target: uploadNames(context, upload),
    signal: options.signal,
  } as const
  const { value: object } = await context.server.call(call, toObjectStat)
  checkStored(whatOf(context, upload), upload, { operation: call.operation, object, md5: undefined })
  return object
}

/** Removes the parts from the store. A failure is only logged: the error that led here is the one that counts. */
async function abandon(context: RepoContext, upload: WriteRequest, started: StartedUpload): Promise<void> {
  const { uploadId, physicalAddress } = started
  const target = uploadNames(context, upload)
  try {
    await context.server.call(
      {
        operation: 'abortPresignMultipartUpload',
        path: { ...target, uploadId },
        query: { path: upload.path },
        json: { physical_address: physicalAddress },
        target,
        // Not the caller's signal: it may be what ended the upload.
        signal: AbortSignal.timeout(LAKEFS_ABORT_UPLOAD_MS),
      },
      () => undefined,
    )
  } catch (error) {
    context.lakefs.logger.warn('an unfinished multi-part upload is left in the object store', {
      ...target,
      error,
    })
  }
}

async function* cutIntoParts(
  body: AsyncIterable<Uint8Array> | Uint8Array,
  partBytes: number,
): AsyncGenerator<Buffer> {
  // Copied into place as they come: collecting the pieces and joining them would hold every part twice.
  let part: Buffer | undefined
  let filled = 0
  for await (let piece of body instanceof Uint8Array ? [body] : body) {
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
