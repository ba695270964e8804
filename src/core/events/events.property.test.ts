// Goal: whatever the store does to single batches, a log loses no event it confirmed, repeats none, and leaves no gap.
// Method: two writers over one store whose answers get lost by plan; a list of what was confirmed is the model.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { StillClock, externalEvent } from '../../../test/support/core-world.ts'
import { openLossyStore, STORE_FAULTS, type StoreFault } from '../../../test/support/lossy-store.ts'
import { createMemorySpace, openMemoryStore } from '../../stores/memory/memory-store.ts'
import { seededRandom } from '../../base/random.ts'
import { openCore } from '../life-cycle/core.ts'
import { checkFilter, isListed, type EventFilter } from './event-filter.ts'
import { compileTypePattern } from './type-pattern.ts'
import type { JsonObject } from '../../base/json.ts'

const faults = fc.array(fc.constantFrom<StoreFault>(...STORE_FAULTS), { maxLength: 30 })
const settings = { numRuns: 60 }

interface Outcome {
  readonly n: number
  readonly told: 'confirmed' | 'refused' | 'uncertain'
  readonly id?: string
}

test('E-87 E-37 when a store loses answers, confirmed events are stored once and refused ones never', async () => {
  await fc.assert(
    fc.asyncProperty(
      faults,
      faults,
      fc.array(fc.tuple(fc.constantFrom(0, 1), fc.boolean()), { minLength: 1, maxLength: 25 }),
      async (first, second, steps) => {
        const space = createMemorySpace()
        const clock = new StillClock()
        const plain = openCore({ store: openMemoryStore({ space }), clock })
        const { id } = await plain.startExecution({ name: 'etl' })
        const handles = await Promise.all(
          [first, second].map((plan) =>
            openCore({
              store: openLossyStore(openMemoryStore({ space }), plan[Symbol.iterator]()),
              clock,
              random: seededRandom(plan.length),
            }).openExecution(id),
          ),
        )
        const publish = async (n: number, writer: number): Promise<Outcome> => {
          try {
            const found = await handles[writer]!.events.publish(externalEvent('external.n', { n }))
            return { n, told: 'confirmed', id: found }
          } catch (error) {
            const { kind } = error as { kind: string }
            return { n, told: kind === 'uncertain' ? 'uncertain' : 'refused' }
          }
        }
        const outcomes: Outcome[] = []
        const together: Promise<Outcome>[] = []
        for (const [n, [writer, waits]] of steps.entries()) {
          together.push(publish(n, writer))
          if (waits) outcomes.push(...(await Promise.all(together.splice(0))))
        }
        outcomes.push(...(await Promise.all(together)))

        const events = (await (await plain.openExecution(id)).events.query()).slice(1)
        expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 2))
        const stored = events.map(({ payload }) => payload.n)
        expect(new Set(stored).size).toBe(stored.length)
        for (const { n, told, id: given } of outcomes) {
          const found = events.filter(({ payload }) => payload.n === n)
          if (told === 'confirmed') expect(found.map((event) => event.id)).toEqual([given])
          if (told === 'refused') expect(found).toEqual([])
        }
        const latest = await plain.events.getEvent(id, 'external.n')
        expect(latest).toEqual(events.at(-1) ?? null)
      },
    ),
    settings,
  )
})

test('E-35 E-38 one idempotency key gives one event and one id, whatever gets lost', async () => {
  await fc.assert(
    fc.asyncProperty(
      faults,
      fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 12 }),
      async (plan, keys) => {
        const space = createMemorySpace()
        const clock = new StillClock()
        const plain = openCore({ store: openMemoryStore({ space }), clock })
        const { id } = await plain.startExecution({ name: 'etl' })
        const store = openLossyStore(openMemoryStore({ space }), plan[Symbol.iterator]())
        const sender = await openCore({ store, clock }).openExecution(id)
        const confirmed = new Map<string, string>()
        for (const idempotencyKey of keys) {
          try {
            const found = await sender.events.publish(externalEvent('external.a', { key: idempotencyKey }), {
              idempotencyKey,
            })
            expect(confirmed.get(idempotencyKey) ?? found).toBe(found)
            confirmed.set(idempotencyKey, found)
          } catch (error) {
            expect(['uncertain', 'unavailable']).toContain((error as { kind: string }).kind)
          }
        }
        const events = await plain.events.queryEvents(id, { types: ['external.a'] })
        const stored = new Map(events.map((event) => [event.payload.key, event.id]))
        expect(stored.size).toBe(events.length)
        for (const [key, found] of confirmed) expect(stored.get(key)).toBe(found)
      },
    ),
    settings,
  )
})

test('E-40 starting and ending are one write each: after any loss the record, the first and the last event agree', async () => {
  await fc.assert(
    fc.asyncProperty(faults, async (plan) => {
      const space = createMemorySpace()
      const clock = new StillClock()
      const plain = openCore({ store: openMemoryStore({ space }), clock })
      const lossy = openCore({
        store: openLossyStore(openMemoryStore({ space }), plan[Symbol.iterator]()),
        clock,
      })
      const attempt = async (act: () => Promise<unknown>): Promise<string> => {
        try {
          await act()
          return 'confirmed'
        } catch (error) {
          return (error as { kind: string }).kind
        }
      }
      const started = await attempt(() =>
        lossy.startExecution({ name: 'etl', id: 'exec_1', inputs: { day: 1 } }),
      )
      const found = await plain.openExecution('exec_1').catch(() => undefined)
      if (started === 'confirmed') expect(found).toBeDefined()
      if (started === 'unavailable') expect(found).toBeUndefined()
      if (found === undefined) return
      expect(await found.events.has('pipeline.started')).toBe(true)
      expect(await found.variables.get('pipeline.input.day')).toBe(1)
      const ended = await attempt(async () => {
        await (await lossy.openExecution('exec_1')).finish({ status: 'completed', outputs: { rows: 2 } })
      })
      const { status } = await found.readState()
      const hasEnded = status === 'completed'
      if (ended === 'confirmed') expect(hasEnded).toBe(true)
      if (ended === 'unavailable') expect(hasEnded).toBe(false)
      expect(await found.events.has('pipeline.completed')).toBe(hasEnded)
      expect(await found.variables.exists('pipeline.output.rows')).toBe(hasEnded)
    }),
    settings,
  )
})

