// Goal: a schedule starts its pipeline at its times, each of them once, whatever happens to the instance that does it.
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { graphOf, task } from '../../../test/support/engine-graphs.ts'
import { silentLogger } from '../../base/logger.ts'
import type { JsonObject } from '../../base/json.ts'
import { toBytes } from '../../core/json.ts'
import type { Store } from '../../core/ports.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import type { WorkflowId } from '../../worker/ports.ts'
import type { ScheduleDocument } from '../definitions/document.ts'
import { EngineTime } from './engine-time.ts'
import { openEngine } from './open-engine.ts'
import { Schedules, type ListedSchedule } from './schedules.ts'

const MINUTE_MS = 60_000
const DEFAULTS = { tenant: undefined, logger: silentLogger }
const stops: AbortController[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop.abort()
})

/** An instance over a store; `stop` is what a kill leaves of it. */
function open(store: Store, clock: ManualClock, isOwner = true) {
  const schedules = new Schedules({
    ...{ store, clock, ...DEFAULTS, isOwner: () => isOwner },
    time: new EngineTime({ store, clock, ...DEFAULTS }),
    // As the engine: what is stored under a key stays what was stored first.
    startOnce: async (key) => {
      await store.commit({
        conditions: [{ key: `started ${key}`, is: 'absent' }],
        operations: [{ do: 'put', key: `started ${key}`, value: toBytes(clock.now().toISOString()) }],
      })
      return { workflowId: key as WorkflowId }
    },
  })
  const stop = new AbortController()
  stops.push(stop)
  return {
    schedules,
    stop,
    run: (): void => {
      schedules.run(stop.signal).catch((error: unknown) => expect.unreachable(String(error)))
    },
  }
}

/** The times that were started, in the order of their text. */
async function started(store: Store): Promise<readonly string[]> {
  const { entries } = await store.range({ prefix: 'started schedule ', limit: 500 })
  return entries.map(({ key }) => {
    const [, , atMs] = JSON.parse(key.slice('started schedule '.length)) as [string, string, number]
    return new Date(atMs).toISOString().slice(11, 16)
  })
}

async function follow(schedule: ScheduleDocument, start = '2026-01-01T00:00:00Z') {
  const store = openMemoryStore()
  const clock = new ManualClock(new Date(start))
  const first = open(store, clock)
  await first.schedules.register('daily', { s: schedule })
  return { store, clock, first }
}

test('EN-578 a schedule starts its pipeline at its times, in its time zone', async () => {
  const { store, clock, first } = await follow(
    { cron: '30 5 * * *', timeZone: 'Asia/Kolkata' },
    '2025-12-31T23:50:00Z',
  )
  expect(await first.schedules.list()).toMatchObject([{ nextMs: Date.parse('2026-01-01T00:00:00Z') }])
  first.run()
  await clock.advance(10 * MINUTE_MS - 1)
  expect(await started(store)).toEqual([])
  await clock.advance(1)
  expect(await started(store)).toEqual(['00:00'])
  expect(await first.schedules.list()).toMatchObject([
    { nextMs: Date.parse('2026-01-02T00:00:00Z'), last: { atMs: Date.parse('2026-01-01T00:00:00Z') } },
  ])
})

test('EN-578 the engine starts the pipeline with the input of the schedule, and says which time it was', async () => {
  const clock = new ManualClock()
  const engine = await openEngine({ store: openMemoryStore(), clock })
  onTestFinished(() => engine.close())
  await engine.control.registerGraph(graphOf([task('a')], 'daily'))
  await engine.schedules.register('daily', { often: { cron: '*/2 * * * *', input: { day: 1 } } })
  await clock.advance(2 * MINUTE_MS)
  const [{ last }] = (await engine.schedules.list()) as readonly [ListedSchedule]
  expect(await engine.control.readExecution(last?.workflowId as WorkflowId)).toMatchObject({
    ...{ input: { day: 1 }, correlationId: 'daily/often 2026-01-01T00:02:00.000Z', stage: 'EXECUTING' },
  })
})

