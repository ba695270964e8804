// Goal: the trace of whoever starts a workflow over HTTP goes on in the worker that does its tasks and in the receivers of webhooks.
import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import { listen } from '../../base/listen.ts'
import { silentLogger } from '../../base/logger.ts'
import { parseTraceparent, spanIdOf } from '../../base/trace-context.ts'
import { openConductorClient } from '../../conductor/client.ts'
import { createHttpTaskQueue } from '../../conductor/http-task-queue.ts'
import { openEngine } from '../../engine/host/open-engine.ts'
import { openEngineMetrics } from '../../runtime/telemetry/engine-metrics.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { openWebhooks } from '../../webhooks/webhooks.ts'
import { parseScrape } from '../../../test/support/prometheus-text.ts'
import { openDefinitionShelf } from './definition-shelf.ts'
import { plainRedactor } from '../../base/redaction.ts'
import { listenHttp } from '../http/listen-http.ts'
import { buildConductorApp } from './conductor-app.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = `00-${TRACE}-00f067aa0ba902b7-01`

async function serve() {
  const store = openMemoryStore()
  const metrics = openEngineMetrics()
  const engine = await openEngine({ store, outbox: true, observers: [metrics.observe] })
  onTestFinished(() => engine.close())
  const { queue, control } = engine
  await control.registerTask({ name: 't' })
  await control.registerWorkflow({ name: 'w', tasks: [{ name: 't', taskReferenceName: 'a' }] })
  const definitions = openDefinitionShelf(store, control)
  const app = buildConductorApp({ queue, control, definitions, metrics, logger: silentLogger })
  const door = await listenHttp({
    fetch: (request) => app.fetch(request),
    ...{ address: '127.0.0.1', port: 0, redactor: plainRedactor },
  })
  onTestFinished(() => door.close())
  const start = async (headers: Record<string, string>): Promise<string> => {
    const request = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{"name":"w"}',
    }
    return (await fetch(`${door.url}/api/workflow`, request)).text()
  }
  const client = openConductorClient({ endpoint: `${door.url}/api` })
  onTestFinished(() => client.close())
  return { store, url: door.url, start, worker: createHttpTaskQueue(client) }
}

/** What each call of a receiver had as its trace, by the type of the event. */
async function receive(): Promise<{
  readonly url: string
  readonly traces: Map<string, string | undefined>
}> {
  const traces = new Map<string, string | undefined>()
  const server = createServer(({ headers }, response) => {
    traces.set(String(headers['perago-event']), headers['traceparent'] as string | undefined)
    response.end()
  })
  const url = `http://${await listen(server, { host: '127.0.0.1', port: 0 }, (cause) => cause)}/`
  onTestFinished(() => void server.close())
  return { url, traces }
}

test('X-162 the trace of a request goes on in the task and in the webhooks of its workflow', async () => {
  const { store, start, worker } = await serve()
  const { url, traces } = await receive()
  const webhooks = openWebhooks({ store, logger: silentLogger, allowPrivate: true })
  await webhooks.ofTenant(undefined).add({ url, types: ['**'] })
  const dispatcher = webhooks.startDelivering()
  onTestFinished(() => dispatcher.close())
  await start({ traceparent: CALLER })
  const [task] = await worker.poll({ taskType: 't', workerId: 'w1', count: 1, waitMs: 1_000 })
  expect(parseTraceparent(task?.traceparent)).toEqual({
    traceId: TRACE,
    spanId: spanIdOf(task!.taskId),
    isSampled: true,
  })
  const { taskId, workflowId, workerId } = task!
  await worker.postResult({ taskId, workflowId, workerId, status: 'COMPLETED', output: {} })
  const untilMs = systemClock.monotonicMs() + 20_000
  while (!traces.has('pipeline.completed') && systemClock.monotonicMs() < untilMs) await systemClock.sleep(20)
  expect(traces.get('a.completed')).toBe(task?.traceparent)
  expect(parseTraceparent(traces.get('pipeline.completed'))?.traceId).toBe(TRACE)
})

test('X-162 a request without a trace starts one of its own', async () => {
  const { start, worker } = await serve()
  await start({})
  await start({ traceparent: 'what is no trace' })
  const tasks = await worker.poll({ taskType: 't', workerId: 'w1', count: 2, waitMs: 1_000 })
  const traces = tasks.map(({ traceparent }) => parseTraceparent(traceparent)?.traceId)
  expect(new Set([...traces, TRACE, undefined]).size).toBe(4)
})

test('X-75 the port of the engine has its metrics too', async () => {
  const { url, start } = await serve()
  await start({})
  const { samples } = parseScrape(await (await fetch(`${url}/metrics`)).text())
  expect(samples.map(({ name }) => name)).toContain('hlp_executor_tasks_total')
})
