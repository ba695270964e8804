/**
 * One HTTP exchange over a keep-alive pool, and what is known when it breaks: whether the server may have seen any of
 * it. Everything that decides on statuses is elsewhere.
 */

import type { Dispatcher, Pool } from 'undici'
import { DefectError } from '../base/errors.ts'
import type { Break } from './answers.ts'

export interface TransportOptions {
  readonly origin: string
  readonly connections: number
  readonly connectTimeoutMs: number
  readonly answerMaxBytes: number
}

export interface RawRequest {
  readonly method: string
  /** From the first slash on, with the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** For the whole exchange: queueing, connecting, sending, waiting, reading. */
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

export interface RawAnswer {
  readonly status: number
  readonly contentType: string
  readonly retryAfter: string | undefined
  readonly text: string
}

/** No answer, or only the beginning of one. */
export class ExchangeBrokenError extends Error {
  readonly broken: Break

  constructor(broken: Break, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'ExchangeBrokenError'
    this.broken = broken
  }
}

export interface Transport {
  exchange(request: RawRequest): Promise<RawAnswer>
  /** Cuts whatever is under way. May be called twice. */
  close(): Promise<void>
}

export function createTransport(options: TransportOptions): Transport {
  let pool: Promise<Pool> | undefined
  let closing: Promise<void> | undefined

  return {
    async exchange(request) {
      if (closing !== undefined) {
        throw new DefectError('conductor/client-closed', `${request.method} after the client was closed`)
      }
      pool ??= openPool(options)
      return exchangeOver(await pool, request, options)
    },
    close() {
      closing ??= pool === undefined ? Promise.resolve() : pool.then((opened) => opened.destroy())
      return closing
    },
  }
}

async function openPool(options: TransportOptions): Promise<Pool> {
  // undici takes a fifth of a second to load: only those who talk to a server pay for it.
  const { Pool } = await import('undici')
  return new Pool(options.origin, {
    connections: options.connections,
    connect: { timeout: options.connectTimeoutMs },
    // One bound of our own covers the whole exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

async function exchangeOver(
  pool: Pool,
  request: RawRequest,
  options: Pick<TransportOptions, 'answerMaxBytes'>,
): Promise<RawAnswer> {
  const { signal } = request
  signal?.throwIfAborted()
  // Not AbortSignal.any: on Node 20 it keeps something of every request for as long as the caller's signal lives.
  const cut = new AbortController()
  let sent = false
  let how: Break['how'] = 'dropped'
  const stop = (why: Break['how'], reason: unknown): void => {
    how = why
    cut.abort(reason)
  }
  const onAbort = (): void => stop('aborted', signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  const timer = setTimeout(() => {
    stop('timeout', new Error(`no answer within ${request.timeoutMs} ms`))
  }, request.timeoutMs)
  try {
    const answer = await pool
      .compose((dispatch) => (dispatchOptions, handler) => {
        return dispatch(
          dispatchOptions,
          noteStart(handler, () => {
            sent = true
          }),
        )
      })
      .request({
        method: request.method,
        path: request.path,
        headers: request.headers,
        body: request.body ?? null,
        signal: cut.signal,
      })
    return {
      status: answer.statusCode,
      contentType: firstOf(answer.headers['content-type']) ?? '',
      retryAfter: firstOf(answer.headers['retry-after']),
      text: await readText(answer.body, options.answerMaxBytes),
    }
  } catch (error) {
    throw new ExchangeBrokenError({ sent, how: isNotHttp(error) ? 'not-http' : how }, error)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

/** Reads as it comes in: a length may be wrong or missing, and an endless answer must end somewhere. */
async function readText(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function isNotHttp(error: unknown): boolean {
  // Some of the parser's errors have a code, some do not; all have this name.
  return error instanceof Error && error.name === 'HTTPParserError'
}

/** Tells when the request is about to be written to a connection: before that, surely nothing was sent. */
function noteStart(handler: Dispatcher.DispatchHandler, onStart: () => void): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (controller, context) => {
      onStart()
      handler.onRequestStart?.(controller, context)
    },
    onRequestUpgrade: (controller, status, headers, socket) =>
      handler.onRequestUpgrade?.(controller, status, headers, socket),
    onResponseStart: (controller, status, headers, message) =>
      handler.onResponseStart?.(controller, status, headers, message),
    onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
    onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
    onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
  }
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
