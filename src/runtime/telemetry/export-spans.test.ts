// Goal: spans reach whoever speaks OTLP, and an engine does not notice when nobody does.
import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { listen } from '../../base/listen.ts'
import { silentLogger, type Logger } from '../../base/logger.ts'
import { graphOf, openSeenEngine, unitOf } from '../../../test/support/engine/seen-engine.ts'
import { SPANS_PER_REQUEST, SPANS_WAITING_MAX } from '../limits.ts'
import { exportSpans } from './export-spans.ts'

interface Collected {
  readonly path: string | undefined
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: OtlpRequest
}

/** As https://github.com/open-telemetry/opentelemetry-proto has it, the part that is used. */
interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly unknown[] }
    readonly scopeSpans: readonly { readonly spans: readonly Readonly<Record<string, unknown>>[] }[]
  }[]
}

async function startCollector(status = 200): Promise<{ readonly url: string; readonly got: Collected[] }> {
  const got: Collected[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as OtlpRequest
      got.push({ path: request.url, headers: request.headers, body })
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
    })
  })
  const url = `http://${await listen(server, { host: '127.0.0.1', port: 0 }, (cause) => cause)}`
  onTestFinished(() => void server.close())
  return { url, got }
}

const CALLER = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

test('X-160 the spans of an execution arrive at a collector that speaks OTLP, as Jaeger does', async () => {
  const { url, got } = await startCollector()
  const spans = exportSpans({ endpoint: `${url}/`, logger: silentLogger, headers: { 'x-tenant': 'a' } })
  const seen = await openSeenEngine({ observers: [spans.observe] })
  const id = await seen.engine.control.startGraph(graphOf([unitOf('a')]), { traceparent: CALLER })
  await seen.workOff(undefined, 250)
  await spans.close()
  expect(got.map(({ path }) => path)).toEqual(['/v1/traces'])
  expect(got[0]?.headers).toMatchObject({ 'content-type': 'application/json', 'x-tenant': 'a' })
  const [resource] = got[0]?.body.resourceSpans ?? []
  expect(resource?.resource.attributes).toEqual([{ key: 'service.name', value: { stringValue: 'perago' } }])
  const sent = resource?.scopeSpans[0]?.spans ?? []
  expect(sent.find(({ name }) => name === 'task a')).toEqual({
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    spanId: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
    parentSpanId: sent.find(({ name }) => name === 'execution daily')?.['spanId'],
    name: 'task a',
    kind: 1,
    startTimeUnixNano: '1735689600000000000',
    endTimeUnixNano: '1735689600250000000',
    attributes: expect.arrayContaining([
      { key: 'perago.workflow_id', value: { stringValue: id } },
      { key: 'perago.attempt', value: { intValue: '0' } },
    ]) as unknown[],
  })
})

test('X-159 a failed execution has spans that say so', async () => {
  const { url, got } = await startCollector()
  const spans = exportSpans({ endpoint: url, logger: silentLogger })
  const seen = await openSeenEngine({ observers: [spans.observe], traceShare: 1 })
  await seen.engine.control.startGraph(graphOf([unitOf('a')]), {})
  await seen.workOff(() => 'FAILED_WITH_TERMINAL_ERROR')
  await spans.close()
  const sent = got.flatMap(({ body }) => body.resourceSpans[0]?.scopeSpans[0]?.spans ?? [])
  const failed = sent.filter(({ status }) => (status as { code?: number } | undefined)?.code === 2)
  expect(failed.map(({ name }) => name).sort()).toEqual(['execution daily', 'fail', 'task a'])
})

test.each([
  ['refuses', 503],
  ['is not there', undefined],
])('EN-904 a collector that %s costs the engine nothing but a warning', async (_, status) => {
  const warnings: string[] = []
  const logger: Logger = { ...silentLogger, warn: (message) => void warnings.push(message) }
  const endpoint = status === undefined ? 'http://127.0.0.1:9' : (await startCollector(status)).url
  const spans = exportSpans({ endpoint, logger })
  const seen = await openSeenEngine({ observers: [spans.observe], traceShare: 1 })
  const id = await seen.engine.control.startGraph(graphOf([unitOf('a')]), {})
  await seen.workOff()
  await spans.close()
  await spans.close()
  expect((await seen.engine.control.readWorkflow(id))?.status).toBe('COMPLETED')
  expect(warnings).toHaveLength(1)
})

test('EN-904 spans that nobody takes do not pile up', async () => {
  const { url, got } = await startCollector()
  const spans = exportSpans({ endpoint: url, logger: silentLogger })
  const seen = await openSeenEngine({ traceShare: 1 })
  await seen.engine.control.startGraph(graphOf([unitOf('a')]), {})
  const submitted = seen.events.find(({ kind }) => kind === 'step')!
  // Nothing is sent before this test gives way to it.
  for (let added = 0; added < 2 * SPANS_WAITING_MAX; added += 1) spans.observe(submitted)
  await spans.close()
  const sent = got.flatMap(({ body }) => body.resourceSpans[0]?.scopeSpans[0]?.spans ?? [])
  expect(sent).toHaveLength(SPANS_PER_REQUEST + SPANS_WAITING_MAX)
})