test('EN-579 each time is started once, wherever an instance is killed and another goes on', async () => {
  const schedule = { cron: '*/10 * * * *', catchUp: 'all' } as const
  let kills = 0
  for (let at = 0; ; at += 1) {
    for (const isDone of [true, false]) {
      const { store, clock } = await follow(schedule)
      let commits = 0
      const life = { isKilled: false }
      const dead = (): never => {
        throw new Error('killed')
      }
      const dying: Store = {
        ...store,
        get: (key, options) => (life.isKilled ? dead() : store.get(key, options)),
        range: (request, options) => (life.isKilled ? dead() : store.range(request, options)),
        commit: async (batch, options) => {
          if (life.isKilled) dead()
          life.isKilled = commits++ === at
          if (!life.isKilled) return store.commit(batch, options)
          if (isDone) await store.commit(batch, options)
          return dead()
        },
      }
      const first = open(dying, clock)
      first.run()
      await clock.advance(25 * MINUTE_MS)
      first.stop.abort()
      kills += life.isKilled ? 1 : 0
      open(store, clock).run()
      await clock.advance(10 * MINUTE_MS)
      expect(await started(store), `killed at write ${at}`).toEqual(['00:10', '00:20', '00:30'])
      if (!life.isKilled) {
        expect(kills).toBeGreaterThan(5)
        return
      }
    }
  }
})

test.each<[NonNullable<ScheduleDocument['catchUp']>, readonly string[]]>([
  ['none', []],
  ['last', ['03:00']],
  ['all', ['01:00', '02:00', '03:00']],
])(
  'EN-580 after an absence a schedule with the rule "%s" starts what that says',
  async (catchUp, expected) => {
    const { store, clock } = await follow({ cron: '0 * * * *', catchUp })
    await clock.advance(3 * 60 * MINUTE_MS + 30 * MINUTE_MS)
    open(store, clock).run()
    await clock.advance(MINUTE_MS)
    expect(await started(store)).toEqual(expected)
    await clock.advance(29 * MINUTE_MS)
    expect(await started(store)).toEqual([...expected, '04:00'])
  },
)

test('EN-581 what falls into a pause is not started, and not made up for', async () => {
  const { store, clock, first } = await follow({ cron: '*/10 * * * *', catchUp: 'all' })
  first.run()
  await clock.advance(10 * MINUTE_MS)
  await first.schedules.pause('daily', 's')
  expect(await first.schedules.list()).toMatchObject([{ isPaused: true, nextMs: undefined }])
  await clock.advance(25 * MINUTE_MS)
  await first.schedules.resume('daily', 's')
  await clock.advance(10 * MINUTE_MS)
  expect(await started(store)).toEqual(['00:10', '00:40'])
  await expect(first.schedules.pause('daily', 'x')).rejects.toMatchObject({ code: 'engine/no-such-schedule' })
})

test('EN-582 a schedule that is registered again goes on; with other times it begins anew, and without it ends', async () => {
  const { store, clock, first } = await follow({ cron: '*/10 * * * *', catchUp: 'all' })
  await clock.advance(15 * MINUTE_MS)
  await first.schedules.register('daily', { s: { cron: '*/10 * * * *', catchUp: 'all', input: { x: 1 } } })
  first.run()
  await clock.advance(1)
  expect(await started(store)).toEqual(['00:10'])
  await first.schedules.register('daily', { s: { cron: '1-59/10 * * * *', catchUp: 'all' } })
  await clock.advance(10 * MINUTE_MS)
  expect(await started(store)).toEqual(['00:10', '00:21'])
  await first.schedules.register('daily', {})
  await clock.advance(10 * MINUTE_MS)
  expect([await started(store), await first.schedules.list()]).toEqual([['00:10', '00:21'], []])
  await expect(first.schedules.register('daily', { s: { cron: 'never' } })).rejects.toMatchObject({
    code: 'engine/bad-schedule',
  })
})

test('EN-582 an instance that does not run the executions starts nothing', async () => {
  const { store, clock } = await follow({ cron: '* * * * *' })
  open(store, clock, false).run()
  await clock.advance(5 * MINUTE_MS)
  expect(await started(store)).toEqual([])
})

test('EN-583 a start that is refused is told, and the next time is tried', async () => {
  const clock = new ManualClock()
  const engine = await openEngine({ store: openMemoryStore(), clock })
  onTestFinished(() => engine.close())
  const input: JsonObject = { workspace: { repository: 'lake', branch: 'main' } }
  const writing = graphOf(
    [task('a', [], { inputParameters: { workspace: '${workflow.input.workspace}' } })],
    'daily',
  )
  await engine.control.registerGraph(writing)
  const first = await engine.control.start({ name: 'daily', input })
  await engine.schedules.register('daily', { often: { cron: '* * * * *', input } })
  await clock.advance(MINUTE_MS)
  expect(await engine.schedules.list()).toMatchObject([
    {
      last: {
        problem: expect.stringContaining(`execution ${first} ("daily") has not ended`) as string,
      },
    },
  ])
  await engine.control.terminate(first)
  await clock.advance(MINUTE_MS)
  expect(await engine.control.listOpen()).toHaveLength(1)
})
