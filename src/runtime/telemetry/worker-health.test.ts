// Goal: a worker is called well only while polls and renewals go through.
import {
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span,
  type SpanOptions,
  type TracerProvider,
} from '@opentelemetry/api'
import { describe, expect, onTestFinished, test } from 'vitest'
import { OUTBOX_LATE_MS, WORKER_POLL_SILENT_MS } from '../../worker/limits.ts'
import { StaleAttemptError } from '../../fences/attempt-fence.ts'
import type { WorkerEvent } from '../../worker/events.ts'
import type { AttemptInfo } from '../../tasks/task-definition.ts'
import type { RunningAttempt } from '../../worker/attempt/attempts.ts'
import type { WorkerStatus } from '../../worker/worker.ts'
import { judgeHealth, judgeReadiness } from '../../worker/health.ts'
import { serveWorkerHealth } from './worker-health.ts'
import { openWorkerMetrics } from './worker-metrics.ts'
import { traceWorker } from './worker-tracing.ts'

const attempt: AttemptInfo = {
  taskId: 't1',
  workflowId: 'w1',
  taskName: 'clean',
  referenceName: 'ref',
  retryCount: 1,
  iteration: 0,
}
const running: RunningAttempt = {
  ...attempt,
  executionId: 'e1',
  startedAtMs: 0,
  step: 'body',
  renewedAtMs: 990_000,
  responseTimeoutSeconds: 60,
}
function statusOf(changes: Partial<WorkerStatus> = {}): WorkerStatus {
  return {
    state: 'running',
    startedAtMs: 0,
    nowMs: 1_000_000,
    slots: { limit: 4, taken: 0 },
    polls: { clean: { succeededAtMs: 999_000, slots: 4 } },
    attempts: [],
    ...{ outages: [], held: [], freeSinceMs: 0 },
    ...changes,
  }
}
const silent = { succeededAtMs: 1_000_000 - WORKER_POLL_SILENT_MS }
const silentPolls = { clean: { ...silent, slots: 4 } }

describe('health', () => {
  const cases: readonly [string, WorkerStatus | undefined, boolean, boolean][] = [
    ['starting', undefined, true, false],
    ['polled lately', statusOf(), true, true],
    ['a result that waits', statusOf({ oldestResultAtMs: 1_000_000 - OUTBOX_LATE_MS }), true, false],
    ['a result not delivered lately', statusOf({ oldestResultAtMs: 999_000 }), true, true],
    [
      'never polled, just started',
      statusOf({ startedAtMs: 999_000, polls: { clean: { succeededAtMs: undefined, slots: 4 } } }),
      true,
      false,
    ],
    [
      'never polled, long ago',
      statusOf({ polls: { clean: { succeededAtMs: undefined, slots: 4 } } }),
      false,
      false,
    ],
    ['polls have failed for too long', statusOf({ polls: silentPolls }), false, false],
    [
      'not polled because all places are taken',
      statusOf({ polls: silentPolls, slots: { limit: 1, taken: 1 } }),
      true,
      true,
    ],
    [
      'not polled because as many of it run as may',
      statusOf({ polls: { clean: { ...silent, slots: 1 } }, attempts: [running] }),
      true,
      true,
    ],
    [
      'polls have failed for too long, and one that came before runs on',
      statusOf({ polls: silentPolls, attempts: [running], slots: { limit: 4, taken: 1 } }),
      false,
      false,
    ],
    [
      'a lease not renewed in time',
      statusOf({ attempts: [{ ...running, renewedAtMs: 900_000 }] }),
      false,
      false,
    ],
    ['stopping', statusOf({ state: 'stopping', polls: silentPolls }), true, false],
  ]
  const outage = { what: 'lakefs', why: 'lakeFS is away', sinceMs: 0 } as const
  test.each<(typeof cases)[number]>([
    ['away', statusOf({ outages: [outage], held: ['clean'], polls: silentPolls }), true, false],
    ['away for other tasks', statusOf({ outages: [outage], polls: silentPolls }), false, false],
    ['just back', statusOf({ polls: silentPolls, freeSinceMs: 999_000 }), true, true],
  ])(
    'WK-235 lakeFS is %s: a restart does not help, and the worker is not ready',
    (_, status, isHealthy, isReady) => {
      expect([judgeHealth(status).ok, judgeReadiness(status).ok]).toEqual([isHealthy, isReady])
      if (status?.outages.length === 1) expect(judgeReadiness(status).problems).toContain('lakeFS is away')
    },
  )
  test.each(cases)('WK-120 %s', (_, status, isHealthy, isReady) => {
    expect([judgeHealth(status).ok, judgeReadiness(status).ok]).toEqual([isHealthy, isReady])
  })

  test('WK-121 it is served on loopback, with what is wrong', async () => {
    const state: { status: WorkerStatus | undefined } = { status: statusOf() }
    const metrics = openWorkerMetrics(() => state.status)
    const server = await serveWorkerHealth({ status: () => state.status, metrics, port: 0 })
    onTestFinished(() => server.close())
    expect(new URL(server.url).hostname).toBe('127.0.0.1')
    const get = async (path: string, method = 'GET'): Promise<[number, string]> => {
      const answer = await fetch(server.url + path, { method })
      return [answer.status, await answer.text()]
    }
    expect(await get('/healthz')).toEqual([200, '{"ok":true,"problems":[]}\n'])
    expect((await get('/readyz?verbose'))[0]).toBe(200)
    state.status = statusOf({ polls: silentPolls })
    expect(await get('/readyz')).toEqual([
      503,
      '{"ok":false,"problems":["no poll of \\"clean\\" has succeeded for 90 s"]}\n',
    ])
    expect(await get('/metrics')).toEqual([
      200,
      expect.stringContaining('perago_worker_slots{state="limit"} 4'),
    ])
    expect((await get('/other'))[0]).toBe(404)
    expect((await get('/healthz', 'POST'))[0]).toBe(405)
    expect(server.close()).toBe(server.close())
  })

  test('WK-121 a port that is taken is an error that says so', async () => {
    const metrics = openWorkerMetrics(() => undefined)
    const server = await serveWorkerHealth({ status: () => undefined, metrics, port: 0 })
    onTestFinished(() => server.close())
    await expect(
      serveWorkerHealth({ status: () => undefined, metrics, port: Number(new URL(server.url).port) }),
    ).rejects.toMatchObject({ code: 'runtime/no-health-port' })
  })
})

