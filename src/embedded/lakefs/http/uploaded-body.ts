/**
 * The bytes of an upload: the raw body, or the `content` part of a form. Streamed and counted; only a small body whose length
 * was announced is held in memory, since streams on its way take longer than everything else.
 */

import { Busboy } from '@fastify/busboy'
import type { IncomingMessage } from 'node:http'
import { Transform, type Readable, type Writable } from 'node:stream'

import { messageOf } from '../../../base/errors.ts'
import { EMBEDDED_BLOB_GROUPED_MAX_BYTES } from '../../limits.ts'
import { ClientGone, DEFAULT_CONTENT_TYPE, HttpProblem } from './answer.ts'

interface UploadedBody<Result> {
  readonly contentType: string
  readonly result: Result
}

/**
 * Hands the bytes to `store`, which must consume the stream to its end. When the client goes away, or sends more than
 * `maxBytes`, the stream fails, and with it `store`. With `raw` a form is stored as the bytes it is.
 */
export async function receiveUpload<Result>(
  request: IncomingMessage,
  maxBytes: number,
  store: (content: Readable | Buffer) => Promise<Result>,
  options: { readonly raw?: boolean } = {},
): Promise<UploadedBody<Result>> {
  const contentType = request.headers['content-type'] ?? DEFAULT_CONTENT_TYPE
  const announcedBytes = Number(request.headers['content-length'] ?? Number.NaN)
  if (announcedBytes > maxBytes) throw tooLarge(maxBytes)
  const isForm = options.raw !== true && /^multipart\/form-data\b/i.test(contentType)
  if (isForm) return receiveForm(request, maxBytes, store)
  const isSmall = announcedBytes <= EMBEDDED_BLOB_GROUPED_MAX_BYTES
  return { contentType, result: await store(isSmall ? await readWhole(request) : counted(request, maxBytes)) }
}

/** Node reads no more than was announced. */
function readWhole(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.once('end', () => {
      resolve(pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces))
    })
    const cut = (): void => {
      if (!request.readableEnded) reject(new ClientGone())
    }
    request.once('error', cut)
    request.once('close', cut)
  })
}

async function receiveForm<Result>(
  request: IncomingMessage,
  maxBytes: number,
  store: (content: Readable | Buffer) => Promise<Result>,
): Promise<UploadedBody<Result>> {
  const contentType = request.headers['content-type'] ?? ''
  if (!/boundary=/i.test(contentType))
    throw new HttpProblem(500, 'multipart upload: no boundary in Content-Type')
  const form = new Busboy({
    headers: { 'content-type': contentType },
    // Every part is a stream, also one without a file name: no part is ever held in memory.
    isPartAFile: () => true,
    limits: { headerPairs: 100, headerSize: 16_384 },
  })

  let received: { contentType: string; stored: Promise<Result> } | undefined
  const parts = new Set<Readable>()
  form.on('file', (name, part, _fileName, _encoding, partType) => {
    parts.add(part)
    part.once('close', () => parts.delete(part))
    if (name !== 'content' || received !== undefined) {
      part.on('error', ignoreError)
      part.resume()
      return
    }
    const stored = store(counted(part, maxBytes))
    // Awaited below; until then a failure must not count as unhandled.
    stored.catch(ignoreError)
    received = { contentType: partType, stored }
  })

  const cut = (error: Error): void => {
    for (const part of parts) part.destroy(error)
  }
  try {
    await pipeForm(request, form, cut)
  } catch (error) {
    cut(error instanceof Error ? error : new Error(String(error)))
    await received?.stored.catch(ignoreError)
    throw error
  }
  if (received === undefined) throw new HttpProblem(500, "multipart upload missing key 'content'")
  return { contentType: received.contentType, result: await received.stored }
}

/** Settles when the whole form was read, or storing its content failed. */
function pipeForm(request: IncomingMessage, form: Writable, cut: (error: Error) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const onEnd = (error?: Error): void => {
      request.unpipe(form)
      if (error === undefined) resolve()
      else reject(error)
    }
    request.once('aborted', () => {
      const error = new ClientGone()
      cut(error)
      onEnd(error)
    })
    request.once('error', onEnd)
    form.once('finish', () => {
      onEnd()
    })
    form.once('error', (error: unknown) => {
      onEnd(new HttpProblem(500, `multipart upload: ${messageOf(error)}`))
    })
    request.pipe(form)
  })
}

/** Fails the stream above the limit; a body without a length has no other limit. */
function counted(source: Readable, maxBytes: number): Readable {
  let bytes = 0
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > maxBytes) done(tooLarge(maxBytes))
      else done(null, chunk)
    },
  })
  // The reader of the counter gets its errors; without a reader they must not count as unhandled.
  counter.on('error', ignoreError)
  source.once('error', (error) => counter.destroy(error))
  source.once('aborted', () => counter.destroy(new ClientGone()))
  source.once('close', () => {
    if (!source.readableEnded) counter.destroy(new ClientGone())
  })
  counter.once('close', () => {
    // Nobody reads further: discard the rest of the body, or the sender would wait for ever.
    source.unpipe(counter)
    source.resume()
  })
  return source.pipe(counter)
}

function tooLarge(maxBytes: number): HttpProblem {
  return new HttpProblem(413, `the object is larger than ${String(maxBytes)} bytes`, { Connection: 'close' })
}

function ignoreError(): void {
  // Reported elsewhere.
}
