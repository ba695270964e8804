// Goal: what is secret in an input is in nothing that an engine tells of itself, also where a worker repeats it.
import { expect, test } from 'vitest'
import { createJsonLogger } from '../../base/json-logger.ts'
import { plainRedactor } from '../../base/redaction.ts'
import { openEngineMetrics } from '../../runtime/telemetry/engine-metrics.ts'
import { graphOf, openSeenEngine, unitOf } from '../../../test/support/engine/seen-engine.ts'
import { spansOf } from './spans.ts'

const SECRETS = ['correct horse/battery', 'staple-0815', '73519466', 'literal-4711', 'in a list 8812']
const INPUT = {
  database: { user: 'loader', password: SECRETS[0]! },
  api_key: SECRETS[1]!,
  access: { token: 73519466 },
  credentials: [{ name: 'x', value: SECRETS[4]! }],
  day: '2026-01-15',
}
const GRAPH = graphOf([
  unitOf('load', {
    inputParameters: {
      url: 'db://loader:${workflow.input.database.password}@host',
      clientSecret: SECRETS[3]!,
    },
  }),
  unitOf('after', { after: ['load'], startWhen: 'pipeline.input.api_key > 5' }),
])

/** As a program that fails shows what it was called with: plain, for an address, as JSON, in base64. */
const REPEATED = SECRETS.flatMap((secret) => [
  secret,
  encodeURIComponent(secret),
  JSON.stringify({ message: secret }),
  Buffer.from(`loader:${secret}`).toString('base64'),
]).join(' | ')

test('X-145 secrets of inputs are in no log, event, error, span or metric, also where a worker repeats them', async () => {
  const lines: string[] = []
  const logger = createJsonLogger({
    level: 'trace',
    redactor: plainRedactor,
    write: (line) => void lines.push(line),
  })
  const metrics = openEngineMetrics({ stages: () => seen.engine.stages() })
  const seen = await openSeenEngine({ logger, observers: [metrics.observe] })
  const { control, queue } = seen.engine
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const id = await control.startGraph(GRAPH, { input: INPUT, traceparent })
  const taskIds: string[] = []
  for (let attempt = 0; attempt < 2; attempt++) {
    const [task] = await seen.poll()
    expect(JSON.stringify(task?.input)).toContain(SECRETS[3])
    taskIds.push(task!.taskId)
    await queue.appendLog(task!.taskId, `on 2026-01-15: ${REPEATED}`)
    const { taskId, workflowId, workerId } = task!
    const reasonForIncompletion = `cannot load 2026-01-15: ${REPEATED}`
    const result = {
      taskId,
      workflowId,
      workerId,
      status: 'FAILED',
      output: {},
      reasonForIncompletion,
    } as const
    await queue.postResult({ ...result, logs: [`last: ${REPEATED}`] })
  }
  const execution = await control.readExecution(id)
  const told = {
    lines,
    events: await seen.logOf(id),
    spans: seen.events.flatMap(spansOf),
    metrics: await metrics.render(),
    reason: execution?.reasonForIncompletion,
    errors: execution?.rows.map(({ record }) => record.reasonForIncompletion),
    logs: await Promise.all(taskIds.map((taskId) => control.readLogs(taskId as never))),
  }
  expect(told.reason).toContain('cannot load 2026-01-15')
  expect(told.logs.flat().join()).toContain('on 2026-01-15')
  expect(lines.join()).toContain('cannot load 2026-01-15')
  expect(told.spans.length).toBeGreaterThan(3)
  const text = JSON.stringify(told)
  for (const secret of SECRETS) {
    expect(text).not.toContain(secret)
    expect(text).not.toContain(encodeURIComponent(secret))
    // Without its ends, which depend on what stands beside it; fewer characters can be in any id.
    const encoded = Buffer.from(`loader:${secret}`).toString('base64').replace(/=+$/, '')
    expect(text).not.toContain(encoded.slice(12, Math.max(20, encoded.length - 6)))
  }
})

test('X-145 what the rules themselves say of an execution has none of its values', async () => {
  const lines: string[] = []
  const logger = createJsonLogger({
    level: 'trace',
    redactor: plainRedactor,
    write: (line) => void lines.push(line),
  })
  const seen = await openSeenEngine({ logger })
  const { control } = seen.engine
  const start = async (units: Parameters<typeof graphOf>[0]) => {
    const refused: string[] = []
    const id = await control
      .startGraph(graphOf(units), { input: INPUT })
      .catch((error: unknown) => void refused.push(String(error)))
    await seen.workOff()
    const execution = id === undefined ? undefined : await control.readExecution(id)
    const events = id === undefined ? [] : await seen.logOf(id)
    const reasons = execution?.rows.map(({ record }) => record.reasonForIncompletion)
    return JSON.stringify([refused, execution?.reasonForIncompletion, reasons, events])
  }
  const told = [
    await start([unitOf('a', { onlyIf: 'pipeline.input.api_key > 5' })]),
    await start([unitOf('a', { onlyIf: 'pipeline.input.database.password == 3' })]),
    await start([unitOf('a', { inputParameters: { x: '${workflow.input.api_key.deeper[3]}' } })]),
  ].join()
  expect(told).toContain('daily')
  for (const secret of SECRETS) expect(`${told}${lines.join()}`).not.toContain(secret)
})