/** By trying every way of giving segments to the pattern. */
function matchesNaively(parts: readonly string[], segments: readonly string[]): boolean {
  const [part, ...rest] = parts
  if (part === undefined) return segments.length === 0
  if (part === '**') {
    return Array.from({ length: segments.length + 1 }, (_, taken) => taken).some((taken) =>
      matchesNaively(rest, segments.slice(taken)),
    )
  }
  return (
    segments.length > 0 && (part === '*' || part === segments[0]) && matchesNaively(rest, segments.slice(1))
  )
}

const word = fc.constantFrom('a', 'b', 'completed')
const typeName = fc.array(word, { minLength: 2, maxLength: 6 }).map((segments) => segments.join('.'))
const pattern = fc
  .array(fc.oneof(word, fc.constantFrom('*', '**')), { minLength: 1, maxLength: 6 })
  .map((parts) => parts.join('.'))

test('E-49 a pattern means what trying every way of reading it means', () => {
  fc.assert(
    fc.property(pattern, typeName, (text, type) => {
      expect(compileTypePattern(text)(type)).toBe(matchesNaively(text.split('.'), type.split('.')))
    }),
    { numRuns: 2000 },
  )
  // Tried one way after the other this would not end.
  const worst = compileTypePattern(Array.from({ length: 16 }, () => '**').join('.'))
  expect(worst(Array.from({ length: 16 }, () => 'a').join('.'))).toBe(true)
})

const filter: fc.Arbitrary<EventFilter> = fc.record(
  {
    types: fc.array(pattern, { maxLength: 3 }),
    source: fc.record(
      {
        entityType: fc.constantFrom('node', 'external', 'pipeline'),
        entityId: fc.constantFrom('a', 'b', 'outside'),
      },
      { requiredKeys: [] },
    ),
    timeRange: fc.record(
      {
        start: fc.integer({ min: 0, max: 20 }).map(instant),
        end: fc.integer({ min: 0, max: 20 }).map(instant),
      },
      { requiredKeys: [] },
    ),
    order: fc.constantFrom('ascending', 'descending'),
    after: fc.integer({ min: 0, max: 30 }),
    limit: fc.integer({ min: 1, max: 30 }),
  },
  { requiredKeys: [] },
)

function instant(seconds: number): string {
  return new Date(Date.parse('2025-01-01T00:00:00Z') + seconds * 1000).toISOString()
}

test('E-52 E-53 a query gives the same list as filtering the whole log by hand', async () => {
  const clock = new StillClock()
  const core = openCore({ store: openMemoryStore(), clock })
  const execution = await core.startExecution({ name: 'etl' })
  const random = seededRandom(3)
  for (let n = 0; n < 25; n += 1) {
    if (random.next() < 0.5) clock.move(1000)
    const verb = ['started', 'completed', 'failed'][Math.floor(random.next() * 3)]!
    const node = random.next() < 0.5 ? 'a' : 'b'
    const event =
      random.next() < 0.7
        ? { type: `${node}.${verb}`, source: { entityType: 'node' as const, entityId: node } }
        : externalEvent(`external.${node}.${verb}`)
    await execution.events.publish(event)
  }
  const all = await execution.events.query()
  await fc.assert(
    fc.asyncProperty(filter, async (asked) => {
      const checked = checkFilter(asked)
      const ordered = asked.order === 'descending' ? [...all].reverse() : all
      const expected = ordered
        .filter(
          ({ sequence }) =>
            asked.after === undefined ||
            (asked.order === 'descending' ? sequence < asked.after : sequence > asked.after),
        )
        .filter((event) => isListed(event, checked))
        .slice(0, asked.limit)
      expect(await execution.events.query(asked)).toEqual(expected)
    }),
    { numRuns: 400 },
  )
})

function byName(object: JsonObject): readonly unknown[] {
  return Object.entries(object).sort(([one], [other]) => (one < other ? -1 : 1))
}

test('E-13 a payload reads back deeply equal, -0, lone surrogates and the key __proto__ among it', async () => {
  const core = openCore({ store: openMemoryStore() })
  const execution = await core.startExecution({ name: 'etl' })
  const json = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ noUnicodeString: false }), {
    maxKeys: 5,
  })
  await fc.assert(
    fc.asyncProperty(json, async (value) => {
      const payload = { ...value, zero: -0, half: '\ud800', ['__proto__']: { polluted: true } } as JsonObject
      await execution.events.publish(externalEvent('external.a', payload))
      const found = (await execution.events.get('external.a'))!.payload
      expect(byName(found)).toEqual(byName(payload))
      expect(Object.is(found.zero, -0)).toBe(true)
      expect(Object.hasOwn(found, '__proto__')).toBe(true)
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    }),
    { numRuns: 200 },
  )
})