const stale = new StaleAttemptError({ taskId: 't1' } as never, [
  { field: 'task', expected: 't1', actual: undefined },
])
const events: readonly WorkerEvent[] = [
  { kind: 'poll', taskType: 'clean', claimed: 0, durationMs: 100 },
  { kind: 'poll', taskType: 'clean', claimed: 1, durationMs: 10 },
  { kind: 'poll', taskType: 'clean', claimed: 0, durationMs: 10, error: stale },
  { kind: 'attempt-started', attempt, executionId: 'e1' },
  {
    kind: 'step',
    attempt,
    executionId: 'e1',
    event: { step: 'body', durationMs: 1_500, outcome: 'done', details: { files: 3, deep: {} } },
  },
  {
    kind: 'step',
    attempt,
    executionId: 'e1',
    event: { step: 'publish', durationMs: 20, outcome: 'refused', details: {}, error: stale },
  },
  { kind: 'progress', attempt, done: 1, total: 2, what: undefined },
  { kind: 'lease-lost', attempt, error: stale },
  {
    kind: 'attempt-ended',
    attempt,
    executionId: 'e1',
    summary: {
      status: 'FAILED',
      action: 'merged',
      strength: 'soft',
      delivery: 'superseded',
      errorCode: 'fences/stale-attempt',
      durationMs: 2_000,
    },
  },
  { kind: 'outbox', waiting: 2, oldestMs: 7_000 },
  { kind: 'staging-looked', repository: 'lake', removed: 3, kept: 1 },
]

test('WK-122 every event is counted where people look for it', async () => {
  const metrics = openWorkerMetrics(() => undefined)
  for (const event of events) metrics.observe(event)
  const text = await metrics.render()
  for (const line of [
    'perago_worker_polls_total{task="clean",outcome="empty"} 1',
    'perago_worker_polls_total{task="clean",outcome="task"} 1',
    'perago_worker_polls_total{task="clean",outcome="refused"} 1',
    'perago_worker_attempts_total{task="clean",status="FAILED",delivery="superseded",code="fences/stale-attempt"} 1',
    'perago_worker_step_seconds_sum{task="clean",step="body",outcome="done"} 1.5',
    'perago_worker_publications_total{task="clean",action="merged",strength="soft"} 1',
    'perago_worker_leases_lost_total{task="clean",code="fences/stale-attempt"} 1',
    'perago_worker_attempt_seconds_sum{task="clean"} 2',
    'perago_worker_outbox_waiting 2',
    'perago_worker_outbox_oldest_seconds 7',
    'perago_worker_staging_removed_total{repository="lake"} 3',
    'perago_worker_staging_kept{repository="lake"} 1',
  ])
    expect(text).toContain(line)
})

test('WK-326 how far bodies are is a gauge as long as they run, of the one that has come least far', async () => {
  const metrics = openWorkerMetrics(() => undefined)
  const shown = async (): Promise<readonly string[]> =>
    (await metrics.render()).split('\n').filter((line) => line.startsWith('perago_worker_progress'))
  const other = { ...attempt, taskId: 'other' }
  metrics.observe({ kind: 'progress', attempt, done: 1, total: 4, what: undefined })
  metrics.observe({ kind: 'progress', attempt: other, done: 3, total: 4, what: undefined })
  expect(await shown()).toEqual([
    'perago_worker_progress_reports_total{task="clean"} 2',
    'perago_worker_progress_ratio{task="clean"} 0.25',
  ])
  const ended = events.find(({ kind }) => kind === 'attempt-ended')
  metrics.observe(ended!)
  expect((await shown())[1]).toBe('perago_worker_progress_ratio{task="clean"} 0.75')
  metrics.observe({ ...ended!, attempt: other } as WorkerEvent)
  expect(await shown()).toHaveLength(1)
})

