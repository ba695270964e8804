// Goal: metrics say what the logs of the executions say, in a form that Prometheus takes, and in a number that does not grow.
import { request as httpsRequest } from 'node:https'
import { expect, onTestFinished, test } from 'vitest'
import { openCheckpoints } from '../../engine/checkpoints/checkpoints.ts'
import { openStoreBodies } from '../../engine/checkpoints/store-bodies.ts'
import { describeExecution } from '../../engine/protocol/describe-execution.ts'
import { executionId } from '../../core/keys.ts'
import type { TaskRecord, WorkflowId } from '../../worker/ports.ts'
import { graphOf, openSeenEngine, unitOf, type SeenEngine } from '../../../test/support/engine/seen-engine.ts'
import { parseScrape, valueOf, type Scrape } from '../../../test/support/prometheus-text.ts'
import { ENGINE_METRICS, openEngineMetrics, type EngineMetrics } from './engine-metrics.ts'
import { TEST_CERTIFICATE, TEST_KEY } from '../../../test/support/doors/certificate.ts'
import { serveMetrics } from './serve-metrics.ts'

interface Metered {
  readonly seen: SeenEngine
  readonly metrics: EngineMetrics
  readonly scrape: () => Promise<Scrape>
}

async function setUp(): Promise<Metered> {
  const metrics = openEngineMetrics({ stages: () => seen.engine.stages() })
  const seen: SeenEngine = await openSeenEngine({ observers: [metrics.observe] })
  return { seen, metrics, scrape: async () => parseScrape(await metrics.render()) }
}

const DIAMOND = graphOf([
  unitOf('a'),
  unitOf('b', { after: ['a'] }),
  unitOf('c', { after: ['a'], onlyIf: 'never.happened' }),
  unitOf('d', { after: ['b', 'c'] }),
])

/** Some end well, some fail, one is ended by an operator, one goes on. */
async function runMany(seen: SeenEngine): Promise<readonly WorkflowId[]> {
  const { control } = seen.engine
  const ids: WorkflowId[] = []
  for (let started = 0; started < 6; started += 1) ids.push(await control.startGraph(DIAMOND, {}))
  const fails = (task: TaskRecord): boolean =>
    (task.workflowId === ids[1] && task.referenceTaskName === 'b') ||
    (task.workflowId === ids[2] && task.referenceTaskName === 'a' && task.retryCount === 0)
  await seen.workOff((task) => (fails(task) ? 'FAILED' : 'COMPLETED'), 100)
  ids.push(await control.startGraph(DIAMOND, {}), await control.startGraph(DIAMOND, {}))
  await control.terminate(ids.at(-1)!)
  return ids
}

test('X-149 tasks are counted by status, as the logs of the executions have them', async () => {
  const { seen, scrape } = await setUp()
  const ids = await runMany(seen)
  const logs = (await Promise.all(ids.map((id) => seen.logOf(id)))).flat()
  const logged = (verb: string): number =>
    logs.filter(({ type, source }) => source.entityType === 'node' && type.endsWith(`.${verb}`)).length
  const counted = await scrape()
  for (const status of ['started', 'completed', 'failed', 'skipped', 'cancelled'])
    expect([status, valueOf(counted, 'hlp_executor_tasks_total', { status })]).toEqual([
      status,
      logged(status),
    ])
  expect(valueOf(counted, 'hlp_executor_tasks_total', { status: 'retried' })).toBe(logged('retrying'))
  for (const verb of ['completed', 'failed', 'skipped', 'cancelled', 'retrying'])
    expect([verb, logged(verb) > 0]).toEqual([verb, true])
})

test('X-57 the counters of an execution are those of its log', async () => {
  const { seen } = await setUp()
  for (const id of await runMany(seen)) {
    const execution = (await seen.engine.control.readExecution(id))!
    const { metrics } = describeExecution(execution, { nowMs: seen.clock.now().getTime() })
    const log = (await seen.logOf(id)).filter(({ source }) => source.entityType === 'node')
    const ended = (verb: string): number => log.filter(({ type }) => type.endsWith(`.${verb}`)).length
    expect(metrics).toMatchObject({ tasks_completed: ended('completed'), tasks_failed: ended('failed') })
    const [first, last] = [(await seen.logOf(id))[0], (await seen.logOf(id)).at(-1)]
    if (execution.status === 'RUNNING') continue
    const seconds = (Date.parse(last!.timestamp) - Date.parse(first!.timestamp)) / 1_000
    expect(metrics.execution_duration_seconds).toBe(seconds)
  }
})

