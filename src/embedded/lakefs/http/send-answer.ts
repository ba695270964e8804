/** Writes an answer to the connection. Bodies are streamed; a body that fails half-way breaks the connection. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Transform, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { EMBEDDED_DRAIN_MAX_BYTES, EMBEDDED_DRAIN_MS } from '../../limits.ts'
import type { Fault } from '../faults.ts'
import type { Answer, StreamedBody } from './answer.ts'

/** What a fault may do to a download on its way out. */
type BodyFault = Extract<Fault, { readonly kind: 'cut-body' } | { readonly kind: 'corrupt-body' }>

export async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  fault?: BodyFault,
): Promise<void> {
  response.statusCode = answer.status
  response.setHeader('X-Content-Type-Options', 'nosniff')
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value)
  const { body } = answer
  const isSent = typeof body === 'object' && request.method !== 'HEAD'
  const bytes = isSent && fault === undefined ? body.bytes : undefined
  if (isSent && bytes === undefined) {
    await pipeline(openBody(body, fault), response)
  } else {
    if (typeof body === 'string') response.setHeader('Content-Length', Buffer.byteLength(body))
    // A 204 or 304 has no length; every other empty answer says so, or the client waits for more.
    else if (body === undefined && !response.hasHeader('Content-Length') && hasBody(answer.status)) {
      response.setHeader('Content-Length', 0)
    }
    await new Promise<void>((resolve) => {
      response.once('close', resolve)
      response.end(typeof body === 'string' ? body : bytes, resolve)
    })
  }
  drain(request)
}

function openBody(body: StreamedBody, fault: BodyFault | undefined): Readable {
  const source = body.open()
  if (fault === undefined) return source
  const disturbed = source.pipe(
    fault.kind === 'cut-body' ? cutAfter(body.lengthBytes * fault.share) : corruptByte(fault.byte ?? 0),
  )
  source.once('error', (error) => disturbed.destroy(error))
  disturbed.once('close', () => source.destroy())
  return disturbed
}

function cutAfter(share: number): Transform {
  let left = Math.floor(share)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const kept = chunk.subarray(0, left)
      left -= kept.length
      if (kept.length > 0) this.push(kept)
      if (left > 0) done()
      // Later, so that the part before the cut is really sent before the connection breaks.
      else setImmediate(() => done(new Error('fault: the body was cut')))
    },
  })
}

function corruptByte(byte: number): Transform {
  let offset = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const at = byte - offset
      offset += chunk.length
      if (at < 0 || at >= chunk.length) {
        done(null, chunk)
        return
      }
      const wrong = Buffer.from(chunk)
      wrong[at] = (wrong[at] ?? 0) ^ 0xff
      done(null, wrong)
    },
  })
}

function hasBody(status: number): boolean {
  return status !== 204 && status !== 304
}

/** Discards what an early answer left unread, up to a limit of bytes and time, so that the client can read the answer. */
function drain(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return
  let bytes = 0
  const late = setTimeout(() => request.socket.destroy(), EMBEDDED_DRAIN_MS)
  request.once('close', () => clearTimeout(late))
  request.on('error', ignoreError)
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > EMBEDDED_DRAIN_MAX_BYTES) request.socket.destroy()
  })
  request.resume()
}

function ignoreError(): void {
  // The answer is sent; errors of the rest of the body do not matter.
}
