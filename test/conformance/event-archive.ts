/**
 * The one suite every `EventArchive` must pass.
 *
 * Goal: what is read from an archive is what was written, and filters mean there what they mean in the store.
 */

import fc from 'fast-check'
import { describe, expect, test, type TestContext } from 'vitest'
import type { EventArchive, EventRow, EventRowQuery } from '../../src/core/events/archive-port.ts'
import { encodeJson } from '../../src/core/json.ts'
import type { Json } from '../../src/base/json.ts'

export interface ArchiveScene {
  readonly archive: EventArchive
  /** Another handle on the same data, as after a restart. */
  readonly reopen: () => Promise<EventArchive>
  /** The source of a row cannot be told by the database, and rows of all are returned. */
  readonly isSealed?: boolean
}

const PLACE = { tenant: '', execution: 'exec_1' }

function row(sequence: number, more: Partial<EventRow> = {}): EventRow {
  return {
    id: `evt_${more.tenant ?? ''}_${more.execution ?? 'exec_1'}_${String(sequence)}`,
    ...PLACE,
    sequence,
    type: 'a.completed',
    sourceType: 'node',
    sourceId: 'a',
    payload: `{"n":${String(sequence)}}`,
    timestamp: `2025-01-01T00:00:0${String(sequence % 10)}.123Z`,
    ...more,
  }
}

/** Spaces and the order of members mean nothing. */
function shown(rows: readonly EventRow[]): readonly unknown[] {
  return rows.map((one) => ({ ...one, payload: JSON.parse(one.payload) as unknown }))
}

const ALL: EventRowQuery = { ...PLACE, order: 'ascending', limit: 1000 }

export const COMBINED_FILTERS: EventRowQuery = {
  ...PLACE,
  types: ['a.completed'],
  sourceType: 'node',
  sourceId: 'a',
  start: '2025-01-01T00:00:05.000Z',
  end: '2025-01-01T00:00:06.000Z',
  after: 4,
  order: 'ascending',
  limit: 1000,
}

/** The row `wanted`, and for each of the combined filters one that only this filter excludes. */
export function excludedRows(payload: string): readonly EventRow[] {
  const timestamp = '2025-01-01T00:00:05.123Z'
  const differing: readonly Partial<EventRow>[] = [
    { id: 'wanted' },
    { execution: 'exec_2' },
    { tenant: 'red' },
    { type: 'b.completed' },
    { sourceType: 'task' },
    { sourceId: 'b' },
    { timestamp: '2025-01-01T00:00:04.123Z' },
    { timestamp: '2025-01-01T00:00:06.123Z' },
    { sequence: 3 },
  ]
  return differing.map((more, at) =>
    row(10 + at, { timestamp, id: `excluded_${String(at)}`, ...more, payload: at === 0 ? '{}' : payload }),
  )
}