test('X-150 each execution is one more observation of the duration, in the stage of its end', async () => {
  const { seen, scrape } = await setUp()
  await runMany(seen)
  const ends = await scrape()
  const count = (stage: string): number =>
    valueOf(ends, 'hlp_executor_execution_duration_seconds_count', { stage })
  expect([count('COMMIT'), count('FAILED'), count('CANCELLED')]).toEqual([5, 1, 1])
  const sum = valueOf(ends, 'hlp_executor_execution_duration_seconds_sum', { stage: 'COMMIT' })
  expect(sum).toBeGreaterThan(0)
})

test('X-152 X-153 each parse and each stored step is one observation, with the time that was measured', async () => {
  const { seen, scrape } = await setUp()
  await runMany(seen)
  await expect(seen.engine.control.registerGraph(graphOf([unitOf('a'), unitOf('a')]))).rejects.toThrow()
  const found = await scrape()
  const parses = seen.events.flatMap((event) => (event.kind === 'graph-parsed' ? [event.durationMs] : []))
  const steps = seen.events.flatMap((event) => (event.kind === 'step' ? [event.durationMs] : []))
  expect(valueOf(found, 'hlp_executor_dag_parse_duration_seconds_count')).toBe(parses.length)
  expect(parses).toHaveLength(9)
  expect(valueOf(found, 'hlp_executor_state_transition_duration_seconds_count')).toBe(steps.length)
  const measured = openEngineMetrics()
  measured.observe({ kind: 'graph-parsed', name: 'g', units: 1, endMs: 0, durationMs: 110 })
  const slow = parseScrape(await measured.render())
  expect(valueOf(slow, 'hlp_executor_dag_parse_duration_seconds_sum')).toBeCloseTo(0.11)
  expect(valueOf(slow, 'hlp_executor_dag_parse_duration_seconds_bucket', { le: '0.12' })).toBe(1)
  expect(valueOf(slow, 'hlp_executor_dag_parse_duration_seconds_bucket', { le: '0.05' })).toBe(0)
})

test('X-117 the service levels of parsing and of a step are bounds of their histograms', async () => {
  const { scrape } = await setUp()
  const found = await scrape()
  for (const [name, le] of [
    ['hlp_executor_dag_parse_duration_seconds', '0.12'],
    ['hlp_executor_state_transition_duration_seconds', '0.05'],
  ] as const)
    expect(valueOf(found, `${name}_bucket`, { le })).toBe(0)
})

test('X-151 a rollback of each level is counted as one', async () => {
  const { seen, metrics, scrape } = await setUp()
  const { control } = seen.engine
  const policy = { onFailure: 'rollback', attempts: 1 } as const
  const undo = { name: 'undo-a', inputParameters: {} }
  await control.registerTask({ name: 'undo-a', retryCount: 0 })
  await control.startGraph(graphOf([unitOf('a', { undo }), unitOf('b', { after: ['a'] })], { policy }), {})
  await seen.workOff(({ referenceTaskName }) => (referenceTaskName === 'b' ? 'FAILED' : 'COMPLETED'))
  for (const task of await seen.engine.queue.poll({ taskType: 'undo-a', workerId: 'w', count: 1, waitMs: 0 }))
    await seen.post(task)
  const id = await control.startGraph(DIAMOND, {})
  const execution = (await control.readExecution(id))!
  const levels = ['phase', 'unit', 'artifact', 'checkpoint'] as const
  for (const level of levels) {
    const rollback = { id: level, level, atMs: 0, reason: undefined, undone: [], notUndone: [] }
    const after = { ...execution, rollbacks: [rollback] }
    metrics.observe({ kind: 'step', before: execution, after, rows: [], log: [], durationMs: 1 })
  }
  const found = await scrape()
  for (const level of ['execution', ...levels])
    expect([level, valueOf(found, 'hlp_executor_rollback_operations_total', { level })]).toEqual([level, 1])
})

