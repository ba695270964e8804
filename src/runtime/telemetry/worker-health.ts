/**
 * Health and metrics of a worker over HTTP.
 *
 * | path | 200 | 503 |
 * |---|---|---|
 * | `/healthz` | polls and renewals succeed, or their time is not over | polls of a task type have failed for too long, or a lease was not renewed in time: a restart may help |
 * | `/readyz` | every task type was polled recently, and tasks are taken | the worker is starting or stopping, lakeFS is away, the disk is full, or as above |
 * | `/metrics` | for Prometheus | |
 */

import { createServer, type ServerResponse } from 'node:http'
import { InvalidError, UnavailableError } from '../../base/errors.ts'
import { isWrongAddress, listen } from '../../base/listen.ts'
import { once } from '../../base/once.ts'
import { judgeHealth, judgeReadiness, type WorkerHealth } from '../../worker/health.ts'
import type { WorkerStatus } from '../../worker/worker.ts'
import type { WorkerMetrics } from './worker-metrics.ts'

export interface HealthAddress {
  /** 0 takes a free one. */
  readonly port: number
  /** 127.0.0.1 unless given. */
  readonly host?: string
}

export async function serveWorkerHealth(
  options: HealthAddress & {
    readonly status: () => WorkerStatus | undefined
    readonly metrics: WorkerMetrics
  },
) {
  const { status, metrics, port, host = '127.0.0.1' } = options
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0]
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      answer(response, 405, 'only GET\n')
      return
    }
    switch (path) {
      case '/healthz':
        answerHealth(response, judgeHealth(status()))
        return
      case '/readyz':
        answerHealth(response, judgeReadiness(status()))
        return
      case '/metrics':
        metrics.render().then(
          (text) => answer(response, 200, text, metrics.contentType),
          () => answer(response, 500, 'the metrics could not be collected\n'),
        )
        return
      default:
        answer(response, 404, 'there are /healthz, /readyz and /metrics\n')
    }
  })
  const address = await listen(server, { host, port }, (cause) => {
    const what = `serve health on ${host}:${port}: ${cause.message}`
    return isWrongAddress(cause)
      ? new InvalidError('runtime/bad-health-address', what, {
          cause,
          next: 'Choose an address of this machine, and a port that this user may listen on.',
        })
      : new UnavailableError('runtime/no-health-port', what, {
          cause,
          next: 'Choose a port that is free, or 0 for any.',
        })
  })
  return {
    url: `http://${address}`,
    close: once(
      () =>
        new Promise<void>((resolve) => {
          server.close(() => resolve())
          server.closeAllConnections()
        }),
    ),
  }
}

function answerHealth(response: ServerResponse, { ok, problems }: WorkerHealth): void {
  answer(response, ok ? 200 : 503, `${JSON.stringify({ ok, problems })}\n`, 'application/json')
}

function answer(response: ServerResponse, status: number, text: string, contentType = 'text/plain'): void {
  response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' }).end(text)
}
