/** Bodies on their way: counted, hashed, bounded in time, never held whole. */

import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { InvalidError, UnavailableError, isPeragoError } from '../base/errors.ts'
import type { UploadBody } from '../publication/ports.ts'

/** What was sent, known once the last byte was taken. */
export interface SentBody {
  readonly stream: Readable
  /** Hex MD5 of everything, or of what it was said to be; only after the stream has ended. */
  md5(): string
  /** What went wrong with the source itself: then it was not the network. */
  failure(): Error | undefined
}

/**
 * Opens a body for one try. The stream fails when the source is shorter or longer than it said, before the last byte
 * is handed on, so that the server never takes it for complete.
 */
export function openForSending(
  body: UploadBody,
  options: { readonly progress: () => void; readonly what: string },
): SentBody {
  const hash = body.md5 === undefined ? createHash('md5') : undefined
  let digest = body.md5
  let failure: Error | undefined
  const source = body.open()

  async function* pieces(): AsyncGenerator<Uint8Array> {
    let sentBytes = 0
    try {
      for await (const read of source instanceof Uint8Array ? [source] : source) {
        const piece = asBytes(read)
        sentBytes += piece.byteLength
        if (sentBytes > body.sizeBytes) throw wrongLength(body, `at least ${sentBytes}`, options.what)
        hash?.update(piece)
        options.progress()
        yield piece
      }
      if (sentBytes !== body.sizeBytes) throw wrongLength(body, String(sentBytes), options.what)
      digest ??= hash?.digest('hex')
    } catch (error) {
      const named = isPeragoError(error) ? error : unreadable(error, options.what)
      // Cut from outside, the source fails as a consequence, not as the cause.
      if (!stream.destroyed) failure = named
      throw named
    }
  }

  const stream = streamOf(pieces(), source instanceof Uint8Array ? undefined : source)
  return {
    stream,
    md5: () => digest ?? '',
    failure: () => failure,
  }
}

/** What to hold a body against as it arrives. */
export interface Expectation {
  readonly sizeBytes: number
  /** Left out where the checksum is not known to be the MD5 of these very bytes. */
  readonly md5?: string
  readonly what: string
}

/** Hands a body on and fails at its end when it is not what was stored. */
export function verified(body: Readable, expected: Expectation): Readable {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    const hash = expected.md5 === undefined ? undefined : createHash('md5')
    let arrivedBytes = 0
    try {
      for await (const piece of body as AsyncIterable<Uint8Array>) {
        arrivedBytes += piece.byteLength
        hash?.update(piece)
        yield piece
      }
    } catch (error) {
      throw shortBody(expected, arrivedBytes, error)
    }
    if (arrivedBytes !== expected.sizeBytes) throw shortBody(expected, arrivedBytes)
    const md5 = hash?.digest('hex')
    if (md5 !== expected.md5) throw corrupted(expected, md5)
  }

  return streamOf(pieces(), body)
}

/** The checksum of a body that does not agree with what was sent or stored. */
export function corrupted(expected: Expectation, md5: string | undefined): UnavailableError {
  return new UnavailableError(
    'lakefs/checksum-mismatch',
    `${expected.what}: the bytes have MD5 ${md5 ?? 'unknown'}, the stored checksum is ${expected.md5 ?? 'unknown'}`,
    { next: 'Try again; if it stays, the object or the way to it is damaged.' },
  )
}

/** An MD5 as lakeFS writes it; multi-part checksums contain a dash and are none. */
export function looksLikeMd5(checksum: string): boolean {
  return /^[0-9a-f]{32}$/.test(checksum)
}

/** The pieces as a stream, which takes their source with it when it ends. */
function streamOf(pieces: AsyncGenerator<Uint8Array>, source: Readable | undefined): Readable {
  const stream = Readable.from(pieces, { objectMode: false })
  if (source === undefined) return stream
  // The source may fail before anybody reads: the reader learns it from the stream, the process must not.
  source.on('error', ignore)
  // Not in a `finally` of the generator: it has none while it was not started, and comes to none while it waits for a
  // silent source. And before the stream's own end, which waits for the generator.
  const destroy = stream._destroy.bind(stream)
  stream._destroy = (error, done) => {
    source.destroy()
    destroy(error, done)
  }
  return stream
}

function asBytes(piece: unknown): Uint8Array {
  if (piece instanceof Uint8Array) return piece
  if (typeof piece === 'string') return Buffer.from(piece)
  throw new InvalidError('lakefs/body-unreadable', 'an upload body must give bytes, not objects')
}

/** Fewer bytes arrived than are stored. */
export function shortBody(expected: Expectation, arrivedBytes: number, cause?: unknown): UnavailableError {
  return new UnavailableError(
    'lakefs/short-body',
    `${expected.what}: ${arrivedBytes} of ${expected.sizeBytes} bytes arrived`,
    { next: 'Try again.', cause },
  )
}

export function wrongLength(body: Pick<UploadBody, 'sizeBytes'>, found: string, what: string): InvalidError {
  return new InvalidError(
    'lakefs/body-length',
    `${what}: ${body.sizeBytes} bytes were announced, the source has ${found}`,
    { next: 'Do not change the source while it is sent.' },
  )
}

export function unreadable(cause: unknown, what: string): InvalidError {
  const said = cause instanceof Error ? cause.message : String(cause)
  return new InvalidError('lakefs/body-unreadable', `${what}: the source failed: ${said}`, { cause })
}

function ignore(): void {
  // Nothing to do here; see the caller.
}
