/**
 * The way to the object store, for presigned addresses. The address itself is the permission: no credentials travel
 * here, and the address is never shown, for whoever sees it may use it.
 */

import type { Readable } from 'node:stream'
import type { Agent } from 'undici'
import {
  DefectError,
  InvalidError,
  MissingError,
  UnavailableError,
  type PeragoError,
} from '../base/errors.ts'
import { systemClock } from '../base/clock.ts'
import { ExchangeBrokenError } from '../remote/http-exchange.ts'
import { parseRetryAfter } from '../remote/retry-after.ts'
import { exchangeOver, type RawAnswer, type TransportOptions } from './transport.ts'

export interface StoreRequest {
  readonly address: string
  readonly what: string
  readonly signal?: AbortSignal | undefined
}

export interface StoreTransport {
  get(
    request: StoreRequest & { readonly range?: { readonly start: number; readonly end: number } },
  ): Promise<RawAnswer>
  /** Puts bytes where nothing refers to them yet; so it may be repeated. Returns the store's own checksum, unquoted. */
  put(
    request: StoreRequest & {
      readonly body: Uint8Array | Readable
      readonly sizeBytes: number
      readonly contentType?: string | undefined
      readonly onStart?: (progress: () => void) => void
    },
  ): Promise<{ readonly etag: string | undefined }>
  close(): Promise<void>
}

/** The store's own trouble, or an address it refuses, as it does once the address is too old: a new one may do. */
export function isStoreTrouble(error: unknown): boolean {
  return error instanceof UnavailableError && STORE_CODES.has(error.code)
}

const STORE_CODES: ReadonlySet<string> = new Set([
  'lakefs/store-unreachable',
  'lakefs/store-trouble',
  'lakefs/presigned-refused',
  'lakefs/checksum-mismatch',
])

export function createStoreTransport(options: Omit<TransportOptions, 'origin'>): StoreTransport {
  let agent: Promise<Agent> | undefined
  let closing: Promise<void> | undefined

  async function exchange(
    request: StoreRequest,
    raw: {
      readonly method: 'GET' | 'PUT'
      readonly headers: Readonly<Record<string, string>>
      readonly body?: Uint8Array | Readable
      readonly onStart?: (progress: () => void) => void
    },
  ): Promise<RawAnswer> {
    if (closing !== undefined) throw new DefectError('lakefs/client-closed', `${request.what} after close`)
    const url = readAddress(request)
    agent ??= openAgent(options)
    try {
      return await exchangeOver(
        await agent,
        { ...raw, path: `${url.pathname}${url.search}`, signal: request.signal },
        { answerTimeoutMs: options.answerTimeoutMs, origin: url.origin },
      )
    } catch (error) {
      if (!(error instanceof ExchangeBrokenError)) throw error
      if (error.broken.how === 'aborted') throw request.signal?.reason
      throw new UnavailableError(
        'lakefs/store-unreachable',
        `${request.what}: the connection to the object store at ${url.host} broke (${error.message})`,
        { next: 'Check that the object store can be reached from here.', cause: error.cause },
      )
    }
  }

  return {
    async get(request) {
      const { range } = request
      const headers: Record<string, string> =
        range === undefined ? {} : { range: `bytes=${range.start}-${range.end}` }
      const answer = await exchange(request, { method: 'GET', headers })
      if (answer.status === (range === undefined ? 200 : 206)) return answer
      throw refusedByStore(request, answer)
    },
    async put(request) {
      const answer = await exchange(request, {
        method: 'PUT',
        headers: {
          'content-length': String(request.sizeBytes),
          ...(request.contentType === undefined ? {} : { 'content-type': request.contentType }),
          // Azure wants to be told; the others ignore it.
          ...(isAzure(request.address) ? { 'x-ms-blob-type': 'BlockBlob' } : {}),
        },
        body: request.body,
        ...(request.onStart === undefined ? {} : { onStart: request.onStart }),
      })
      if (answer.status < 200 || answer.status > 299) throw refusedByStore(request, answer)
      answer.body.resume()
      const etag = answer.header('etag')?.replace(/^"(.*)"$/, '$1')
      return { etag: etag === '' ? undefined : etag }
    },
    close() {
      closing ??= agent === undefined ? Promise.resolve() : agent.then((opened) => opened.destroy())
      return closing
    },
  }
}

async function openAgent(options: Omit<TransportOptions, 'origin'>): Promise<Agent> {
  const { Agent } = await import('undici')
  return new Agent({
    connections: options.connections,
    connect: { timeout: options.connectTimeoutMs },
    headersTimeout: 0,
    bodyTimeout: options.bodyIdleMs,
  })
}

function readAddress(request: StoreRequest): URL {
  const url = URL.canParse(request.address) ? new URL(request.address) : undefined
  if (url !== undefined && (url.protocol === 'https:' || url.protocol === 'http:')) return url
  throw new InvalidError(
    'lakefs/bad-presigned-address',
    `${request.what}: the server gave a presigned address that is no http address`,
    { next: 'Look at the storage configuration of the lakeFS server.' },
  )
}

function isAzure(address: string): boolean {
  return new URL(address).hostname.endsWith('.blob.core.windows.net')
}

function refusedByStore(request: StoreRequest, answer: RawAnswer): PeragoError {
  // What the store says may quote the signed address; only its status is taken.
  answer.body.on('error', () => undefined)
  answer.body.destroy()
  const { status } = answer
  const said = `${request.what}: the object store answered ${status}`
  const details = { status }
  if (status === 404) {
    return new MissingError('lakefs/gone', said, {
      details,
      next: 'The bytes are not in the store any more; look at its life-cycle rules.',
    })
  }
  if (status === 400 || status === 401 || status === 403) {
    return new UnavailableError('lakefs/presigned-refused', said, {
      details,
      next: 'Check the clocks of this machine and the server, and the store permissions of the lakeFS server.',
    })
  }
  const retryAfterMs = parseRetryAfter(answer.header('retry-after'), systemClock.now())
  if (status === 408 || status === 429 || status >= 500) {
    return new UnavailableError('lakefs/store-trouble', said, {
      details,
      next: 'Try again later.',
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    })
  }
  return new InvalidError('lakefs/store-refused', said, { details })
}