test('X-154 the size of a checkpoint is that of its bytes in the store', async () => {
  const { seen, metrics, scrape } = await setUp()
  const id = await seen.engine.control.startGraph(DIAMOND, {})
  const execution = (await seen.engine.control.readExecution(id))!
  const { store, clock } = seen
  const bodies = openStoreBodies(store)
  const checkpoints = openCheckpoints({ store, clock, bodies: [bodies], observe: metrics.observe })
  const scope = { execution: executionId(id) }
  const { checkpointId } = await checkpoints.take({ scope, execution, reason: { phaseId: 'phase-1' } })
  const bytes = await bodies.read({ scope, checkpointId })
  const found = await scrape()
  expect(valueOf(found, 'hlp_executor_checkpoint_size_bytes_sum')).toBe(bytes?.byteLength)
  expect(valueOf(found, 'hlp_executor_checkpoint_size_bytes_count')).toBe(1)
})

test('X-155 processor, memory and storage are metrics', async () => {
  const metrics = openEngineMetrics({ storageBytes: () => Promise.resolve(4_096) })
  const found = parseScrape(await metrics.render())
  expect(valueOf(found, 'hlp_executor_cpu_seconds_total')).toBeGreaterThan(0)
  expect(valueOf(found, 'hlp_executor_resident_memory_bytes')).toBeGreaterThan(10_000_000)
  expect(valueOf(found, 'hlp_executor_storage_bytes')).toBe(4_096)
})

test('X-156 the number of series is the same before and after 100 executions, and none has an id', async () => {
  const { seen, metrics, scrape } = await setUp()
  const before = (await scrape()).samples.length
  const ids: WorkflowId[] = []
  for (let started = 0; started < 100; started += 1) {
    ids.push(await seen.engine.control.startGraph(graphOf([unitOf('a')], { name: `g${started}` }), {}))
    await seen.workOff(() => (started % 3 === 0 ? 'FAILED_WITH_TERMINAL_ERROR' : 'COMPLETED'))
  }
  expect((await scrape()).samples.length).toBe(before)
  const text = await metrics.render()
  for (const id of ids) expect(text).not.toContain(id)
})

test('EN-905 open executions are counted by stage', async () => {
  const { seen, scrape } = await setUp()
  for (let started = 0; started < 3; started += 1) await seen.engine.control.startGraph(DIAMOND, {})
  const count = async (): Promise<number> =>
    valueOf(await scrape(), 'hlp_executor_executions', { stage: 'EXECUTING' })
  expect(await count()).toBe(3)
  await seen.workOff()
  expect(await count()).toBe(0)
})

test('EN-905 every metric of the table is in a scrape, and nothing else', async () => {
  const { scrape } = await setUp()
  const types = [...(await scrape()).types]
  expect(Object.fromEntries(types)).toEqual(
    Object.fromEntries(Object.entries(ENGINE_METRICS).map(([name, { type }]) => [name, type])),
  )
})

test('X-75 X-88 the port serves text that Prometheus takes, at /metrics alone', async () => {
  const { seen, metrics } = await setUp()
  await runMany(seen)
  const served = await serveMetrics({ metrics, port: 0 })
  onTestFinished(() => served.close())
  expect(new URL(served.url).hostname).toBe('127.0.0.1')
  const response = await fetch(`${served.url}/metrics`)
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  expect(parseScrape(await response.text()).samples.length).toBeGreaterThan(50)
  expect((await fetch(`${served.url}/`)).status).toBe(404)
  expect((await fetch(`${served.url}/metrics`, { method: 'POST' })).status).toBe(405)
})

test('X-144 with a certificate the port speaks TLS alone; beyond loopback plain text is refused', async () => {
  const { metrics } = await setUp()
  const tls = { certificate: TEST_CERTIFICATE, key: TEST_KEY }
  const served = await serveMetrics({ metrics, port: 0, tls })
  onTestFinished(() => served.close())
  await expect(fetch(`${served.url.replace('https:', 'http:')}/metrics`)).rejects.toThrow()
  const status = await new Promise((resolve, reject) => {
    const asked = httpsRequest(`${served.url}/metrics`, { ca: TEST_CERTIFICATE }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    asked.on('error', reject).end()
  })
  expect(status).toBe(200)
  await expect(serveMetrics({ metrics, port: 0, host: '0.0.0.0' })).rejects.toMatchObject({
    code: 'runtime/plain-text-metrics',
  })
})

test('X-75 the port is 9090 unless another one is given', async () => {
  const { metrics } = await setUp()
  // Whoever has the port, it is the one that was asked for.
  const served = await serveMetrics({ metrics }).catch((error: unknown) => error as Error)
  if (served instanceof Error) {
    expect(served.message).toContain('127.0.0.1:9090')
    return
  }
  await served.close()
  expect(served.url).toBe('http://127.0.0.1:9090')
})
