import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { definePipeline, workspaceInput } from '../../engine/definitions/define-pipeline.ts'
import { defineTask, defineWorkspaceTask } from '../../tasks/task-definition.ts'
import { answer, call, fail, failTimes, hang, inTurn, loseWorker, real } from './behaviours.ts'
import { openTestEngine } from './test-engine.ts'
import { testPipeline } from './test-pipeline.ts'

const owner = 'data@example.org'
const HOUR_MS = 3_600_000

const count = defineTask({
  name: 'orders.count',
  owner,
  params: z.object({ day: z.string() }),
  result: z.object({ rows: z.int() }),
  body: ({ params: { day } }) => ({ rows: day.length }),
})
const report = defineTask({
  name: 'orders.report',
  owner,
  params: z.object({ rows: z.int() }),
  result: z.object({ text: z.string() }),
  body: ({ params: { rows } }) => ({ text: `${rows} rows` }),
})
const daily = definePipeline({ name: 'daily', input: z.object({ day: z.string() }) }, (pipeline) => {
  const counted = pipeline.task('count', count, {
    params: { day: pipeline.input.day },
    retry: { times: 2, delay: '1h', jitter: '0s' },
  })
  pipeline.wait('night', { for: '3d', after: [counted] })
  const told = pipeline.task('report', report, {
    params: { rows: counted.result.rows },
    after: [{ name: 'night', output: counted.output }],
  })
  return { rows: counted.result.rows, text: told.result.text }
})

test('EN-800 a pipeline runs with the functions of its tasks, and a wait of days passes at once', async () => {
  const startedMs = performance.now()
  const run = await testPipeline(daily, { input: { day: '2026-01-15' } })
  expect(run.requireCompleted()).toEqual({ rows: 10, text: '10 rows' })
  expect(run.units).toEqual({ count: 'COMPLETED', night: 'COMPLETED', report: 'COMPLETED' })
  expect(run.order).toEqual(['count', 'report'])
  expect(run.durationMs).toBe(72 * HOUR_MS)
  expect(performance.now() - startedMs).toBeLessThan(5_000)
})

test('EN-801 a unit answers what the test says, fails so often, and waits for its retries in the time of the test', async () => {
  const run = await testPipeline(daily, {
    input: { day: 'x' },
    units: {
      count: failTimes(2, answer({ rows: 7 }), 'the warehouse is away'),
      report: (context) => ({ text: JSON.stringify(context.params) }),
    },
  })
  expect(run.requireCompleted()).toEqual({ rows: 7, text: '{"rows":7}' })
  expect(run.order).toEqual(['count', 'count', 'count', 'report'])
  const { attempts, result } = run.unit('count')
  expect(attempts.map(({ status }) => status)).toEqual(['FAILED', 'FAILED', 'COMPLETED'])
  expect(attempts.map(({ startedAfterMs }) => startedAfterMs)).toEqual([0, HOUR_MS, 2 * HOUR_MS])
  expect(attempts[0]?.reason).toContain('the warehouse is away')
  expect(result).toEqual({ rows: 7 })
})

test('EN-802 a unit that never answers ends by its time limit, one whose worker died when its lease is over', async () => {
  const pipeline = definePipeline({ name: 'limited', input: z.object({}) }, (p) => {
    p.taskNamed('slow', 'slow', {
      timeout: '2h',
      lease: '10min',
      retry: { times: 1, delay: '0s', jitter: '0s' },
    })
    return undefined
  })
  const hung = await testPipeline(pipeline, { units: { slow: hang() } })
  expect(hung.status).toBe('TIMED_OUT')
  expect(hung.reason).toContain('not ended after 7200 seconds')
  expect(hung.durationMs).toBe(2 * HOUR_MS)

  const lost = await testPipeline(pipeline, { units: { slow: inTurn(loseWorker(), answer({ ok: true })) } })
  expect(lost.status).toBe('COMPLETED')
  expect(lost.unit('slow').attempts.map(({ status }) => status)).toEqual(['TIMED_OUT', 'COMPLETED'])
  expect(lost.unit('slow').attempts[1]?.startedAfterMs).toBe(600_000)

  // Its lease runs out meanwhile: what comes late does not count.
  const late = await testPipeline(pipeline, {
    units: {
      slow: inTurn(
        answer({ from: 'first' }, { after: '20min', losesLease: true }),
        answer({ from: 'second' }, { after: '1h' }),
      ),
    },
  })
  expect(late.unit('slow').output).toEqual({ from: 'second' })
  expect(late.durationMs).toBe(600_000 + HOUR_MS)
})

