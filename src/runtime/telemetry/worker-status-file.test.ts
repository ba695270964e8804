import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../base/logger.ts'
import { identifyThisProcess } from '../../base/process-identity.ts'
import { createRedactor } from '../../base/redaction.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import type { WorkerEvent } from '../../worker/events.ts'
import type { WorkerStatus } from '../../worker/worker.ts'
import { STATUS_FILE_MAX_BYTES } from '../limits.ts'
import { clearStatusFiles } from './status-file.ts'
import { keepStatusFile } from './keep-status-file.ts'
import { openWorkersView } from '../views/workers-view.ts'

const info = {
  taskId: 't1',
  workflowId: 'w1',
  taskName: 'etl.load',
  referenceName: 'load',
  retryCount: 2,
  iteration: 0,
}
const IDLE: WorkerStatus = {
  ...{ state: 'running', startedAtMs: 0, nowMs: 0, freeSinceMs: 0 },
  ...{ slots: { limit: 4, taken: 0 }, polls: {}, outages: [], held: [], attempts: [] },
}

async function openWorld(given: { root?: string } = {}) {
  const root = given.root ?? mkdtempSync(join(tmpdir(), 'perago-status-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const clock = new ManualClock()
  const kept = keepStatusFile({
    ...{ root, index: 0, workerId: 'worker-1', logger: silentLogger, clock },
    process: await identifyThisProcess(),
    redactor: createRedactor(['s3cret-value']),
  })
  onTestFinished(() => kept.close())
  const world = { status: IDLE }
  const path = join(root, 'status', '0.json')
  const view = openWorkersView({ root, clock })
  kept.start(() => ({ ...world.status, nowMs: clock.monotonicMs() }))
  /** Until what was begun is on the disk. */
  const settle = () => expect.poll(() => clock.sleeping).toBe(1)
  const pass = async (ms: number) => {
    await clock.advance(ms)
    await settle()
  }
  return { root, clock, kept, world, path, view, settle, pass }
}

function ended(error: Error | undefined, summary: object = {}): WorkerEvent {
  const plain = { status: 'FAILED', delivery: 'delivered', durationMs: 1 }
  return {
    ...{ kind: 'attempt-ended', attempt: info, executionId: 'e' },
    summary: { ...plain, ...summary } as Extract<WorkerEvent, { kind: 'attempt-ended' }>['summary'],
    ...(error && { error }),
  }
}

test('WK-346 a running worker is told with slots, polls, attempts and the age of their leases, outages and files', async () => {
  const { kept, world, view, settle, pass, clock } = await openWorld()
  await settle()
  await clock.advance(8_000)
  world.status = {
    ...IDLE,
    slots: { limit: 4, taken: 1 },
    polls: {
      'etl.load': { succeededAtMs: 7_000, slots: 2 },
      'etl.sum': { succeededAtMs: undefined, slots: 4 },
    },
    outages: [{ what: 'lakefs', why: 'it answers 503', sinceMs: 6_000 }],
    held: ['etl.sum'],
    attempts: [
      {
        ...info,
        executionId: 'e',
        startedAtMs: 5_000,
        step: 'body',
        renewedAtMs: 7_500,
        responseTimeoutSeconds: 60,
      },
    ],
  }
  const details = { files: 5, bytes: 50, cachedFiles: 3, cachedBytes: 30 }
  for (const more of [details, { ...details, isWarm: true }])
    kept.observe({
      ...{ kind: 'step', attempt: info, executionId: 'e' },
      event: { step: 'lay-out', outcome: 'done', durationMs: 1, details: more },
    } as unknown as WorkerEvent)
  await pass(2_000)
  const { workers, isWhole } = await view.read()
  expect(isWhole).toBe(true)
  expect(workers).toMatchObject([
    {
      ...{ index: 0, pid: process.pid, workerId: 'worker-1', state: 'running' },
      slots: { limit: 4, taken: 1 },
      polls: [
        { taskType: 'etl.load', succeededAt: '2026-01-01T00:00:07.000Z', slots: 2, isHeld: false },
        { taskType: 'etl.sum', isHeld: true },
      ],
      attempts: [
        {
          ...{ taskId: 't1', workflowId: 'w1', taskType: 'etl.load', retryCount: 2, step: 'body' },
          ...{
            startedAt: '2026-01-01T00:00:05.000Z',
            renewedAt: '2026-01-01T00:00:07.500Z',
            leaseMs: 60_000,
          },
        },
      ],
      outages: [{ what: 'lakefs', why: 'it answers 503', since: '2026-01-01T00:00:06.000Z' }],
      files: { fetched: 2, fetchedBytes: 20, cached: 3, cachedBytes: 30, warmDirectories: 1 },
    },
  ])
})

test('WK-346 what failed or was handed back lately is told with its reason, and nothing that succeeded', async () => {
  const { kept, view, settle, pass } = await openWorld()
  await settle()
  kept.observe(ended(undefined, { status: 'COMPLETED' }))
  kept.observe(ended(undefined, { status: 'IN_PROGRESS' }))
  kept.observe(ended(new Error('no rows\nfor s3cret-value'), { errorCode: 'task/failed' }))
  kept.observe(ended(new Error('lakeFS is away'), { status: 'IN_PROGRESS' }))
  kept.observe(ended(undefined, { status: 'COMPLETED', delivery: 'superseded' }))
  await pass(2_000)
  const [worker] = (await view.read()).workers
  expect(worker?.ended.map(({ outcome, why, code }) => [outcome, why, code])).toEqual([
    ['superseded', 'the task was decided without this result', undefined],
    ['handed-back', 'lakeFS is away', undefined],
    ['failed', expect.stringMatching(/^no rows\\nfor (?!s3cret)/), 'task/failed'],
  ])
  for (let time = 0; time < 50; time++) kept.observe(ended(new Error(`failure ${String(time)}`)))
  await pass(2_000)
  const ends = (await view.read()).workers[0]?.ended ?? []
  expect([ends.length, ends[0]?.why]).toEqual([10, 'failure 49'])
})

test('WK-347 its file is written when something has changed, else every ten seconds, for its owner alone', async () => {
  const { path, world, settle, pass } = await openWorld()
  await settle()
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700)
  const text = () => readFileSync(path, 'utf8')
  const first = text()
  world.status = { ...IDLE, polls: { a: { succeededAtMs: 1, slots: 1 } } }
  await pass(2_000)
  const second = text()
  expect(second).not.toBe(first)
  // A later poll alone is no change.
  world.status = { ...IDLE, polls: { a: { succeededAtMs: 3_000, slots: 1 } } }
  await pass(2_000)
  expect(text()).toBe(second)
  for (let looks = 0; looks < 4; looks++) await pass(2_000)
  expect(text()).toContain('"succeededAt":"2026-01-01T00:00:03.000Z"')
})

test('WK-347 a lease that was renewed is a change: its age is told as it is', async () => {
  const { view, world, settle, pass, clock } = await openWorld()
  await settle()
  const attempt = { ...info, executionId: 'e', startedAtMs: 0, step: 'body', responseTimeoutSeconds: 3 }
  for (let looks = 0; looks < 5; looks++) {
    world.status = { ...IDLE, attempts: [{ ...attempt, renewedAtMs: clock.monotonicMs() + 1_500 }] }
    await pass(2_000)
    const [worker] = (await view.read()).workers
    const renewedAt = Date.parse(worker?.attempts[0]?.renewedAt ?? '')
    expect(clock.now().getTime() - renewedAt).toBe(500)
  }
})

test('WK-347 its file stays small and readable, whatever names and however many tasks there are', async () => {
  const { path, world, kept, settle, pass, view } = await openWorld()
  await settle()
  const name = '\u{1f600}'.repeat(500)
  const many = Array.from({ length: 1_000 }, (_, at) => `${name}${String(at)}`)
  const attempt = {
    ...info,
    taskId: name,
    executionId: 'e',
    startedAtMs: 0,
    step: 'body',
    renewedAtMs: 0,
    responseTimeoutSeconds: 1,
  }
  world.status = {
    ...IDLE,
    polls: Object.fromEntries(many.map((task) => [task, { succeededAtMs: 1, slots: 1 }])),
    attempts: many.map(() => attempt),
  }
  for (const reason of many) kept.observe(ended(new Error(reason)))
  await pass(2_000)
  expect(statSync(path).size).toBeLessThanOrEqual(STATUS_FILE_MAX_BYTES)
  const [worker] = (await view.read()).workers
  expect(worker?.ended.length).toBeGreaterThan(0)
  expect(worker?.attempts.length).toBeGreaterThan(0)
})

test('WK-348 a worker whose status cannot be written goes on, and writes it when it can be', async () => {
  const root = mkdtempSync(join(tmpdir(), 'perago-status-'))
  // A file in the place of the directory: as on a full disk, nothing can be made there.
  writeFileSync(join(root, 'status'), '')
  const { path, settle, pass, kept } = await openWorld({ root })
  await settle()
  expect(existsSync(path)).toBe(false)
  rmSync(join(root, 'status'))
  await pass(2_000)
  expect(existsSync(path)).toBe(true)
  await kept.close()
  expect(readdirSync(join(root, 'status'))).toEqual([])
})

test('WK-349 a worker that is gone or silent is told so, with what was known last, until the root is taken again', async () => {
  const { root, path, settle, kept, clock, view } = await openWorld()
  await settle()
  const written = JSON.parse(readFileSync(path, 'utf8')) as { process: object }
  await kept.close()
  expect(existsSync(path)).toBe(false)
  const write = (of: object): void => writeFileSync(path, JSON.stringify({ ...written, ...of }))
  const state = async () => (await view.read()).workers.map((worker) => worker.state)
  write({})
  await clock.advance(29_000)
  expect(await state()).toEqual(['running'])
  await clock.advance(2_000)
  expect(await state()).toEqual(['silent'])
  // The pid is somebody else's now.
  write({ writtenAt: clock.now().toISOString(), process: { ...written.process, processStart: '1' } })
  expect(await state()).toEqual(['gone'])
  clearStatusFiles(root)
  expect(await state()).toEqual([])
})

test('WK-349 files that are no status of a worker are not shown, and harm nothing', async () => {
  const root = mkdtempSync(join(tmpdir(), 'perago-status-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const view = openWorkersView({ root })
  expect((await view.read()).workers).toEqual([])
  const directory = join(root, 'status')
  mkdirSync(join(directory, '1.json'), { recursive: true })
  writeFileSync(join(directory, '2.json'), '{"format":"perago-status"')
  writeFileSync(join(directory, '3.json'), ' '.repeat(STATUS_FILE_MAX_BYTES + 1))
  writeFileSync(join(directory, 'x.json'), '{}')
  writeFileSync(join(directory, '4.json'), '{"format":"perago-status","version":1}')
  expect((await view.read()).workers).toEqual([])
})

test('WK-349 a root that may not be read is not told as one without workers', async () => {
  const view = openWorkersView({ root: `/${'x'.repeat(5_000)}` })
  await expect(view.read()).rejects.toMatchObject({ code: 'runtime/workers-unreadable' })
})
