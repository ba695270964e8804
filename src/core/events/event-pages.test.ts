// Goal: what one page of a query looks at is bounded, and whoever follows the pages to their end misses nothing.
import fc from 'fast-check'
import { describe, expect, test, type TestContext } from 'vitest'
import { externalEvent, openWorld, start } from '../../../test/support/core-world.ts'
import { STORE_KINDS, type StoreKind } from '../../../test/support/stores.ts'
import { openSqliteArchive } from '../../stores/archive/sqlite-archive.ts'
import { openCore } from '../life-cycle/core.ts'
import type { Execution } from '../life-cycle/execution.ts'
import { openMaintenance } from '../life-cycle/maintenance.ts'
import { EVENT_PAGE_MAX_BYTES, EVENT_PAGE_MAX_EVENTS, EVENT_PAYLOAD_MAX_BYTES } from '../limits.ts'
import type { Store } from '../ports.ts'
import type { EventFilter } from './event-filter.ts'
import type { ExecutionEvent } from './event.ts'

const NOTHING = { types: ['none.completed'] }

/** A store that counts what is read of ranges, and how often in one turn of the event loop. */
function counting(store: Store) {
  const seen = { entries: 0, calls: 0, inTurn: [] as number[] }
  const range: Store['range'] = async (request, options) => {
    seen.calls += 1
    const page = await store.range(request, options)
    seen.entries += page.entries.length
    return page
  }
  return { seen, store: { ...store, range } satisfies Store }
}

async function fill(execution: Execution, count: number, text = ''): Promise<void> {
  const events = Array.from({ length: count }, (_, n) =>
    externalEvent(n % 997 === 996 ? 'external.rare' : 'external.often', { n, text }),
  )
  for (let at = 0; at < count; at += 500)
    await Promise.all(events.slice(at, at + 500).map((event) => execution.events.publish(event)))
}

async function readAll(execution: Execution, filter: EventFilter) {
  const pages: (readonly ExecutionEvent[])[] = []
  for (let after = filter.after; ;) {
    const page = await execution.events.queryPage({ ...filter, ...(after === undefined ? {} : { after }) })
    pages.push(page.events)
    if (page.next === undefined) return { pages, found: pages.flat() }
    after = page.next
  }
}

async function openFilled({ open }: StoreKind, context: TestContext, count: number) {
  const world = await openWorld({ open }, context)
  const { seen, store } = counting(world.store)
  const execution = await start(openCore({ store }))
  await fill(execution, count)
  seen.entries = seen.calls = 0
  return { seen, execution, clock: world.clock }
}

