/** An HTTP server on a port: time limits for what arrives, TLS, closing. */

import { createAdaptorServer } from '@hono/node-server'
import {
  createServer as createPlainServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { UnavailableError } from '../../base/errors.ts'
import { listen } from '../../base/listen.ts'
import { once } from '../../base/once.ts'
import type { Redactor } from '../../base/redaction.ts'
import {
  HTTP_ARRIVAL_LOOK_MS,
  HTTP_CLOSE_DEADLINE_MS,
  HTTP_CONNECTIONS_MAX,
  HTTP_HEADERS_MAX_BYTES,
  HTTP_HEADERS_TIMEOUT_MS,
  HTTP_REQUEST_TIMEOUT_MS,
  HTTP_STALLED_MS,
} from '../limits.ts'
import { answerRefusedRequests } from './refused-requests.ts'

export interface ListenHttpOptions {
  readonly fetch: (request: Request, incoming: IncomingMessage) => Response | Promise<Response>
  readonly address: string
  readonly port: number
  readonly redactor: Redactor
  readonly tls?: { readonly certificate: string; readonly key: string } | undefined
  readonly timeouts?: Partial<ArrivalTimeouts>
  readonly closeDeadlineMs?: number | undefined
  /** Called before requests are awaited: ends those that would not end by themselves. */
  readonly onClose?: () => void
}

export interface ArrivalTimeouts {
  /** How long the head of a request may take to arrive. */
  readonly headMs: number
  /** How long all of it may. */
  readonly requestMs: number
  /** How often that is looked at. */
  readonly lookMs: number
  /** How long a client may take nothing of what it is sent. */
  readonly stalledMs: number
}

export interface HttpDoor {
  readonly url: string
  /** May be called twice. */
  close(): Promise<void>
}

export async function listenHttp(options: ListenHttpOptions): Promise<HttpDoor> {
  const { address, port, tls, timeouts = {}, redactor } = options
  const server = createAdaptorServer({
    fetch: (request, { incoming }) => options.fetch(request, incoming as IncomingMessage),
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
  answerRefusedRequests(server, redactor)
  cutStalled(server, timeouts.stalledMs ?? HTTP_STALLED_MS)
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
      options.onClose?.()
      return closeServer(server, options.closeDeadlineMs ?? HTTP_CLOSE_DEADLINE_MS)
    }),
  }
}

/**
 * A client that does not read would keep its response in memory for as long as it likes. Node's timer starts again with
 * everything that is written or taken; it also ends where the client waits for us, and then nothing is unsent.
 */
function cutStalled(server: Server, stalledMs: number): void {
  server.on('request', (_: IncomingMessage, response: ServerResponse) => {
    response.setTimeout(stalledMs, () => {
      if (response.writableLength > 0) response.destroy()
    })
  })
}

async function closeServer(server: Server, deadlineMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const cut = setTimeout(() => server.closeAllConnections(), deadlineMs)
  await closed
  clearTimeout(cut)
}
