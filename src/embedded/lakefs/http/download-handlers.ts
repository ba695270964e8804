/** Downloads of objects. A stream is opened only when the answer is really sent; a small object is read and checked before. */

import type { Entry } from '../engine/engine.ts'
import type { LakefsEngine } from '../engine/open-engine.ts'
import { empty, failure, HttpProblem, type Answer, type Headers, type StreamedBody } from './answer.ts'
import type { Exchange } from './exchange.ts'
import { readRange, type ByteRange } from './range.ts'

const RANGE_NOT_SATISFIABLE = 'Requested Range Not Satisfiable'

/** Shown by a browser instead of saved; everything else is an attachment. */
const INLINE_TYPES: ReadonlySet<string> = new Set([
  ...['jpeg', 'jpg', 'png', 'gif', 'webp', 'svg+xml'].map((kind) => `image/${kind}`),
  ...['plain', 'markdown', 'x-markdown', 'html', 'css', 'javascript', 'xml'].map((kind) => `text/${kind}`),
  ...['pdf', 'javascript', 'json', 'xml'].map((kind) => `application/${kind}`),
  ...['mpeg', 'wav', 'webm'].map((kind) => `audio/${kind}`),
  ...['mp4', 'webm'].map((kind) => `video/${kind}`),
])

export async function getObject(exchange: Exchange): Promise<Answer> {
  const { engine, query, repository, ref } = exchange
  const path = query.required('path')
  const isPresigned = query.flag('presign') ?? false
  // A malformed header is refused before the object is looked for.
  readRange(exchange.header('range'), 1)
  const entry = engine.stat(repository, ref, path)
  const etag = `"${entry.checksum}"`
  if (exchange.header('if-none-match') === etag) return empty(304)
  if (isPresigned) return empty(302, { Location: exchange.presignEntry(entry).physical_address })

  const headers = {
    ...commonHeaders(entry),
    'Content-Disposition': INLINE_TYPES.has(entry.contentType) ? 'inline' : 'attachment',
    'Content-Security-Policy': "default-src 'none'",
    'X-Frame-Options': 'SAMEORIGIN',
  }
  return serveBytes(exchange, { repository, entry, headers, rangeHeader: exchange.header('range') })
}

/** As a download, without body and disposition; errors have no body either. */
export function headObject(exchange: Exchange): Answer {
  const { engine, query, repository, ref } = exchange
  const path = query.required('path')
  readRange(exchange.header('range'), 1)
  const entry = engine.stat(repository, ref, path)
  const headers = { ...commonHeaders(entry), 'Accept-Ranges': 'bytes' }
  const range = readRange(exchange.header('range'), entry.sizeBytes)
  if (range.kind === 'unsatisfiable') return empty(416, headers)
  if (range.kind === 'whole') return empty(200, { ...headers, 'Content-Length': entry.sizeBytes })
  return empty(206, { ...headers, ...partHeaders(range.range, entry.sizeBytes) })
}

/** Sends what an entry names: whole, one range of it, or 416. */
export async function serveBytes(
  exchange: Exchange,
  what: {
    readonly repository: string
    readonly entry: Pick<Entry, 'physicalAddress' | 'sizeBytes'>
    readonly headers: Headers
    readonly rangeHeader: string | undefined
  },
): Promise<Answer> {
  const { repository, entry, headers } = what
  const range = readRange(what.rangeHeader, entry.sizeBytes)
  if (range.kind === 'unsatisfiable') {
    const told = range.tellSize ? { 'Content-Range': `bytes */${String(entry.sizeBytes)}` } : {}
    return failure(416, RANGE_NOT_SATISFIABLE, { ...headers, ...told })
  }
  checkBytes(exchange.engine, repository, entry)
  const part = range.kind === 'part' ? range.range : undefined
  const open = await exchange.engine.openBlob(repository, entry.physicalAddress, part)
  const lengthBytes = part === undefined ? entry.sizeBytes : part.end - part.start + 1
  const body: StreamedBody = { lengthBytes, open, bytes: open.bytes }
  if (part === undefined) {
    return { status: 200, headers: { ...headers, 'Content-Length': body.lengthBytes }, body }
  }
  return { status: 206, headers: { ...headers, ...partHeaders(part, entry.sizeBytes) }, body }
}

function commonHeaders(entry: Entry): Headers {
  return {
    'Content-Type': entry.contentType,
    ETag: `"${entry.checksum}"`,
    'Last-Modified': new Date(entry.modifiedAt * 1000).toUTCString(),
    'Cache-Control': 'no-store, must-revalidate',
    Expires: '0',
  }
}

function partHeaders(part: ByteRange, sizeBytes: number): Headers {
  return {
    'Content-Range': `bytes ${String(part.start)}-${String(part.end)}/${String(sizeBytes)}`,
    'Content-Length': part.end - part.start + 1,
  }
}

/** An address that was linked unchecked may have no bytes, or other bytes than was claimed. */
function checkBytes(
  engine: LakefsEngine,
  repository: string,
  entry: Pick<Entry, 'physicalAddress' | 'sizeBytes'>,
): void {
  const sizeBytes = engine.blobSize(repository, entry.physicalAddress)
  if (sizeBytes === undefined) throw new HttpProblem(410, 'No data')
  if (sizeBytes !== entry.sizeBytes) {
    throw new HttpProblem(
      500,
      `the stored object has ${String(sizeBytes)} bytes, its entry says ${String(entry.sizeBytes)}`,
    )
  }
}