describe.each(STORE_KINDS)('pages of events on $kind', (kind) => {
  test('E-116 a page that finds nothing looks at a bounded number of events, and says where to go on', async (context) => {
    const { seen, execution } = await openFilled(kind, context, 2 * EVENT_PAGE_MAX_EVENTS + 10)
    const first = await execution.events.queryPage(NOTHING)
    expect(first).toEqual({ events: [], next: EVENT_PAGE_MAX_EVENTS })
    expect(seen.entries).toBeLessThan(1.2 * EVENT_PAGE_MAX_EVENTS)
    const second = await execution.events.queryPage({ ...NOTHING, after: EVENT_PAGE_MAX_EVENTS })
    expect(second).toEqual({ events: [], next: 2 * EVENT_PAGE_MAX_EVENTS })
    const last = await execution.events.queryPage({ ...NOTHING, after: 2 * EVENT_PAGE_MAX_EVENTS })
    expect(last).toEqual({ events: [], next: undefined })
  })

  test('E-116 a page ends early when what it looks at is large', async (context) => {
    const { execution } = await openFilled(kind, context, 0)
    const bytes = EVENT_PAYLOAD_MAX_BYTES - 100
    const count = 1.5 * (EVENT_PAGE_MAX_BYTES / EVENT_PAYLOAD_MAX_BYTES)
    for (let n = 0; n < count; n += 1)
      await execution.events.publish(externalEvent('external.often', { text: 'x'.repeat(bytes) }))
    const { pages, found } = await readAll(execution, {})
    expect(pages.map(({ length }) => length)).toEqual([expect.any(Number), expect.any(Number)])
    expect(found).toEqual(await execution.events.query())
    expect((await readAll(execution, NOTHING)).pages).toEqual([[], []])
  })

  test('E-117 the pages of a query up to the one without a next are what the whole query finds', async (context) => {
    const { execution } = await openFilled(kind, context, EVENT_PAGE_MAX_EVENTS + 500)
    const filters = fc.record(
      {
        types: fc.constantFrom(['external.rare'], ['external.*'], ['*.started'], NOTHING.types),
        order: fc.constantFrom('ascending' as const, 'descending' as const),
        limit: fc.integer({ min: 1, max: 700 }),
        after: fc.integer({ min: 0, max: EVENT_PAGE_MAX_EVENTS + 600 }),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(filters, async ({ limit = 700, ...filter }) => {
        const { pages, found } = await readAll(execution, { ...filter, limit: Math.max(limit, 50) })
        expect(found).toEqual(await execution.events.query(filter))
        expect(pages.every(({ length }) => length <= Math.max(limit, 50))).toBe(true)
      }),
      { numRuns: 15 },
    )
  })

  test('E-117 where a page has all there is, it has no next, also where it is exactly full', async (context) => {
    const { execution } = await openFilled(kind, context, 9)
    const page = async (filter: EventFilter) => {
      const { events, next } = await execution.events.queryPage(filter)
      return [events.length, next]
    }
    expect(await page({})).toEqual([10, undefined])
    expect(await page({ limit: 10 })).toEqual([10, undefined])
    expect(await page({ limit: 9 })).toEqual([9, 9])
    expect(await page({ limit: 9, order: 'descending' })).toEqual([9, 2])
    expect(await page({ limit: 9, types: ['external.often'] })).toEqual([9, undefined])
    expect(await page({ timeRange: { end: '2000-01-01' } })).toEqual([0, undefined])
  })
})

// These two answer within the call: nothing else gives others their turn.
describe.each(STORE_KINDS.filter(({ kind }) => ['memory', 'sqlite'].includes(kind)))(
  'turns on $kind',
  (kind) => {
    /** How often ranges were read between two turns of the event loop, in order. */
    async function watchTurns(seen: { calls: number }, work: Promise<unknown>): Promise<readonly number[]> {
      const inTurn: number[] = []
      let isOver = false
      const over = work.finally(() => (isOver = true))
      while (!isOver) {
        const before = seen.calls
        await new Promise((resolve) => setImmediate(resolve))
        inTurn.push(seen.calls - before)
      }
      await over
      return inTurn
    }

    // One begins and one goes on in a turn; twice that where the count and the turn change places.
    const MOST = 4

    test('E-118 of many long readings at once few go on in a turn, so that others are answered between', async (context) => {
      const { seen, execution } = await openFilled(kind, context, 3_000)
      const readings = Array.from({ length: 20 }, () => execution.events.queryPage(NOTHING))
      const pages = await watchTurns(seen, Promise.all(readings))
      expect(Math.max(...pages)).toBeLessThanOrEqual(MOST)
      expect(pages.length).toBeGreaterThan(20 * 5)
      const whole = await watchTurns(seen, execution.events.query(NOTHING))
      expect(Math.max(...whole)).toBeLessThanOrEqual(MOST)
      expect(whole.length).toBeGreaterThan(10)
    })

    test('E-118 a short reading does not wait for the long ones that go on', async (context) => {
      const { seen, execution } = await openFilled(kind, context, 3_000)
      let left = 20
      const readings = Array.from({ length: 20 }, async () => {
        await execution.events.queryPage(NOTHING)
        left -= 1
      })
      for (let n = 0; n < 20; n += 1) await new Promise((resolve) => setImmediate(resolve))
      const short = execution.events.queryPage({ limit: 10 })
      expect((await watchTurns(seen, short)).length).toBeLessThan(5)
      expect((await watchTurns(seen, execution.variables.listPage())).length).toBeLessThan(5)
      expect(left).toBeGreaterThan(0)
      await Promise.all(readings)
    })
  },
)

test('E-117 pages begun in the store go on in the archive', async (context) => {
  const world = await openWorld({ open: STORE_KINDS[0]!.open }, context)
  const archive = openSqliteArchive({ file: ':memory:' })
  context.onTestFinished(() => archive.close())
  const { store, clock } = world
  const execution = await start(openCore({ store, archive, clock }))
  await fill(execution, 1_300)
  const begun = await execution.events.queryPage({ limit: 700 })
  await execution.finish({ status: 'completed' })
  const before = await execution.events.query()
  await openMaintenance({ store, archive, clock }).archiveOnce()
  expect((await store.range({ prefix: 'log' })).entries).toEqual([])
  const rest = await readAll(execution, { limit: 301, after: begun.next! })
  expect([...begun.events, ...rest.found]).toEqual(before)
  expect((await readAll(execution, { types: ['external.rare'] })).found).toHaveLength(1)
  expect(await execution.events.queryPage({ limit: 1_302 })).toEqual({ events: before, next: undefined })
})
