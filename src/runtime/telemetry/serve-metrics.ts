/**
 * Metrics on a port of their own, for Prometheus. They name no execution and no pipeline, and whoever reaches the port may read
 * them: it listens on this machine unless another address is given, as the health port of a worker does.
 */

import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { InvalidError, UnavailableError } from '../../base/errors.ts'
import { isLoopbackAddress, isWrongAddress, listen } from '../../base/listen.ts'
import { once } from '../../base/once.ts'
import type { EngineMetrics } from './engine-metrics.ts'

export interface ServeMetricsOptions {
  /** What `/metrics` answers with: the result of `openEngineMetrics`. */
  readonly metrics: Pick<EngineMetrics, 'render' | 'contentType'>
  /** 0 takes a free one. */
  readonly port?: number
  /** 127.0.0.1 unless given. */
  readonly host?: string
  /** In PEM. Then only TLS is spoken. */
  readonly tls?: { readonly certificate: string; readonly key: string } | undefined
  /** Allows other addresses than loopback without TLS. */
  readonly allowPlainText?: boolean | undefined
}

export interface ServedMetrics {
  readonly url: string
  close(): Promise<void>
}

const DEFAULT_METRICS_PORT = 9090

export async function serveMetrics(options: ServeMetricsOptions): Promise<ServedMetrics> {
  const { metrics, port = DEFAULT_METRICS_PORT, host = '127.0.0.1', tls } = options
  checkExposure(host, options)
  const answerRequest: RequestListener = (request, response) => {
    const answer = (status: number, text: string, type = 'text/plain'): void => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(text)
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') answer(405, 'only GET\n')
    else if (request.url?.split('?')[0] !== '/metrics') answer(404, 'there is /metrics\n')
    else
      metrics.render().then(
        (text) => answer(200, text, metrics.contentType),
        () => answer(500, 'the metrics could not be collected\n'),
      )
  }
  const server =
    tls === undefined
      ? createServer(answerRequest)
      : createTlsServer({ cert: tls.certificate, key: tls.key, minVersion: 'TLSv1.2' }, answerRequest)
  const address = await listen(server, { host, port }, (cause) => {
    const what = `serve metrics on ${host}:${port}: ${cause.message}`
    return isWrongAddress(cause)
      ? new InvalidError('runtime/bad-metrics-address', what, {
          cause,
          next: 'Choose an address of this machine, and a port that this user may listen on.',
        })
      : new UnavailableError('runtime/no-metrics-port', what, {
          cause,
          next: 'Choose a port that is free, or 0 for any.',
        })
  })
  const close = once(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  return { url: `${tls === undefined ? 'http' : 'https'}://${address}`, close }
}

function checkExposure(host: string, { tls, allowPlainText }: ServeMetricsOptions): void {
  if (isLoopbackAddress(host) || tls !== undefined || allowPlainText === true) return
  throw new InvalidError(
    'runtime/plain-text-metrics',
    `serve metrics on ${host}: without TLS they would be sent in plain text`,
    { next: 'Give a certificate and its key, or allow plain text in a network that is closed to others.' },
  )
}
