// Goal: whatever is done to the wall clock, nothing that is due waits for the clock to show again what it has shown, and nothing
// is done twice or early.
// Method: an engine over a store in memory; a kill leaves a copy of the store, over which another one starts, with its clock set back.
import { expect, onTestFinished, test } from 'vitest'
import { graphOf, task } from '../../../test/support/engine-graphs.ts'
import { SteppedClock } from '../../../test/support/stepped-clock.ts'
import { silentLogger } from '../../base/logger.ts'
import { UnavailableError } from '../../base/errors.ts'
import type { Store } from '../../core/ports.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { ENGINE_STILL_MS, ENGINE_TIME_AHEAD_MAX_MS } from '../limits.ts'
import { EngineTime } from './engine-time.ts'
import { openEngine, type Engine } from './open-engine.ts'

const MINUTE_MS = 60_000
const BACK_MS = 180 * MINUTE_MS

interface Running {
  readonly engine: Engine
  readonly store: Store
  readonly clock: SteppedClock
}

async function start(store = openMemoryStore(), clock = new SteppedClock()): Promise<Running> {
  const engine = await openEngine({ store, clock })
  onTestFinished(async () => {
    const closing = engine.close()
    await clock.advance(10_000)
    await closing
  })
  return { engine, store, clock }
}

/** What runs over a copy of the store as it is now, without the lease, when the clock is set back. */
async function restartEarlier({ store, clock }: Running): Promise<Running> {
  const copy = openMemoryStore()
  for (const { key, value } of (await store.range({ prefix: '', limit: 1000 })).entries)
    if (!key.startsWith('leases:')) await copy.commit({ operations: [{ do: 'put', key, value }] })
  const earlier = new SteppedClock()
  earlier.set(clock.now().getTime() - earlier.now().getTime() - BACK_MS)
  return start(copy, earlier)
}

async function setBack(running: Running): Promise<Running> {
  running.clock.set(-BACK_MS)
  return Promise.resolve(running)
}

const ways = [
  ['by a restart', restartEarlier],
  ['while it runs', setBack],
] as const

async function pollAll({ engine }: Running): Promise<readonly number[]> {
  const found = await engine.queue.poll({ taskType: 't', workerId: 'w', count: 10, waitMs: 0 })
  for (const { taskId, workflowId, workerId } of found)
    await engine.queue.postResult({ taskId, workflowId, workerId, status: 'COMPLETED', output: {} })
  return found.map(({ retryCount }) => retryCount)
}

test.each(ways)(
  'EN-590 a retry is handed out in its time, once, after the clock was set back %s',
  async (_, back) => {
    const first = await start()
    const { engine, clock } = first
    await engine.control.registerTask({ name: 't', retryCount: 3, retryDelaySeconds: 60 })
    const id = await engine.control.startGraph(graphOf([task('one')]), {})
    // What was there before is long gone by.
    await clock.advance(2 * MINUTE_MS)
    const [held] = await engine.queue.poll({ taskType: 't', workerId: 'w', count: 1, waitMs: 0 })
    const { taskId, workflowId, workerId } = held!
    await engine.queue.postResult({ taskId, workflowId, workerId, status: 'FAILED', output: {} })
    const later = await back(first)
    expect(await pollAll(later)).toEqual([])
    await later.clock.advance(45_000)
    expect(await pollAll(later)).toEqual([])
    await later.clock.advance(2 * MINUTE_MS)
    expect(await pollAll(later)).toEqual([1])
    expect(await pollAll(later)).toEqual([])
    expect((await later.engine.control.readWorkflow(id))?.status).toBe('COMPLETED')
  },
)

