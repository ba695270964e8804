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
import { InvalidError, UnavailableError } from '../../base/errors.ts'
import { isWrongAddress, listen } from '../../base/listen.ts'
import { once } from '../../base/once.ts'
import type { Redactor } from '../../base/redaction.ts'
import {
  HTTP_ARRIVAL_LOOK_MS,
  HTTP_CLOSE_DEADLINE_MS,
  HTTP_CLOSE_GRACE_MS,
  HTTP_HEADERS_MAX_BYTES,
  HTTP_HEADERS_TIMEOUT_MS,
  HTTP_REQUEST_TIMEOUT_MS,
  HTTP_STALLED_MS,
} from '../limits.ts'
import { openProxies, type Proxies } from '../access/client-address.ts'
import type { Arrival } from './environment.ts'
import { answerRefusedRequests } from './refused-requests.ts'
import { renderFailure } from './render-failure.ts'
import { Visits, type ConnectionLimits } from './visits.ts'

export interface ListenHttpOptions {
  readonly fetch: (request: Request, arrival: Arrival) => Response | Promise<Response>
  /** None unless given. */
  readonly proxies?: Proxies | undefined
  readonly address: string
  readonly port: number
  readonly redactor: Redactor
  readonly tls?: { readonly certificate: string; readonly key: string } | undefined
  readonly timeouts?: Partial<ArrivalTimeouts>
  readonly connections?: Partial<ConnectionLimits> | undefined
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
  const { address, port, tls, timeouts = {}, redactor, proxies = openProxies() } = options
  const { closeDeadlineMs: deadlineMs = HTTP_CLOSE_DEADLINE_MS } = options
  const server = createAdaptorServer({
    fetch: (request, exchange) => {
      if (visits.connections.isClosing) return refuseClosing(request, redactor)
      const [incoming, response] = [exchange.incoming as IncomingMessage, exchange.outgoing as ServerResponse]
      const visit = visits.begin(incoming, response, { isShared: proxies.has(incoming.socket.remoteAddress) })
      return options.fetch(request, { ...arrivalOf(incoming, proxies), visit })
    },
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
  const visits = new Visits(server, options.connections)
  answerRefusedRequests(server, redactor)
  cutStalled(server, timeouts.stalledMs ?? HTTP_STALLED_MS)
  const listening = await listen(server, { host: address, port }, (cause) => explain(cause, options))
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${listening}`,
    close: once(() => {
      const closed = visits.connections.close({ graceMs: HTTP_CLOSE_GRACE_MS, deadlineMs })
      options.onClose?.()
      return closed
    }),
  }
}

function arrivalOf({ socket, headers, httpVersion }: IncomingMessage, proxies: Proxies): Arrival {
  const peer = socket.remoteAddress
  const forwarded = headers['x-forwarded-for']
  return {
    address: proxies.clientOf(peer, typeof forwarded === 'string' ? forwarded : forwarded?.join()),
    isProxied: httpVersion === '1.0' || proxies.has(peer),
  }
}

function explain(cause: NodeJS.ErrnoException, { address, port }: ListenHttpOptions): Error {
  const isTaken = cause.code === 'EADDRINUSE'
  const why = isTaken ? 'another program listens there already' : cause.message
  const what = `serve HTTP on ${address}:${port}: ${why}`
  if (isWrongAddress(cause)) {
    const next = 'Choose an address of this machine, and a port that this user may listen on.'
    return new InvalidError('server/bad-address', what, { cause, next })
  }
  return new UnavailableError('server/no-port', what, {
    cause,
    next: 'Stop that program, or choose another port; 0 takes a free one.',
  })
}

/** Sent again, it reaches another instance, or this one when it is back. */
function refuseClosing(request: Request, redactor: Redactor): Response {
  if (new URL(request.url).pathname === '/healthz') {
    return Response.json({ ok: false, problems: ['the server is closing'] }, { status: 503 })
  }
  const closing = new UnavailableError('server/closing', 'accept a request: the server is closing', {
    retryAfterMs: 1_000,
    next: 'Send it again.',
  })
  return renderFailure(closing, redactor)
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
