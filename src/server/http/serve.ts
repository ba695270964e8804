/**
 * The API on a port: connections, TLS and closing.
 *
 * - SV-1 A server that listens beyond loopback speaks TLS, unless plain text was allowed explicitly.
 * - SV-2 Closing takes no new request, closes event streams, lets running requests end, and cuts the rest at a deadline.
 */

import { createAdaptorServer } from '@hono/node-server'
import { createServer as createPlainServer, type Server, type ServerOptions } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { InvalidError, UnavailableError } from '../../base/errors.ts'
import { listen } from '../../base/listen.ts'
import { once } from '../../base/once.ts'
import {
  HTTP_ARRIVAL_LOOK_MS,
  HTTP_CLOSE_DEADLINE_MS,
  HTTP_CONNECTIONS_MAX,
  HTTP_HEADERS_MAX_BYTES,
  HTTP_HEADERS_TIMEOUT_MS,
  HTTP_REQUEST_TIMEOUT_MS,
} from '../limits.ts'
import { plainRedactor } from '../../base/redaction.ts'
import { buildHttpApp, type HttpAppParts } from './app.ts'
import { isLoopbackAddress } from './authenticate.ts'
import { answerRefusedRequests } from './refused-requests.ts'

export interface ServeHttpOptions extends Omit<HttpAppParts, 'closing'> {
  /** The address to listen on; 127.0.0.1 unless given. */
  readonly address?: string | undefined
  /** 0 takes a free one. */
  readonly port?: number | undefined
  readonly tls?: { readonly certificate: string; readonly key: string } | undefined
  /** Lets a server without TLS listen beyond loopback, such as behind a proxy that speaks TLS. */
  readonly allowPlainText?: boolean | undefined
  readonly closeDeadlineMs?: number | undefined
  readonly timeouts?: Partial<ArrivalTimeouts>
}

export interface ArrivalTimeouts {
  /** How long the head of a request may take to arrive. */
  readonly headMs: number
  /** How long all of it may. */
  readonly requestMs: number
  /** How often that is looked at. */
  readonly lookMs: number
}

export interface HttpDoor {
  readonly url: string
  /** May be called twice. */
  close(): Promise<void>
}

export const DEFAULT_HTTP_PORT = 8080

export async function serveHttp(options: ServeHttpOptions): Promise<HttpDoor> {
  const { address = '127.0.0.1', port = DEFAULT_HTTP_PORT, tls, timeouts = {} } = options
  checkExposure(address, options)
  const closing = new AbortController()
  const app = buildHttpApp({ ...options, closing: closing.signal })
  const server = createAdaptorServer({
    fetch: (request, { incoming }) => app.fetch(request, { address: incoming.socket.remoteAddress }),
    createServer: tls === undefined ? createPlainServer : createTlsServer,
    serverOptions: {
      headersTimeout: timeouts.headMs ?? HTTP_HEADERS_TIMEOUT_MS,
      requestTimeout: timeouts.requestMs ?? HTTP_REQUEST_TIMEOUT_MS,
      // By default Node checks every thirty seconds, which would add that much to the limits above.
      connectionsCheckingInterval: timeouts.lookMs ?? HTTP_ARRIVAL_LOOK_MS,
      maxHeaderSize: HTTP_HEADERS_MAX_BYTES,
      ...(tls === undefined
        ? {}
        : {
            cert: tls.certificate,
            key: tls.key,
            minVersion: 'TLSv1.2',
            handshakeTimeout: timeouts.headMs ?? HTTP_HEADERS_TIMEOUT_MS,
          }),
    } as ServerOptions,
  }) as Server
  answerRefusedRequests(server, options.redactor ?? plainRedactor)
  server.maxConnections = HTTP_CONNECTIONS_MAX
  const listening = await listen(server, { host: address, port }, (cause) => {
    return new UnavailableError('server/no-port', `serve HTTP on ${address}:${port}: ${cause.message}`, {
      cause,
      next: 'Choose a port that is free, or 0 for any.',
    })
  })
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${listening}`,
    close: once(() => {
      closing.abort()
      return closeServer(server, options.closeDeadlineMs ?? HTTP_CLOSE_DEADLINE_MS)
    }),
  }
}

function checkExposure(address: string, { tls, allowPlainText, openLoopback }: ServeHttpOptions): void {
  if (isLoopbackAddress(address)) return
  if (openLoopback !== undefined) {
    throw new InvalidError(
      'server/open-beyond-loopback',
      `serve HTTP on ${address}: requests without a token are accepted on loopback only`,
      { next: 'Listen on 127.0.0.1, or make tokens with perago token create.' },
    )
  }
  if (tls === undefined && allowPlainText !== true) {
    throw new InvalidError(
      'server/plain-text',
      `serve HTTP on ${address}: without TLS tokens would be sent in plain text`,
      { next: 'Give a certificate and its key, or --allow-plain-text behind a proxy that speaks TLS.' },
    )
  }
}

async function closeServer(server: Server, deadlineMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const cut = setTimeout(() => server.closeAllConnections(), deadlineMs)
  await closed
  clearTimeout(cut)
}