test.each(ways)(
  'EN-590 a task without a worker times out in its time after the clock was set back %s',
  async (_, back) => {
    const first = await start()
    await first.engine.control.registerTask({
      name: 't',
      retryCount: 1,
      retryDelaySeconds: 0,
      responseTimeoutSeconds: 60,
    })
    await first.engine.control.startGraph(graphOf([task('one')]), {})
    await first.clock.advance(2 * MINUTE_MS)
    expect(await first.engine.queue.poll({ taskType: 't', workerId: 'w', count: 1, waitMs: 0 })).toHaveLength(
      1,
    )
    const later = await back(first)
    await later.clock.advance(30_000)
    expect(await pollAll(later)).toEqual([])
    await later.clock.advance(2 * MINUTE_MS)
    expect(await pollAll(later)).toEqual([1])
  },
)

test.each(ways)(
  'EN-591 a schedule goes on, and starts no time twice, after the clock was set back %s',
  async (_, back) => {
    const first = await start()
    await first.engine.control.registerTask({ name: 't' })
    await first.engine.control.registerGraph(graphOf([task('one')], 'p'))
    await first.engine.schedules.register('p', { s: { cron: '* * * * *' } })
    await first.clock.advance(5 * MINUTE_MS)
    const last = async ({ engine }: Running): Promise<number> =>
      (await engine.schedules.list())[0]?.last?.atMs ?? 0
    const before = await last(first)
    const [count] = [(await pollAll(first)).length]
    expect(count).toBe(5)
    const later = await back(first)
    await later.clock.advance(4 * MINUTE_MS)
    const startedMinutes = ((await last(later)) - before) / MINUTE_MS
    expect(startedMinutes).toBeGreaterThanOrEqual(2)
    expect(startedMinutes).toBeLessThanOrEqual(4)
    expect(await pollAll(later)).toHaveLength(startedMinutes)
  },
)

test('EN-592 the time of the engine never goes back, also over a restart, and the clock catches up with it', async () => {
  const [store, clock] = [openMemoryStore(), new SteppedClock()]
  const open = (): EngineTime => new EngineTime({ store, clock, tenant: undefined, logger: silentLogger })
  const first = open()
  await clock.advance(60 * MINUTE_MS)
  await first.save()
  const before = first.nowMs()
  clock.set(-BACK_MS)
  const second = open()
  await second.load()
  for (const time of [first, second]) expect(time.nowMs()).toBe(before)
  for (let [minutes, last] = [0, before]; minutes < 1830; minutes += 30) {
    await clock.advance(30 * MINUTE_MS)
    const now = second.nowMs()
    // Late rather than early, and it does not stand still.
    expect(now - last).toBeLessThanOrEqual(30 * MINUTE_MS)
    expect(now - last).toBeGreaterThanOrEqual(26 * MINUTE_MS)
    last = now
  }
  expect(second.nowMs()).toBe(clock.now().getTime())
  expect(first.nowMs()).toBe(clock.now().getTime())
})

test('EN-593 health tells an engine that does not get on, whatever is done to the clock, and no other', async () => {
  const clock = new SteppedClock()
  const store = openMemoryStore()
  let isAway = false
  const { engine } = await start(
    {
      ...store,
      get: (key, options) =>
        isAway
          ? Promise.reject(new UnavailableError('test/away', 'get: nobody answers'))
          : store.get(key, options),
    },
    clock,
  )
  clock.set(-BACK_MS)
  await clock.advance(2 * ENGINE_STILL_MS)
  expect(engine.problem()).toBeUndefined()
  isAway = true
  await clock.advance(ENGINE_STILL_MS + 10_000)
  expect(engine.problem()).toMatch(/^the engine has stood still for \d+ s$/)
  isAway = false
  await clock.advance(10_000)
  expect(engine.problem()).toBeUndefined()
})

test('EN-595 a stored time far ahead of the clock is not followed', async () => {
  const [store, logger] = [openMemoryStore(), silentLogger]
  const [future, clock] = [new SteppedClock(), new SteppedClock()]
  future.set(ENGINE_TIME_AHEAD_MAX_MS + 1_000)
  await new EngineTime({ store, tenant: undefined, clock: future, logger }).save()
  const time = new EngineTime({ store, tenant: undefined, clock, logger })
  await time.load()
  expect(time.nowMs()).toBe(clock.now().getTime())
})