const raw = z.object({ workspace: workspaceInput, day: z.string() })
const ingest = defineWorkspaceTask({
  name: 'files.ingest',
  owner,
  params: z.object({ day: z.string() }),
  result: z.object({ lines: z.int() }),
  controls: { replace: 'own', retry: { delaySeconds: 1, jitterMs: 0 } },
  workspace: { include: ['raw/**', 'clean/**'] },
  body: async ({ workspace, params: { day } }) => {
    const text = await readFile(workspace.path('raw', `${day}.csv`), 'utf8')
    const file = workspace.path('clean', `${day}.csv`)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text.toUpperCase())
    return { lines: text.trim().split('\n').length }
  },
})
const sum = defineWorkspaceTask({
  name: 'files.sum',
  owner,
  params: z.object({}),
  result: z.object({}),
  workspace: {},
  body: async ({ workspace }) => {
    await writeFile(workspace.path('sum.txt'), '1')
    return {}
  },
})
const files = definePipeline({ name: 'files', input: raw }, (pipeline) => {
  const { workspace, day } = pipeline.input
  const ingested = pipeline.task('ingest', ingest, { workspace, params: { day } })
  const summed = pipeline.task('sum', sum, { workspace: ingested.workspace, params: {} })
  return { lines: ingested.result.lines, ref: summed.workspace.ref }
})
const given = { input: { day: '2026-01-15' }, files: { 'raw/2026-01-15.csv': 'a\nb\n' } }

test('EN-803 workspace tasks work on a directory and publish to a repository in memory', async () => {
  const run = await testPipeline(files, given)
  expect(run.requireCompleted().lines).toBe(2)
  expect(run.published.map(({ unit, attempt, paths }) => ({ unit, attempt, paths }))).toEqual([
    { unit: 'ingest', attempt: 1, paths: ['clean/2026-01-15.csv'] },
    { unit: 'sum', attempt: 1, paths: ['sum.txt'] },
  ])
  expect(run.published.at(-1)?.ref).toBe(run.output.ref)
})

test('EN-803 what stands in for a workspace task writes to the same directory, and a failed check publishes nothing', async () => {
  const run = await testPipeline(files, {
    ...given,
    units: {
      ingest: call(async ({ workspace }) => {
        await writeFile(workspace?.path('raw', 'other.csv') ?? '', 'c')
        return { lines: 1 }
      }),
      sum: fail('no', { terminal: true }),
    },
  })
  expect(run.status).toBe('FAILED')
  expect(run.published.map(({ unit, paths }) => [unit, ...paths])).toEqual([['ingest', 'raw/other.csv']])
})

test('EN-804 a worker that dies after it has published leaves one publication, that of the next attempt', async () => {
  const run = await testPipeline(files, { ...given, units: { ingest: inTurn(loseWorker(real()), real()) } })
  expect(run.requireCompleted().lines).toBe(2)
  expect(run.unit('ingest').attempts.map(({ status }) => status)).toEqual(['TIMED_OUT', 'COMPLETED'])
  expect(run.published.map(({ unit, attempt }) => [unit, attempt])).toEqual([
    ['ingest', 2],
    ['sum', 1],
  ])
})

