// Goal: a server that is away is noticed by whatever way it is away, and its return as well; one that only refuses is there.
import { afterEach, expect, test } from 'vitest'
import { silentLogger } from '../base/logger.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import {
  SERVER_AWAY_PROBE_MAX_MS,
  SERVER_AWAY_WAIT_MS,
  SERVER_PROBE_TIMEOUT_MS,
  SERVER_QUIET_MS,
  SERVER_WATCH_TICK_MS,
} from './limits.ts'
import { ServerWatch } from './server-watch.ts'

const MAIN = 'http://main'
const STORE = 'http://store'

type Way = 'there' | 'refuses' | 'hangs'

interface World {
  readonly clock: ManualClock
  readonly watch: ServerWatch<string>
  readonly is: Record<string, Way>
  readonly count: { readonly probes: number }
}

const opened: World[] = []

async function open(way: Way = 'there'): Promise<World> {
  const clock = new ManualClock()
  const is: Record<string, Way> = { [MAIN]: way, [STORE]: 'there' }
  const count = { probes: 0 }
  const watch = new ServerWatch<string>({
    describe: (origin) => ({
      what: origin,
      title: origin,
      probe: (signal) => {
        count.probes++
        if (is[origin] === 'refuses') return Promise.reject(new Error('ECONNREFUSED'))
        if (is[origin] === 'there') return Promise.resolve()
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        })
      },
    }),
    ...{ main: MAIN, clock, logger: silentLogger },
  })
  const world: World = { clock, is, watch, count }
  opened.push(world)
  await settle()
  return world
}

afterEach(async () => {
  for (const { watch } of opened.splice(0)) await watch.close()
})

/** Lets everything run that needs no time. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function pass(world: World, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += SERVER_WATCH_TICK_MS) {
    await world.clock.advance(SERVER_WATCH_TICK_MS)
    await settle()
  }
}

const awayOf = ({ watch }: World): readonly string[] => watch.outages().map(({ what }) => what)

test('WK-230 a server that is away from the beginning is known to be', async () => {
  const world = await open('refuses')
  expect(world.watch.outages()).toEqual([{ what: MAIN, why: `${MAIN} is away: ECONNREFUSED`, sinceMs: 0 }])
})

test.each([['no-answer'], [500], [503]] as const)(
  'WK-230 a request that ends with %s makes a server away only if the probe fails too',
  async (end) => {
    const world = await open()
    world.watch.watch(MAIN)(end)
    await settle()
    expect([awayOf(world), world.count.probes]).toEqual([[], 2])
    world.is[MAIN] = 'refuses'
    world.watch.watch(MAIN)(end)
    await settle()
    expect(awayOf(world)).toEqual([MAIN])
  },
)

test.each([[404], [409], [302], [401], ['given-up']] as const)(
  'WK-231 a request that ends with %s says nothing of the server',
  async (end) => {
    const world = await open()
    world.is[MAIN] = 'refuses'
    world.watch.watch(MAIN)(end)
    await settle()
    expect([awayOf(world), world.count.probes]).toEqual([[], 1])
  },
)

test('WK-230 a server that nobody asks, or that never answers, is noticed, and an object store only while it is used', async () => {
  const world = await open()
  world.is[MAIN] = 'hangs'
  world.is[STORE] = 'hangs'
  world.watch.watch(STORE)(200)
  await pass(world, SERVER_QUIET_MS + SERVER_PROBE_TIMEOUT_MS + 2 * SERVER_WATCH_TICK_MS)
  expect(awayOf(world)).toEqual([MAIN])
  world.watch.watch(STORE)
  await pass(world, SERVER_PROBE_TIMEOUT_MS + 2 * SERVER_WATCH_TICK_MS)
  expect([...awayOf(world)].sort()).toEqual([MAIN, STORE])
})

test('WK-232 a server is back as soon as a probe or a request succeeds, and probes come at bounded intervals', async () => {
  const world = await open('refuses')
  let changes = 0
  world.watch.onChange(() => changes++)
  await pass(world, 300_000)
  expect(world.count.probes).toBeLessThan(300_000 / SERVER_AWAY_PROBE_MAX_MS + 10)
  world.is[MAIN] = 'there'
  await pass(world, SERVER_AWAY_PROBE_MAX_MS + SERVER_WATCH_TICK_MS)
  expect([awayOf(world), changes]).toEqual([[], 1])
  world.is[MAIN] = 'refuses'
  world.watch.watch(MAIN)('no-answer')
  await settle()
  world.watch.watch(MAIN)(200)
  expect([awayOf(world), changes]).toEqual([[], 3])
})

test('WK-233 who waits for a server goes on when it is back, and at once if none is away', async () => {
  const world = await open()
  expect(await world.watch.untilBack(undefined)).toBe(false)
  world.is[MAIN] = 'refuses'
  world.watch.watch(MAIN)('no-answer')
  const waiting = world.watch.untilBack(undefined)
  await pass(world, 60_000)
  world.is[MAIN] = 'there'
  await pass(world, SERVER_AWAY_PROBE_MAX_MS)
  expect(await waiting).toBe(true)
})

test('WK-233 nobody waits longer than the limit, or after the signal', async () => {
  const world = await open('refuses')
  const controller = new AbortController()
  const given = world.watch.untilBack(controller.signal)
  const waiting = world.watch.untilBack(undefined)
  await settle()
  controller.abort(new Error('enough'))
  await expect(given).rejects.toThrow('enough')
  await world.clock.advance(SERVER_AWAY_WAIT_MS)
  expect(await waiting).toBe(false)
  expect(await world.watch.untilBack(undefined)).toBe(false)
})

test('WK-234 work that an outage touched is told from work that began after it', async () => {
  const world = await open('refuses')
  await pass(world, 1_000)
  world.is[MAIN] = 'there'
  await pass(world, 5_000)
  expect(awayOf(world)).toEqual([])
  expect(await world.watch.findAwaySince(500)).toMatchObject({ what: MAIN })
  expect(await world.watch.findAwaySince(world.clock.monotonicMs())).toBeUndefined()
  // Where nothing is known, the servers are asked.
  world.is[MAIN] = 'refuses'
  expect(await world.watch.findAwaySince(world.clock.monotonicMs())).toMatchObject({ what: MAIN })
})