test('WK-122 WK-235 an outage is a gauge for what is away or faulty', async () => {
  const metrics = openWorkerMetrics(() => undefined)
  const gauges = async (): Promise<readonly string[]> =>
    (await metrics.render()).split('\n').filter((line) => line.startsWith('perago_worker_outage{'))
  metrics.observe({ kind: 'outage-began', what: 'lakefs', why: 'lakeFS is away' })
  metrics.observe({ kind: 'outage-began', what: 'node', why: 'the disk is full' })
  metrics.observe({ kind: 'outage-ended', what: 'node', durationMs: 5 })
  expect(await gauges()).toEqual([
    'perago_worker_outage{what="lakefs"} 1',
    'perago_worker_outage{what="object-store"} 0',
    'perago_worker_outage{what="node"} 0',
  ])
})

test('WK-124 requests are counted and timed by side', async () => {
  const metrics = openWorkerMetrics(() => undefined)
  const [lakefs, conductor] = [metrics.requestsOf('lakefs'), metrics.requestsOf('conductor')]
  lakefs({ operation: 'commit', status: 201, durationMs: 20 })
  lakefs({ operation: 'commit', status: 201, durationMs: 30 })
  lakefs({ operation: 'commit', status: undefined, durationMs: 1_000 })
  conductor({ operation: 'getTask', status: 404, durationMs: 5 })
  const text = await metrics.render()
  for (const line of [
    'perago_worker_requests_total{side="lakefs",operation="commit",status="201"} 2',
    'perago_worker_requests_total{side="lakefs",operation="commit",status="none"} 1',
    'perago_worker_requests_total{side="conductor",operation="getTask",status="404"} 1',
    'perago_worker_request_seconds_sum{side="lakefs",operation="commit"} 1.05',
  ])
    expect(text).toContain(line)
})

/** As an SDK that was registered after the worker began. */
function tracedBy(provider: TracerProvider): ReturnType<typeof traceWorker> {
  const observe = traceWorker()
  observe({ kind: 'poll', taskType: 'clean', claimed: 0, durationMs: 1 })
  trace.setGlobalTracerProvider(provider)
  onTestFinished(() => trace.disable())
  return observe
}

test('WK-123 an attempt is a span, and each of its steps one below it', () => {
  interface Seen {
    readonly name: string
    readonly options: SpanOptions | undefined
    readonly parent: unknown
    readonly said: Record<string, unknown>
    status?: unknown
    endMs?: unknown
  }
  const seen: Seen[] = []
  const provider = {
    getTracer: () => ({
      startSpan: (name: string, options?: SpanOptions, below?: { getValue(key: symbol): unknown }) => {
        const key = Symbol.for('OpenTelemetry Context Key SPAN')
        const span: Seen = { name, options, parent: below?.getValue(key), said: {} }
        seen.push(span)
        const self: Record<string, (...given: never[]) => unknown> & {
          setAttributes(attributes: object): unknown
        } = {
          setAttributes: (attributes: object) => {
            Object.assign(span.said, attributes)
            return self
          },
          setAttribute: (attribute: string, value: unknown) => self.setAttributes({ [attribute]: value }),
          setStatus: (status: unknown) => {
            span.status = status
            return self
          },
          end: (endMs?: number) => {
            span.endMs = endMs ?? 'now'
          },
        }
        return self as unknown as Span
      },
    }),
  } as unknown as TracerProvider
  const observe = tracedBy(provider)
  for (const event of events) observe(event)
  expect(seen.map(({ name }) => name)).toEqual(['perago attempt clean', 'perago body', 'perago publish'])
  const [whole, body, published] = seen
  expect(whole?.options?.attributes).toMatchObject({ 'perago.workflow_id': 'w1', 'perago.attempt': 1 })
  expect(whole?.said).toMatchObject({ 'perago.status': 'FAILED', 'perago.action': 'merged' })
  expect(whole?.endMs).toBe('now')
  expect(body?.said).toEqual({ 'perago.step': 'body', 'perago.outcome': 'done', 'perago.files': 3 })
  expect(Number(body?.endMs) - Number(body?.options?.startTime)).toBe(1_500)
  expect(published?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'fences/stale-attempt' })
})

test('EN-906 the span of an attempt is below the one that its queue has', () => {
  const above: unknown[] = []
  const provider = {
    getTracer: () => ({
      startSpan: (_name: string, _options?: SpanOptions, below?: Context): Span => {
        above.push(below === undefined ? undefined : trace.getSpanContext(below))
        return {} as Span
      },
    }),
  } as unknown as TracerProvider
  const observe = tracedBy(provider)
  const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
  const started = { kind: 'attempt-started', attempt, executionId: 'e1' } as const
  observe({ ...started, traceparent: `00-${traceId}-${spanId}-01` })
  observe(started)
  expect(above).toEqual([{ traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true }, undefined])
})
