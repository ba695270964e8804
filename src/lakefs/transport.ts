/**
 * One HTTP exchange over a keep-alive pool, and what is known when it breaks: whether the server may have seen any of
 * it. Everything that decides on statuses is elsewhere.
 */

import type { Readable } from 'node:stream'
import type { Dispatcher, Pool } from 'undici'
import { DefectError } from '../base/errors.ts'
import {
  exchangeOver as deliverOver,
  ExchangeBrokenError,
  firstOf,
  isNotHttp,
  type AnswerReceiver,
  type Break,
} from '../remote/http-exchange.ts'

export interface TransportOptions {
  readonly origin: string
  readonly connections: number
  readonly connectTimeoutMs: number
  /** The longest stretch without progress before the answer begins: queueing, connecting, sending, waiting. */
  readonly answerTimeoutMs: number
  /** The longest silence in the middle of an answer. */
  readonly bodyIdleMs: number
}

export interface RawRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** From the first slash on, with the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | Readable
  readonly signal?: AbortSignal | undefined
  /** Is handed a function to call whenever a piece of the body was taken; each call starts the wait anew. */
  readonly onStart?: (progress: () => void) => void
}

export interface RawAnswer {
  readonly status: number
  header(name: string): string | undefined
  /** To be read to its end or destroyed: it holds a connection. */
  readonly body: Readable
}

export interface Transport {
  exchange(request: RawRequest): Promise<RawAnswer>
  /** The same, with the body handed on as it arrives; resolves after its last piece was handed on. */
  deliver(request: RawRequest, receiver: AnswerReceiver): Promise<void>
  /** Cuts whatever is under way. May be called twice. */
  close(): Promise<void>
}

export function createTransport(options: TransportOptions): Transport {
  let pool: Promise<Pool> | undefined
  let closing: Promise<void> | undefined

  return {
    async exchange(request) {
      if (closing !== undefined) {
        throw new DefectError('lakefs/client-closed', `${request.method} after the client was closed`)
      }
      pool ??= openPool(options)
      return exchangeOver(await pool, request, options)
    },
    async deliver(request, receiver) {
      if (closing !== undefined) {
        throw new DefectError('lakefs/client-closed', `${request.method} after the client was closed`)
      }
      pool ??= openPool(options)
      return deliverOver(await pool, request, {
        receiver,
        bounds: 'answer',
        boundMs: options.answerTimeoutMs,
      })
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
    // Ours below also covers the queue and the connecting, and starts anew with each piece that is sent.
    headersTimeout: 0,
    bodyTimeout: options.bodyIdleMs,
  })
}

/** One exchange over any dispatcher, with a stream for the answer. */
export async function exchangeOver(
  dispatcher: Dispatcher,
  request: RawRequest,
  options: Pick<TransportOptions, 'answerTimeoutMs'> & { readonly origin?: string },
): Promise<RawAnswer> {
  const { signal } = request
  signal?.throwIfAborted()

  const cut = new AbortController()
  let sent = false
  let how: Break['how'] = 'dropped'
  const stop = (why: Break['how'], reason: unknown): void => {
    how = why
    cut.abort(reason)
  }
  const onAbort = (): void => stop('aborted', signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  const watchdog = setTimeout(() => {
    stop('timeout', new Error(`no progress within ${options.answerTimeoutMs} ms`))
  }, options.answerTimeoutMs)
  const progress = (): void => void watchdog.refresh()
  const release = (): void => signal?.removeEventListener('abort', onAbort)

  try {
    request.onStart?.(progress)
    const answer = await dispatcher
      .compose((dispatch) => (opts, handler) => {
        return dispatch(
          opts,
          noteStart(handler, () => {
            sent = true
            progress()
          }),
        )
      })
      .request({
        ...(options.origin === undefined ? {} : { origin: options.origin }),
        method: request.method,
        path: request.path,
        headers: request.headers,
        body: request.body ?? null,
        signal: cut.signal,
      })
    answer.body.once('close', release)
    return {
      status: answer.statusCode,
      header: (name) => firstOf(answer.headers[name.toLowerCase()]),
      body: answer.body,
    }
  } catch (error) {
    release()
    throw new ExchangeBrokenError({ sent, how: isNotHttp(error) ? 'not-http' : how }, error)
  } finally {
    clearTimeout(watchdog)
  }
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