export function eventArchiveConformance(
  name: string,
  open: (context: TestContext) => Promise<ArchiveScene>,
): void {
  describe(`event archive: ${name}`, () => {
    test('E-75 what is written is there for every later handle, and in the order of the log', async (context) => {
      const { archive, reopen } = await open(context)
      const rows = [row(2), row(1), row(3)]
      await archive.write(rows)
      const expected = [row(1), row(2), row(3)]
      expect(shown(await archive.read(ALL))).toEqual(shown(expected))
      expect(shown(await archive.read({ ...ALL, order: 'descending' }))).toEqual(
        shown([...expected].reverse()),
      )
      await archive.close()
      const again = await reopen()
      expect(shown(await again.read(ALL))).toEqual(shown(expected))
      expect(await again.count(PLACE)).toBe(3)
    })

    test('E-81 writing again what is there changes nothing, and adds what was missing', async (context) => {
      const { archive } = await open(context)
      await archive.write([row(1), row(2)])
      await archive.write([row(1, { payload: '{"other":true}' }), row(2), row(3)])
      await archive.write([])
      expect(shown(await archive.read(ALL))).toEqual(shown([row(1), row(2), row(3)]))
    })

    test('E-82 removing takes one execution of one tenant', async (context) => {
      const { archive } = await open(context)
      const others = [
        row(1, { execution: 'exec_10' }),
        row(1, { tenant: 'red' }),
        row(1, { execution: 'exec_' }),
      ]
      await archive.write([row(1), row(2), ...others])
      expect(await archive.remove(PLACE)).toBe(2)
      expect(await archive.remove(PLACE)).toBe(0)
      expect(await archive.read(ALL)).toEqual([])
      for (const { tenant, execution } of others) expect(await archive.count({ tenant, execution })).toBe(1)
    })

    test('E-76 filters narrow together in the database, in both directions and in pages', async (context) => {
      const { archive, isSealed = false } = await open(context)
      const rows = Array.from({ length: 40 }, (_, index) =>
        row(index + 1, {
          type: ['a.completed', 'b.completed', 'b.failed'][index % 3]!,
          sourceType: index % 2 === 0 ? 'node' : 'task',
          sourceId: index % 3 === 0 ? 'a' : 'b',
          timestamp: new Date(
            Date.parse('2025-01-01T00:00:00Z') + Math.floor(index / 4) * 1000,
          ).toISOString(),
        }),
      )
      await archive.write([...rows, row(1, { execution: 'exec_2', type: 'c.completed' })])
      expect([...(await archive.listTypes(PLACE))].sort()).toEqual(['a.completed', 'b.completed', 'b.failed'])
      const instant = fc
        .integer({ min: 0, max: 11 })
        .map((s) => new Date(Date.parse('2025-01-01T00:00:00Z') + s * 1000).toISOString())
      const query = fc.record(
        {
          types: fc.subarray(['a.completed', 'b.completed', 'b.failed', 'c.completed']),
          sourceType: fc.constantFrom('node', 'task', 'external'),
          sourceId: fc.constantFrom('a', 'b', 'c'),
          start: instant,
          end: instant,
          after: fc.integer({ min: 0, max: 45 }),
          order: fc.constantFrom('ascending', 'descending'),
          limit: fc.integer({ min: 1, max: 50 }),
        },
        { requiredKeys: ['order', 'limit'] },
      )
      await fc.assert(
        fc.asyncProperty(query, async ({ sourceType, sourceId, ...others }) => {
          const bySource = isSealed ? {} : { sourceType, sourceId }
          const asked: Partial<EventRowQuery> & typeof others = { ...others, ...bySource }
          const ordered = asked.order === 'descending' ? [...rows].reverse() : rows
          const expected = ordered
            .filter(({ type }) => asked.types === undefined || asked.types.includes(type))
            .filter(({ sourceType }) => asked.sourceType === undefined || sourceType === asked.sourceType)
            .filter(({ sourceId }) => asked.sourceId === undefined || sourceId === asked.sourceId)
            .filter(({ timestamp }) => asked.start === undefined || timestamp >= asked.start)
            .filter(({ timestamp }) => asked.end === undefined || timestamp < asked.end)
            .filter(({ sequence }) => {
              if (asked.after === undefined) return true
              return asked.order === 'descending' ? sequence < asked.after : sequence > asked.after
            })
            .slice(0, asked.limit)
          expect(shown(await archive.read({ ...PLACE, ...asked }))).toEqual(shown(expected))
        }),
        { numRuns: 100 },
      )
    })

    test('E-13 E-83 an archived payload reads back as the same value', async (context) => {
      const { archive } = await open(context)
      const special: Json[] = [
        'a\u0000b',
        '\ud800',
        'x\udfffy',
        -0,
        [-0],
        1e300,
        5e-324,
        -1.5e-7,
        2 ** 53,
        '\\u0000',
        '-0',
        '\ufffd',
        '',
      ]
      let sequence = 0
      const values = fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }), fc.constantFrom(...special))
      await fc.assert(
        fc.asyncProperty(values, async (value) => {
          sequence += 1
          const payload = encodeJson({ value }, { what: 'payload', bytesMax: Infinity })
          await archive.write([row(sequence, { payload })])
          const [found] = await archive.read({ ...ALL, after: sequence - 1 })
          expect(JSON.parse(found!.payload)).toEqual(JSON.parse(payload))
          if (typeof value === 'number') {
            expect(Object.is((JSON.parse(found!.payload) as { value: number }).value, value)).toBe(true)
          }
        }),
        { numRuns: 150, examples: special.map((value): [Json] => [value]) },
      )
    })

    test('E-77 the ordered history of one execution is read whole, page by page', async (context) => {
      const { archive } = await open(context)
      await archive.write(Array.from({ length: 500 }, (_, index) => row(index + 1)))
      await archive.write(Array.from({ length: 500 }, (_, index) => row(index + 501)))
      const history: number[] = []
      for (let after = 0; ;) {
        const page = await archive.read({ ...ALL, after, limit: 300 })
        history.push(...page.map(({ sequence }) => sequence))
        if (page.length < 300) break
        after = page.at(-1)!.sequence
      }
      expect(history).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1))
    })
  })
}
