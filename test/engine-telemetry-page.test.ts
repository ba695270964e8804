import { expect, test } from 'vitest'
import { LOG_EVENTS } from '../src/engine/telemetry/log-records.ts'
import { ENGINE_METRICS } from '../src/runtime/telemetry/engine-metrics.ts'

function rowsOfMetrics(): string {
  return Object.entries(ENGINE_METRICS)
    .map(([name, row]) => {
      const label = 'label' in row ? `\`${row.label.name}\`: ${row.label.values.join(', ')}` : ''
      return `| \`${name}\` | ${row.type} | ${label} | ${row.help} |\n`
    })
    .join('')
}

function rowsOfEvents(): string {
  return Object.entries(LOG_EVENTS)
    .map(([name, level]) => `| \`${name}\` | ${level} |\n`)
    .join('')
}

const page = (): string => `# Metrics, log records and traces of the engine

A test writes this page; after a change run \`npx vitest run test/engine-telemetry-page.test.ts -u\`.

## Metrics

\`perago dev\` serves them for Prometheus at \`/metrics\` of its own port, and with \`--metrics-port 9090\` on a port for them alone. In
a program of yours:

\`\`\`ts
const metrics = openEngineMetrics()
const engine = await openEngine({ store, observers: [metrics.observe] })
const served = await serveMetrics({ metrics }) // http://127.0.0.1:9090/metrics
\`\`\`

No label has a value that a user chooses, so the number of series never grows. Whoever reaches the port may read it: it listens on
127.0.0.1 unless another address is given. They count what this process has stored since it started; a step whose response the store
lost may be missing, while the log of the execution has it.

| metric | type | label | meaning |
|---|---|---|---|
${rowsOfMetrics()}
## Log records

The engine writes one record for each thing that happens to the \`logger\` that it is given. Each has \`timestamp\`, \`level\`, \`event\`,
\`execution_id\`, \`trace_id\` and \`span_id\`; those about a unit also have \`phase_id\`, \`task_id\`, \`unit\` and \`attempt\`; those about an end
\`duration_ms\`. They hold no inputs and no outputs.

| event | level |
|---|---|
${rowsOfEvents()}
## Traces

Each execution is a trace, or a part of the trace whose W3C \`traceparent\` header came with its start. Its spans are \`submit\`,
\`parse\`, \`schedule\`, \`execute\`, \`verify\`, \`commit\` (or \`roll back\`, \`fail\`, \`cancel\`), one per task, and one around all of them. A
worker's spans are below that of the task, child executions below their unit, and webhooks get the \`traceparent\` of their event.

| environment variable of \`perago dev\` | meaning |
|---|---|
| \`OTEL_EXPORTER_OTLP_ENDPOINT\` | sends the spans to this collector, such as \`http://localhost:4318\` of Jaeger; without it nothing is sent |
| \`OTEL_TRACES_SAMPLER_ARG\` | share of executions whose spans are recorded, 0 to 1; 0.1 by default. Who starts an execution with a \`traceparent\` decides for it |

In a program of yours, \`exportSpans({ endpoint, logger }).observe\` is one of the observers, and \`traceShare\` an option of
\`openEngine\`. Spans that a collector does not take are dropped with a warning; the engine does not wait for it.
`

test('EN-905 the reference page shows every metric and every log event', async () => {
  await expect(page()).toMatchFileSnapshot('../docs/reference/engine-telemetry.md')
})
