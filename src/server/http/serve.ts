/**
 * The API on a port: connections, TLS and closing.
 *
 * - SV-1 A server that listens beyond loopback speaks TLS, unless plain text was allowed explicitly.
 * - SV-2 Closing begins no new request, answers those on kept connections with 503, closes event streams, lets running requests
 *   end, and cuts the rest at a deadline.
 */

import { setMaxListeners } from 'node:events'
import { createSecureContext } from 'node:tls'
import { InvalidError, messageOf } from '../../base/errors.ts'
import { systemClock } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import { isLoopbackAddress } from '../../base/listen.ts'
import { plainRedactor, type Redactor } from '../../base/redaction.ts'
import type { InProcess } from '../../runtime/views/open-workflow-views.ts'
import type { WorkflowViews } from '../../runtime/views/workflow-view.ts'
import { openProxies } from '../access/client-address.ts'
import { buildHttpApp, type HttpAppParts, type HttpHost, type PageParts } from './app.ts'
import { listenHttp, type ArrivalTimeouts, type HttpDoor } from './listen-http.ts'
import type { ConnectionLimits } from './visits.ts'
import { openEngineWorkflows } from './engine-workflows.ts'
import { buildWorkerDoor, isForWorkers, openApps, type Answer } from './worker-door.ts'

export interface ServeHttpOptions extends Omit<HttpAppParts, 'closing' | 'host'> {
  readonly host: HttpHost
  /** More of the page: what needs the engine, if there is one. */
  readonly pageOf?: ((engine: EnginePage | undefined) => PageParts) | undefined
  /** The address to listen on; 127.0.0.1 unless given. */
  readonly address?: string | undefined
  /** 0 takes a free one. */
  readonly port?: number | undefined
  readonly tls?: { readonly certificate: string; readonly key: string } | undefined
  /** Lets a server without TLS listen beyond loopback, such as behind a proxy that speaks TLS. */
  readonly allowPlainText?: boolean | undefined
  /** Addresses and ranges of proxies whose `X-Forwarded-For` names the client. */
  readonly trustedProxies?: readonly string[] | undefined
  readonly closeDeadlineMs?: number | undefined
  readonly timeouts?: Partial<ArrivalTimeouts>
  readonly connections?: Partial<ConnectionLimits> | undefined
}

/** Not Conductor's 8080: both often run on one machine. */
const DEFAULT_HTTP_PORT = 8090

export async function serveHttp(options: ServeHttpOptions): Promise<HttpDoor> {
  const { address = '127.0.0.1', port = DEFAULT_HTTP_PORT, tls, timeouts = {} } = options
  checkExposure(address, options)
  checkCertificate(tls)
  const proxies = openProxies(options.trustedProxies)
  const closing = new AbortController()
  // Every event stream and every wait listens to it.
  setMaxListeners(0, closing.signal)
  const { redactor = plainRedactor, closeDeadlineMs } = options
  const served = openServed(options, redactor, closing.signal)
  const page = { ...defined({ workflows: served?.workflows }), ...options.page, ...options.pageOf?.(served) }
  const app = buildHttpApp({ ...options, page, closing: closing.signal })
  return listenHttp({
    fetch: (request, arrival) =>
      served !== undefined && isForWorkers(request.url)
        ? served.answerWorkers(request, arrival)
        : app.fetch(request, arrival),
    onClose: () => closing.abort(),
    ...{ address, port, tls, timeouts, redactor, closeDeadlineMs, proxies },
    connections: options.connections,
  })
}

/** What the engine of this server has for a page. */
export interface EnginePage {
  readonly workflows: WorkflowViews
  /** Its API of Conductor, of the default tenant. */
  readonly answer: InProcess
}

interface ServedEngine extends EnginePage {
  readonly answerWorkers: Answer
}

/** What Conductor's API over the engine is for: workers elsewhere, and people who look. */
function openServed(
  options: ServeHttpOptions,
  redactor: Redactor,
  closing: AbortSignal,
): ServedEngine | undefined {
  const { host, tokens, logger, openLoopback, clock = systemClock } = options
  const { engines, store } = host
  if (engines === undefined) return undefined
  const appOf = openApps({ engines, store, logger, redactor, closing })
  return {
    answerWorkers: buildWorkerDoor({ appOf, tokens, logger, openLoopback, redactor, clock }),
    workflows: openEngineWorkflows({ appOf, engines, clock }),
    answer: async (request) => (await appOf(undefined)).fetch(request),
  }
}

/** Throws `server/bad-certificate`. */
export function checkCertificate(tls: ServeHttpOptions['tls']): void {
  if (tls === undefined) return
  try {
    createSecureContext({ cert: tls.certificate, key: tls.key })
  } catch (cause) {
    throw new InvalidError('server/bad-certificate', `serve HTTP with TLS: ${messageOf(cause)}`, {
      cause,
      next: 'Give a certificate in PEM, and the key that belongs to it.',
    })
  }
}

function checkExposure(address: string, { tls, allowPlainText, openLoopback }: ServeHttpOptions): void {
  if (address === '') {
    // Node would listen on every address.
    throw new InvalidError('server/bad-address', 'serve HTTP: the address to listen on is empty', {
      next: 'Name an address, such as 127.0.0.1, or 0.0.0.0 for all of this machine.',
    })
  }
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
