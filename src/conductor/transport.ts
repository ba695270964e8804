/** One HTTP exchange over a keep-alive pool. Everything that decides on statuses is elsewhere. */

import type { Pool } from 'undici'
import { DefectError, invariant } from '../base/errors.ts'
import { exchangeOver, TextCollector, type AnswerHead } from '../remote/http-exchange.ts'

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
      return exchange(await pool, request, options)
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

async function exchange(
  pool: Pool,
  request: RawRequest,
  { answerMaxBytes }: Pick<TransportOptions, 'answerMaxBytes'>,
): Promise<RawAnswer> {
  request.signal?.throwIfAborted()
  const collected = new TextCollector(answerMaxBytes)
  let head: AnswerHead | undefined
  await exchangeOver(pool, request, {
    bounds: 'whole',
    boundMs: request.timeoutMs,
    receiver: {
      begin: (begun) => {
        head = begun
      },
      // Read as it comes in: a length may be wrong or missing, and an endless answer must end somewhere.
      write: (piece) => collected.add(piece),
    },
  })
  invariant(head !== undefined, 'an exchange that ends has begun')
  return {
    status: head.status,
    contentType: head.header('content-type') ?? '',
    retryAfter: head.header('retry-after'),
    text: collected.text(),
  }
}
