/**
 * Whether a worker does its work, over HTTP on loopback: by its last successful polls and renewals, and never because
 * its process is there.
 *
 * | path | 200 | 503 |
 * |---|---|---|
 * | `/healthz` | polls and renewals go through, or are within their time | polls of a type have failed for too long, or a lease was not renewed in time: a restart may help |
 * | `/readyz` | every type was polled lately, and work is taken | not yet, not any more, or the worker is stopping |
 * | `/metrics` | for Prometheus | |
 */

import { createServer, type ServerResponse } from 'node:http'
import { UnavailableError } from '../../base/errors.ts'
import { listen } from '../../base/listen.ts'
import { once } from '../../base/once.ts'
import { WORKER_POLL_SILENT_MS } from '../limits.ts'
import type { WorkerStatus } from '../../worker/worker.ts'
import type { WorkerMetrics } from './worker-metrics.ts'

export interface WorkerHealth {
  readonly ok: boolean
  /** What is wrong, one sentence each. */
  readonly problems: readonly string[]
}

/** Whether work is taken and done. */
export function judgeReadiness(status: WorkerStatus | undefined): WorkerHealth {
  if (status === undefined) return { ok: false, problems: ['the worker is starting'] }
  const problems = status.state === 'running' ? [] : [`the worker is ${status.state}`]
  return healthOf([...problems, ...findSilentPolls(status, 'never'), ...findSilentLeases(status)])
}

/** Whether there is a reason to start the worker anew. */
export function judgeHealth(status: WorkerStatus | undefined): WorkerHealth {
  if (status === undefined) return { ok: true, problems: [] }
  // A worker that stops polls no more, and has to be left its time.
  const polls = status.state === 'running' ? findSilentPolls(status, 'since-start') : []
  return healthOf([...polls, ...findSilentLeases(status)])
}

export interface HealthServer {
  readonly url: string
  /** May be called twice. */
  close(): Promise<void>
}

/** Serves on loopback unless told otherwise; port 0 takes a free one. */
export async function serveWorkerHealth(options: {
  readonly status: () => WorkerStatus | undefined
  readonly metrics: WorkerMetrics
  readonly port: number
  readonly host?: string
}): Promise<HealthServer> {
  const { status, metrics, port, host = '127.0.0.1' } = options
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0]
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      answer(response, 405, 'only GET\n')
      return
    }
    switch (path) {
      case '/healthz': {
        answerHealth(response, judgeHealth(status()))
        return
      }
      case '/readyz': {
        answerHealth(response, judgeReadiness(status()))
        return
      }
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
    return new UnavailableError(
      'runtime/no-health-port',
      `serve health on ${host}:${port}: ${cause.message}`,
      {
        cause,
        next: 'Choose a port that is free, or 0 for any.',
      },
    )
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

function findSilentPolls(status: WorkerStatus, before: 'never' | 'since-start'): readonly string[] {
  return Object.entries(status.polls).flatMap(([task, { succeededAtMs, slots }]) => {
    if (succeededAtMs === undefined && before === 'never') return [`"${task}" was not polled yet`]
    const silentMs = status.nowMs - (succeededAtMs ?? status.startedAtMs)
    // With all its places taken nothing is polled, and that is how it should be.
    const isBusy = status.slots.taken >= status.slots.limit || runningOf(status, task) >= slots
    if (isBusy || silentMs < WORKER_POLL_SILENT_MS) return []
    return [`no poll of "${task}" has succeeded for ${Math.round(silentMs / 1_000)} s`]
  })
}

function runningOf(status: WorkerStatus, task: string): number {
  return status.attempts.filter(({ taskName }) => taskName === task).length
}

function findSilentLeases({ attempts, nowMs }: WorkerStatus): readonly string[] {
  return attempts.flatMap(({ taskId, renewedAtMs, responseTimeoutSeconds }) => {
    const silentMs = nowMs - renewedAtMs
    if (silentMs < responseTimeoutSeconds * 1_000) return []
    return [`the lease of task ${taskId} was not renewed for ${Math.round(silentMs / 1_000)} s`]
  })
}

function healthOf(problems: readonly string[]): WorkerHealth {
  return { ok: problems.length === 0, problems }
}

function answerHealth(response: ServerResponse, { ok, problems }: WorkerHealth): void {
  answer(response, ok ? 200 : 503, `${JSON.stringify({ ok, problems })}\n`, 'application/json')
}

function answer(response: ServerResponse, status: number, text: string, contentType = 'text/plain'): void {
  response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' }).end(text)
}
