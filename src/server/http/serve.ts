/**
 * The API on a port: connections, TLS and closing.
 *
 * - SV-1 A server that listens beyond loopback speaks TLS, unless plain text was allowed explicitly.
 * - SV-2 Closing takes no new request, closes event streams, lets running requests end, and cuts the rest at a deadline.
 */

import { setMaxListeners } from 'node:events'
import { InvalidError } from '../../base/errors.ts'
import { systemClock } from '../../base/clock.ts'
import { isLoopbackAddress } from '../../base/listen.ts'
import { plainRedactor, type Redactor } from '../../base/redaction.ts'
import { buildHttpApp, type HttpAppParts } from './app.ts'
import { listenHttp, type ArrivalTimeouts, type HttpDoor } from './listen-http.ts'
import { buildWorkerDoor, isForWorkers, type Answer } from './worker-door.ts'

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

const DEFAULT_HTTP_PORT = 8080

export async function serveHttp(options: ServeHttpOptions): Promise<HttpDoor> {
  const { address = '127.0.0.1', port = DEFAULT_HTTP_PORT, tls, timeouts = {} } = options
  checkExposure(address, options)
  const closing = new AbortController()
  // Every event stream and every wait listens to it.
  setMaxListeners(0, closing.signal)
  const app = buildHttpApp({ ...options, closing: closing.signal })
  const { redactor = plainRedactor, closeDeadlineMs } = options
  const answerWorkers = openWorkerDoor(options, redactor)
  return listenHttp({
    fetch: (request, { socket: { remoteAddress } }) =>
      answerWorkers !== undefined && isForWorkers(request.url)
        ? answerWorkers(request, remoteAddress)
        : app.fetch(request, { address: remoteAddress }),
    onClose: () => closing.abort(),
    ...{ address, port, tls, timeouts, redactor, closeDeadlineMs },
  })
}

function openWorkerDoor(options: ServeHttpOptions, redactor: Redactor): Answer | undefined {
  const { host, tokens, logger, openLoopback, clock = systemClock } = options
  const { engines, store } = host
  if (engines === undefined) return undefined
  return buildWorkerDoor({ engines, store, tokens, logger, openLoopback, redactor, clock })
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