test('EN-807 a phase is rolled back in a test, and its publication leaves the branch', async () => {
  const engine = await openTestEngine(given)
  const started = await engine.start(files, {
    ...given,
    units: { sum: inTurn(fail('no', { terminal: true }), real()) },
  })
  expect((await started.result()).status).toBe('FAILED')
  expect(engine.repository.published().map(({ unit }) => unit)).toEqual(['ingest'])
  await engine.control.rollBack(started.id, { of: { level: 'unit', unit: 'ingest' } })
  expect(engine.repository.published()).toEqual([])
  const run = await started.result()
  expect(run.requireCompleted().lines).toBe(2)
  expect(run.published.map(({ unit }) => unit)).toEqual(['ingest', 'sum'])
  await engine.close()
})

const approved = definePipeline({ name: 'approved', input: z.object({}) }, (pipeline) => {
  const arrived = pipeline.wait('arrived', { events: ['external.arrived'], timeout: '1d' })
  const approval = pipeline.human<{ by: string }>('approve', { after: [arrived] })
  const told = pipeline.taskNamed('tell', 'tell', { after: [approval], startWhen: 'shared.open == true' })
  return { by: approval.output.by, told: told.output }
})

test('EN-805 a test gives events, answers of people and variables, each at its time', async () => {
  const units = { tell: answer({ ok: true }) }
  const engine = await openTestEngine()
  const started = await engine.start(approved, { units })
  await started.skip('2h')
  expect((await started.now()).units).toMatchObject({ arrived: 'IN_PROGRESS', approve: 'NOT_STARTED' })
  await started.publish('external.arrived')
  await started.answer('approve', { by: 'Anna' })
  await expect(started.result()).rejects.toMatchObject({ code: 'testing/nothing-left' })
  await started.setVariable('open', true)
  const run = await started.result()
  expect(run.requireCompleted()).toEqual({ by: 'Anna', told: { ok: true } })
  expect(run.durationMs).toBe(2 * HOUR_MS)
  await engine.close()

  const late = await testPipeline(approved, { units, events: [{ type: 'external.arrived', after: '25h' }] })
  expect(late.units).toEqual({ arrived: 'TIMED_OUT', approve: 'NOT_STARTED', tell: 'NOT_STARTED' })
})

test('EN-805 people answer human units as units are answered, after the time that they take', async () => {
  const signed = definePipeline({ name: 'signed', input: z.object({}) }, (pipeline) => {
    const sent = pipeline.taskNamed('send', 'send', {})
    const signature = pipeline.human<{ by: string }>('sign', { after: [sent], timeout: '5d' })
    return { by: signature.output.by }
  })
  const units = { send: answer(), sign: answer({ by: 'Ben' }, { after: '3d' }) }
  const run = await testPipeline(signed, { units })
  expect(run.requireCompleted()).toEqual({ by: 'Ben' })
  expect(run.durationMs).toBe(72 * HOUR_MS)
  expect((await testPipeline(signed, { units: { send: answer() } })).status).toBe('TIMED_OUT')
})

const FAULTS = ['refuse', 'lose-request', 'lose-answer', 'kill-before', 'kill-after'] as const

test.each(FAULTS)(
  'EN-806 whichever write of the engine meets "%s", the pipeline ends alike',
  async (fault) => {
    const short = definePipeline({ name: 'short', input: z.object({}) }, (pipeline) => {
      const a = pipeline.taskNamed('a', 'a', { retry: { times: 3, delay: '1min' }, lease: '10min' })
      const b = pipeline.taskNamed('b', 'b', { input: { from: a.output }, lease: '10min' })
      return { b: b.output }
    })
    const units = { a: failTimes(1, answer({ rows: 2 })), b: call(({ input }) => input) }
    const calm = await testPipeline(short, { units })
    expect(calm.requireCompleted()).toEqual({ b: { from: { rows: 2 } } })
    for (let write = 1; write <= calm.writes; write += 1) {
      const storeFaults = (number: number) => (number === write ? fault : 'none')
      const run = await testPipeline(short, { units, storeFaults })
      expect(run.output, `write ${write}: ${run.story()}`).toEqual(calm.output)
      for (const name of ['a', 'b']) {
        const completed = run.unit(name).attempts.filter(({ status }) => status === 'COMPLETED')
        expect(completed).toHaveLength(1)
      }
    }
  },
)
