/** Bodies that are sent or received: counted and hashed as they pass, never held whole. */

import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { InvalidError, UnavailableError, isPeragoError, messageOf } from '../base/errors.ts'
import type { UploadBody } from '../publication/ports.ts'

/** A body for one try. */
export interface SentBody {
  readonly body: Readable | Uint8Array
  /** To be given to the request: the time limit starts again with each piece that is taken. */
  readonly onStart: (progress: () => void) => void
  /** Hex MD5 of everything, or of what it was said to be; only after the whole body was sent. */
  md5(): string
  /** What went wrong with the source itself: then it was not the network. */
  failure(): Error | undefined
  close(): void
}

/**
 * Opens a body. A stream fails when the source is shorter or longer than it said, before the last byte is handed on, so
 * that the server never takes it for complete. Bytes are sent as they are: streams on both sides of a small body take
 * longer than the exchange.
 */
export function openForSending(body: UploadBody, what: string): SentBody {
  const source = openSource(body, what)
  if (source instanceof Uint8Array) {
    if (source.byteLength !== body.sizeBytes) throw wrongLength(body, String(source.byteLength), what)
    return {
      body: source,
      onStart: ignore,
      md5: () => body.md5 ?? createHash('md5').update(source).digest('hex'),
      failure: () => undefined,
      close: ignore,
    }
  }
  return sendStream(source, body, what)
}

function openSource(body: UploadBody, what: string): Readable | Uint8Array {
  try {
    return body.open()
  } catch (error) {
    throw isPeragoError(error) ? error : unreadable(error, what)
  }
}

function sendStream(source: Readable, body: UploadBody, what: string): SentBody {
  const hash = body.md5 === undefined ? createHash('md5') : undefined
  let digest = body.md5
  let failure: Error | undefined
  let progress: () => void = ignore

  async function* pieces(): AsyncGenerator<Uint8Array> {
    let sentBytes = 0
    try {
      for await (const read of source) {
        const piece = asBytes(read)
        sentBytes += piece.byteLength
        if (sentBytes > body.sizeBytes) throw wrongLength(body, `at least ${sentBytes}`, what)
        hash?.update(piece)
        progress()
        yield piece
      }
      if (sentBytes !== body.sizeBytes) throw wrongLength(body, String(sentBytes), what)
      digest ??= hash?.digest('hex')
    } catch (error) {
      const named = isPeragoError(error) ? error : unreadable(error, what)
      // Cut from outside, the source fails as a consequence, not as the cause.
      if (!stream.destroyed) failure = named
      throw named
    }
  }

  const stream = streamOf(pieces(), source)
  return {
    body: stream,
    onStart: (touch) => {
      progress = touch
    },
    md5: () => digest ?? '',
    failure: () => failure,
    close: () => void stream.destroy(),
  }
}

/** What an arriving body must be. */
export interface Expectation {
  readonly sizeBytes: number
  /** Left out where the checksum may not be the MD5 of these bytes. */
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

/** The bytes are not those that were sent or stored. */
export function corrupted(expected: Expectation, md5: string | undefined): UnavailableError {
  return new UnavailableError(
    'lakefs/checksum-mismatch',
    `${expected.what}: the bytes have MD5 ${md5 ?? 'unknown'}, the stored checksum is ${expected.md5 ?? 'unknown'}`,
    { next: 'Try again; if it stays, the object or the connection is damaged.' },
  )
}

/** An MD5 as lakeFS writes it; multi-part checksums contain a dash and are not MD5s. */
export function looksLikeMd5(checksum: string): boolean {
  return /^[0-9a-f]{32}$/.test(checksum)
}

/** The pieces as a stream that closes their source when it ends. */
function streamOf(pieces: AsyncGenerator<Uint8Array>, source: Readable): Readable {
  const stream = Readable.from(pieces, { objectMode: false })
  // The source may fail before anybody reads: the reader learns it from the stream; unhandled it would end the process.
  source.on('error', ignore)
  // Not in a `finally` of the generator: it does not run before the first read, nor while it waits for a silent source.
  // And before the stream's own end, which waits for the generator.
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
  throw new InvalidError('lakefs/body-unreadable', 'an upload body must be a stream of bytes, not of objects')
}

/** Fewer bytes arrived than are stored. */
export function shortBody(expected: Expectation, arrivedBytes: number, cause?: unknown): UnavailableError {
  return new UnavailableError(
    'lakefs/short-body',
    `${expected.what}: ${arrivedBytes} of ${expected.sizeBytes} bytes arrived`,
    { next: 'Try again.', cause },
  )
}

function wrongLength(body: Pick<UploadBody, 'sizeBytes'>, found: string, what: string): InvalidError {
  return new InvalidError(
    'lakefs/body-length',
    `${what}: ${body.sizeBytes} bytes were announced, the source has ${found}`,
    { next: 'Do not change the source while it is sent.' },
  )
}

function unreadable(cause: unknown, what: string): InvalidError {
  const said = `${what}: the source failed: ${messageOf(cause)}`
  return new InvalidError('lakefs/body-unreadable', said, { cause })
}

function ignore(): void {
  // Nothing to do here; see the caller.
}
