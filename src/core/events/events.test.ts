// Goal: the record of an execution is whole, in order and unchangeable, and answers about this execution only.
import { describe, expect, test, vi, type TestContext } from 'vitest'
import { externalEvent, id, nodeEvent, openWorld, start } from '../../../test/support/core-world.ts'
import { isTest, listFiles, readImports } from '../../../test/support/source-tree.ts'
import { STORE_KINDS } from '../../../test/support/stores.ts'
import type { Logger } from '../../base/logger.ts'
import { silentLogger } from '../../base/logger.ts'
import type { Execution } from '../life-cycle/execution.ts'
import type { JsonObject } from '../../base/json.ts'
import type { EventFilter } from './event-filter.ts'
import type { NewEvent } from './event.ts'

async function listed(execution: Execution, filter?: EventFilter): Promise<readonly string[]> {
  return (await execution.events.query(filter)).map(({ type }) => type)
}

function publishMany(execution: Execution, count: number): Promise<readonly string[]> {
  return Promise.all(
    Array.from({ length: count }, () => execution.events.publish(externalEvent('external.b'))),
  )
}

describe.each(STORE_KINDS)('events on $kind', ({ open }) => {
  test('E-01 E-37 the log alone gives the history in order, and holds each event once publishing has returned', async (context) => {
    const { core, openOther } = await openWorld({ open }, context)
    const execution = await start(core)
    const published: string[] = ['pipeline.started']
    for (const type of [
      'a.started',
      'a.task.started',
      'a.task.completed',
      'a.completed',
      'b.started',
      'b.failed',
    ]) {
      await execution.events.publish(nodeEvent(type))
      published.push(type)
      expect(await execution.events.has(type)).toBe(true)
    }
    await execution.finish({ status: 'failed', error: new Error('b failed') })
    published.push('pipeline.failed')
    const elsewhere = await (await openOther()).openExecution(execution.id)
    const events = await elsewhere.events.query()
    expect(events.map(({ type }) => type)).toEqual(published)
    expect(events.map(({ sequence }) => sequence)).toEqual(published.map((_, index) => index + 1))
  })

  test('E-08 E-35 the manager alone gives out ids, and no two events share one', async (context) => {
    const { core } = await openWorld({ open }, context)
    const execution = await start(core)
    const own = {
      ...externalEvent('external.a'),
      id: 'evt_mine',
      sequence: 99,
      timestamp: '1999-01-01T00:00:00Z',
    }
    const first = await execution.events.publish(own)
    expect(await execution.events.get('external.a')).toMatchObject({ id: first, sequence: 2 })
    expect(first).toMatch(/^evt_[A-Za-z0-9_-]{22}$/)
    const others = await publishMany(execution, 500)
    expect(new Set([first, ...others]).size).toBe(501)
  })

  test('E-33 E-38 publishing stores the event and returns the id under which it is stored', async (context) => {
    const { core } = await openWorld({ open }, context)
    const execution = await start(core)
    const ids = await publishMany(execution, 500)
    expect((await execution.events.query({ types: ['external.b'] })).map((event) => event.id)).toEqual(ids)
  })

  test('E-39 E-12 the first event of exec_12345 names its pipeline and version, with exactly these fields', async (context) => {
    const { core } = await openWorld({ open }, context)
    const execution = await core.startExecution({ id: 'exec_12345', name: 'etl_pipeline', version: '1.0.0' })
    expect(await execution.events.get('pipeline.started')).toEqual({
      id: expect.any(String) as string,
      executionId: 'exec_12345',
      sequence: 1,
      type: 'pipeline.started',
      source: { entityType: 'pipeline', entityId: 'etl_pipeline' },
      payload: { version: '1.0.0' },
      timestamp: '2025-01-01T00:00:00.000Z',
    })
  })

  test('E-09 E-45 a stored event carries its execution, type, time, source and payload', async (context) => {
    const { core, clock } = await openWorld({ open }, context)
    const execution = await start(core, 'exec_12345')
    clock.move(1500)
    await execution.events.publish(
      nodeEvent('extract_data.completed', { row_count: 1_000_000, duration: 120 }),
    )
    expect(await execution.events.get('extract_data.completed')).toEqual({
      id: expect.any(String) as string,
      executionId: 'exec_12345',
      sequence: 2,
      type: 'extract_data.completed',
      source: { entityType: 'node', entityId: 'extract_data' },
      payload: { row_count: 1_000_000, duration: 120 },
      timestamp: '2025-01-01T00:00:01.500Z',
    })
  })

  test('E-30 the log of an execution holds no event of another', async (context) => {
    const { core } = await openWorld({ open }, context)
    const [execution, other] = [await start(core), await start(core)]
    await execution.events.publish(nodeEvent('extract_data.completed'))
    expect(await listed(execution)).toEqual(['pipeline.started', 'extract_data.completed'])
    expect(await listed(other)).toEqual(['pipeline.started'])
  })

  async function expectRefused(context: TestContext, event: object, code: string): Promise<void> {
    const { core } = await openWorld({ open }, context)
    const execution = await start(core)
    await expect(execution.events.publish(event as NewEvent)).rejects.toMatchObject({ code, kind: 'invalid' })
    expect(await listed(execution)).toEqual(['pipeline.started'])
  }

  test.for<[string, object, string]>([
    ['an empty type', externalEvent(''), 'core/bad-event-type'],
    ['one segment', externalEvent('external'), 'core/bad-event-type'],
    ['an empty segment', externalEvent('external..a'), 'core/bad-event-type'],
    ['white space', externalEvent('external.a b'), 'core/bad-event-type'],
    ['a separator of keys', externalEvent('external.a:b'), 'core/bad-event-type'],
    ['a wildcard', externalEvent('external.*'), 'core/bad-event-type'],
    ['17 segments', externalEvent(`external${'.a'.repeat(16)}`), 'core/bad-event-type'],
    ['an unknown verb', nodeEvent('extract.complete'), 'core/bad-event-type'],
    ['an unknown verb of a task', nodeEvent('extract.task.retrying'), 'core/bad-event-type'],
    ['a reserved node', nodeEvent('system.started'), 'core/reserved-name'],
    ['no type', { source: { entityType: 'node', entityId: 'a' } }, 'core/bad-event-type'],
  ])('E-10 an event type is refused that has %s', ([, event, code], context) =>
    expectRefused(context, event, code),
  )

  test.for<[string, object | undefined]>([
    ['no source', undefined],
    ['an unknown entity type', { entityType: 'plan', entityId: 'a' }],
    ['an empty entity id', { entityType: 'node', entityId: '' }],
    ['the id of another node', { entityType: 'node', entityId: 'b' }],
    ['an external source for an inner event', { entityType: 'external', entityId: 'x' }],
  ])('E-11 an event is refused that has %s', ([, source], context) =>
    expectRefused(context, { type: 'a.started', source }, 'core/bad-event'),
  )

  test.for<[string, unknown, string]>([
    ['an array', [1], 'core/bad-event'],
    ['a string', 'x', 'core/bad-event'],
    ['null', null, 'core/bad-event'],
    ['an object with a date', { at: new Date(0) }, 'core/not-json'],
    ['too large', { text: 'x'.repeat(262_144) }, 'core/too-large'],
  ])('E-13 a payload is refused that is %s', ([, payload, code], context) =>
    expectRefused(context, externalEvent('external.a', payload as JsonObject), code),
  )

  test('E-11 E-28 each entity type is accepted, and external names of one segment or more', async (context) => {
    const { core } = await openWorld({ open }, context)
    const execution = await start(core)
    const events: readonly NewEvent[] = [
      externalEvent('external.data_ready'),
      externalEvent('external.approval.approved', { approver: 'ann', decision: 'yes' }),
      externalEvent('external.a.b.c.d'),
      nodeEvent('a.retrying'),
      nodeEvent('a.skipped'),
      nodeEvent('a.cancelled'),
      { type: 'a.task.running', source: { entityType: 'task', entityId: 'task-17' } },
      { type: 'pipeline.paused', source: { entityType: 'pipeline', entityId: 'etl_pipeline' } },
      { type: 'pipeline.resumed', source: { entityType: 'pipeline', entityId: 'etl_pipeline' } },
    ]
    for (const event of events) {
      await execution.events.publish(event)
      expect(await execution.events.get(event.type)).toMatchObject({ type: event.type, source: event.source })
    }
  })

  test('E-14 E-36 the manager sets the time in UTC, and it never goes backwards along a log', async (context) => {
    const { core, clock } = await openWorld({ open }, context)
    const execution = await start(core)
    clock.move(5000)
    await execution.events.publish(externalEvent('external.a'))
    clock.move(-60_000)
    await execution.events.publish(externalEvent('external.b'))
    clock.move(120_000)
    await execution.events.publish(externalEvent('external.c'))
    expect((await execution.events.query()).map(({ timestamp }) => timestamp)).toEqual([
      '2025-01-01T00:00:00.000Z',
      '2025-01-01T00:00:05.000Z',
      '2025-01-01T00:00:05.000Z',
      '2025-01-01T00:01:05.000Z',
    ])
  })

  test('E-16 pipeline.started is the first event of an execution and cannot be published again', async (context) => {
    const { core } = await openWorld({ open }, context)
    const execution = await start(core)
    await execution.events.publish(nodeEvent('a.started'))
    const again = { type: 'pipeline.started', source: { entityType: 'pipeline', entityId: 'p' } } as const
    await expect(execution.events.publish(again)).rejects.toMatchObject({ code: 'core/started-twice' })
    expect(await listed(execution)).toEqual(['pipeline.started', 'a.started'])
  })

  const ENDS = [
    [
      'E-17 pipeline.completed is the last event and the only end',
      { status: 'completed', outputs: { rows: 7 } },
    ],
    ['E-18 pipeline.failed is the last event and the only end', { status: 'failed', error: new Error('no') }],
    [
      'E-19 pipeline.cancelled is the last event and the only end',
      { status: 'cancelled', reason: 'asked for' },
    ],
  ] as const

  test.for(ENDS)('%s', async ([, end], context) => {
    const { core } = await openWorld({ open }, context)
    const execution = await start(core)
    await execution.events.publish(nodeEvent('a.started'))
    await execution.finish(end)
    const last = `pipeline.${end.status}`
    for (const [, other] of ENDS) {
      await expect(execution.finish(other)).rejects.toMatchObject({
        code: 'core/not-active',
        kind: 'refused',
      })
    }
    await expect(execution.events.publish(externalEvent('external.late'))).rejects.toMatchObject({
      code: 'core/not-active',
    })
    expect(await listed(execution)).toEqual(['pipeline.started', 'a.started', last])
    expect((await execution.readState()).status).toBe(end.status)
  })

  test('E-17 of an end and events that are published at once, the end is last and the rest is refused', async (context) => {
    const { core, openOther } = await openWorld({ open }, context)
    const execution = await start(core)
    const other = await (await openOther()).openExecution(execution.id)
    const before = Array.from({ length: 40 }, (_, index) =>
      (index % 2 === 0 ? execution : other).events.publish(externalEvent('external.a')),
    )
    const ending = other.finish({ status: 'completed' })
    const after = Array.from({ length: 40 }, () => execution.events.publish(externalEvent('external.b')))
    const outcomes = await Promise.allSettled([...before, ...after])
    await ending
    const events = await execution.events.query()
    expect(events.at(-1)?.type).toBe('pipeline.completed')
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(events.length - 2)
  })

  test('E-34 E-40 no event is stored for an unknown, malformed or cleared execution', async (context) => {
    const { core, store } = await openWorld({ open }, context)
    const publish = (execution: string): Promise<string> =>
      core.events.publishEvent(id(execution), externalEvent('external.a'))
    await expect(publish('unknown')).rejects.toMatchObject({
      code: 'core/no-such-execution',
      kind: 'missing',
    })
    await expect(
      core.events.publishEvent('a:b' as ReturnType<typeof id>, externalEvent('external.a')),
    ).rejects.toMatchObject({ code: 'core/bad-id' })
    expect((await store.range({ prefix: '' })).entries).toEqual([])
    const execution = await start(core, 'exec_1')
    await execution.finish({ status: 'completed' })
    await core.events.clearEvents(execution.id)
    await expect(publish('exec_1')).rejects.toMatchObject({ code: 'core/not-active', kind: 'refused' })
    expect((await store.range({ prefix: 'log:' })).entries).toEqual([])
  })

  test('E-41 E-42 has is false before the first event of a type and true after it, however many follow', async (context) => {
    const { core } = await openWorld({ open }, context)
    const execution = await start(core)
    expect(await execution.events.has('a.retrying')).toBe(false)
    for (const attempt of [1, 2, 3]) {
      await execution.events.publish(nodeEvent('a.retrying', { attempt }))
      expect(await execution.events.has('a.retrying')).toBe(true)
    }
  })

  test('E-43 has and get compare whole type names', async (context) => {
    const { core } = await openWorld({ open }, context)
    const execution = await start(core)
    await execution.events.publish(nodeEvent('extract_data.completed'))
    for (const near of [
      'extract_data.complete',
      'extract_data.completed2',
      'xtract_data.completed',
      'data.completed',
    ]) {
      expect(await execution.events.has(near), near).toBe(false)
      expect(await execution.events.get(near), near).toBeNull()
    }
  })

  test('E-44 E-46 get answers null before the first event of a type, and then the latest one', async (context) => {
    const { core } = await openWorld({ open }, context)
    const execution = await start(core)
    expect(await execution.events.get('a.retrying')).toBeNull()
    for (const attempt of [1, 2, 3]) {
      await execution.events.publish(nodeEvent('a.retrying', { attempt }))
      expect((await execution.events.get('a.retrying'))?.payload).toEqual({ attempt })
    }
    const all = await execution.events.query({ types: ['a.retrying'] })
    expect(all.map(({ payload }) => payload.attempt)).toEqual([1, 2, 3])
  })

  /** Six events, a second apart, the first at midnight. */
  async function startFiltered(context: TestContext): Promise<Execution> {
    const { core, clock } = await openWorld({ open }, context)
    const execution = await start(core)
    for (const type of ['x.completed', 'y.completed', 'x.task.completed', 'z.failed']) {
      clock.move(1000)
      await execution.events.publish(nodeEvent(type))
    }
    clock.move(1000)
    await execution.events.publish(externalEvent('external.x.completed'))
    return execution
  }

  test('E-47 without a filter a query lists the whole log of the execution', async (context) => {
    const execution = await startFiltered(context)
    const all = [
      'pipeline.started',
      'x.completed',
      'y.completed',
      'x.task.completed',
      'z.failed',
      'external.x.completed',
    ]
    expect(await listed(execution)).toEqual(all)
    expect(await listed(execution, {})).toEqual(all)
  })

  test('E-48 a query lists the events of the types that it names', async (context) => {
    const execution = await startFiltered(context)
    const types = ['z.failed', 'x.completed']
    expect(await listed(execution, { types })).toEqual(['x.completed', 'z.failed'])
    expect(await listed(execution, { types: [] })).toEqual([])
  })

  test('E-49 in a type filter "*" is exactly one segment and "**" any number of segments', async (context) => {
    const execution = await startFiltered(context)
    expect(await listed(execution, { types: ['*.completed'] })).toEqual(['x.completed', 'y.completed'])
    expect(await listed(execution, { types: ['**.completed'] })).toEqual([
      'x.completed',
      'y.completed',
      'x.task.completed',
      'external.x.completed',
    ])
    expect(await listed(execution, { types: ['x.**'] })).toEqual(['x.completed', 'x.task.completed'])
  })

  test('E-50 a query filters by the entity type of the source, by its id, or by both', async (context) => {
    const execution = await startFiltered(context)
    const bySource = (source: EventFilter['source']): Promise<readonly string[]> =>
      listed(execution, source === undefined ? {} : { source })
    expect(await bySource({ entityType: 'node' })).toEqual(['x.completed', 'y.completed', 'z.failed'])
    expect(await bySource({ entityId: 'x' })).toEqual(['x.completed', 'x.task.completed'])
    expect(await bySource({ entityType: 'node', entityId: 'x' })).toEqual(['x.completed'])
  })

  const RANGE = { start: '2025-01-01T00:00:02Z', end: '2025-01-01T01:00:04+01:00' }

  test('E-51 a time range includes its start and excludes its end', async (context) => {
    const execution = await startFiltered(context)
    expect(await listed(execution, { timeRange: RANGE })).toEqual(['y.completed', 'x.task.completed'])
    expect(await listed(execution, { timeRange: { start: RANGE.start, end: RANGE.start } })).toEqual([])
  })

  test('E-52 an event is listed only if every filter of the query accepts it', async (context) => {
    const execution = await startFiltered(context)
    const filter = { timeRange: RANGE, types: ['**.completed'] }
    expect(await listed(execution, filter)).toEqual(['y.completed', 'x.task.completed'])
    expect(await listed(execution, { ...filter, source: { entityType: 'task' } })).toEqual([
      'x.task.completed',
    ])
  })

  test.for<[string, object]>([
    ['limit', { limit: 0 }],
    ['limit', { limit: 1.5 }],
    ['bytesMax', { bytesMax: 0 }],
    ['order', { order: 'up' }],
    ['after', { after: -1 }],
    ['source', { source: { entityType: 'plan' } }],
    ["time range's start", { timeRange: { start: 'yesterday' } }],
    ['pattern', { types: ['a.***'] }],
    ['pattern', { types: ['a..b'] }],
  ])('E-52 a filter with a wrong %s is refused by name: %j', async ([what, filter], context) => {
    const { core } = await openWorld({ open }, context)
    const execution = await start(core)
    await expect(execution.events.query(filter)).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining(what) as string,
    })
  })

  test('DO-60 a query with bytesMax ends with the event that reaches it, and has at least one', async (context) => {
    const { core } = await openWorld({ open }, context)
    const execution = await start(core)
    for (let n = 2; n <= 20; n++) {
      await execution.events.publish(externalEvent('external.a.b', { text: 'x'.repeat(10_000) }))
    }
    const listed = async (filter: EventFilter): Promise<readonly number[]> =>
      (await execution.events.query(filter)).map(({ sequence }) => sequence)
    expect(await listed({ after: 1, bytesMax: 25_000 })).toEqual([2, 3, 4])
    expect(await listed({ after: 4, bytesMax: 1 })).toEqual([5])
    expect(await listed({ after: 1, bytesMax: 25_000, limit: 2 })).toEqual([2, 3])
    expect(await listed({ order: 'descending', bytesMax: 25_000 })).toEqual([20, 19, 18])
    // What the filter leaves out does not count.
    expect(await listed({ types: ['pipeline.*'], bytesMax: 25_000 })).toEqual([1])
    const page = async (filter: EventFilter): Promise<readonly (number | undefined)[]> => {
      const { events, next } = await execution.events.queryPage(filter)
      return [...events.map(({ sequence }) => sequence), next]
    }
    expect(await page({ after: 1, bytesMax: 25_000 })).toEqual([2, 3, 4, 4])
    expect(await page({ after: 4, bytesMax: 1 })).toEqual([5, 5])
    expect(await page({ after: 17, bytesMax: 25_000 })).toEqual([18, 19, 20, undefined])
    expect(await page({ order: 'descending', bytesMax: 25_000 })).toEqual([20, 19, 18, 18])
    expect(await page({ types: ['pipeline.*'], bytesMax: 25_000 })).toEqual([1, undefined])
  })

  test('E-53 events of one moment come in the order of publishing, in pages and from behind too', async (context) => {
    const { core } = await openWorld({ open }, context)
    const execution = await start(core)
    await Promise.all(
      Array.from({ length: 1000 }, (_, n) =>
        execution.events.publish(externalEvent(`external.n${String(n % 7)}`, { n })),
      ),
    )
    const numbersOf = async (filter: EventFilter): Promise<readonly unknown[]> =>
      (await execution.events.query(filter)).map(({ payload }) => payload.n)
    const expected = Array.from({ length: 1000 }, (_, n) => n)
    const types = ['external.*']
    expect(await numbersOf({ types })).toEqual(expected)
    expect(await numbersOf({ types, order: 'descending' })).toEqual([...expected].reverse())
    const paged: unknown[] = []
    for (let after: number | undefined; ;) {
      const page = await execution.events.query({
        types,
        limit: 300,
        ...(after === undefined ? {} : { after }),
      })
      paged.push(...page.map(({ payload }) => payload.n))
      if (page.length < 300) break
      after = page.at(-1)?.sequence
    }
    expect(paged).toEqual(expected)
    expect(await numbersOf({ order: 'descending', limit: 2 })).toEqual([999, 998])
    expect(await numbersOf({ order: 'descending', after: 3 })).toEqual([0, undefined])
  })

  test('E-54 E-56 clearing empties one log, frees its space and leaves every other execution untouched', async (context) => {
    const { core, store } = await openWorld({ open }, context)
    const [execution, neighbour] = [await start(core, 'exec_1'), await start(core, 'exec_2')]
    for (const one of [execution, neighbour]) {
      for (let n = 0; n < 120; n += 1) {
        await one.events.publish(externalEvent('external.a', { n }), { idempotencyKey: `n${String(n)}` })
      }
    }
    await expect(core.events.clearEvents(execution.id)).rejects.toMatchObject({ code: 'core/still-running' })
    expect(await execution.events.query()).toHaveLength(121)
    await execution.finish({ status: 'completed' })
    expect(await core.events.clearEvents(execution.id)).toBe(122)
    expect(await execution.events.query()).toEqual([])
    expect(await execution.events.has('external.a')).toBe(false)
    for (const prefix of ['log:exec_1:', 'events:exec_1:', 'idempotency:exec_1:']) {
      expect((await store.range({ prefix })).entries).toEqual([])
    }
    expect(await core.events.clearEvents(execution.id)).toBe(0)
    expect(await neighbour.events.query()).toHaveLength(121)
  })

  test('E-54 an operator may force it: a running execution loses its log, and goes on behind it', async (context) => {
    const { core, openOther } = await openWorld({ open }, context)
    const execution = await start(core)
    for (let n = 0; n < 120; n += 1) await execution.events.publish(externalEvent(`external.n${String(n)}`))
    const operator = await openOther()
    expect(await operator.events.clearEvents(execution.id, { force: true })).toBe(121)
    expect(await execution.events.query()).toEqual([])
    expect(await execution.events.has('external.n5')).toBe(false)
    await execution.events.publish(externalEvent('external.next'))
    expect(await execution.events.query()).toMatchObject([{ type: 'external.next', sequence: 122 }])
  })

  test('E-84 E-86 a stored event is frozen in depth, and later changes to the published object do not reach it', async (context) => {
    const { core } = await openWorld({ open }, context)
    const execution = await start(core)
    const payload = { list: [1, { deep: true }] }
    await execution.events.publish(externalEvent('external.a', payload))
    payload.list.push(2)
    const event = (await execution.events.get('external.a'))!
    expect(event.payload).toEqual({ list: [1, { deep: true }] })
    const change = (
      act: (writable: { type: string; payload: { list: unknown[] } }) => void,
    ): (() => void) => {
      return () => act(event as unknown as { type: string; payload: { list: unknown[] } })
    }
    expect(change((writable) => (writable.type = 'external.b'))).toThrow(TypeError)
    expect(change(({ payload: { list } }) => list.push(3))).toThrow(TypeError)
    expect(change(({ payload: { list } }) => ((list[1] as { deep: boolean }).deep = false))).toThrow(
      TypeError,
    )
    expect((await execution.events.query({ types: ['external.a'] }))[0]).toEqual(event)
  })

  test('E-87 a hundred publishers at once on one execution, in two instances, lose nothing and see one order', async (context) => {
    const { core, openOther } = await openWorld({ open }, context)
    const execution = await start(core)
    const other = await (await openOther()).openExecution(execution.id)
    const publishers = Array.from({ length: 100 }, async (_, publisher) => {
      const { events } = publisher % 2 === 0 ? execution : other
      for (let n = 0; n < 5; n += 1) await events.publish(externalEvent('external.n', { publisher, n }))
    })
    await Promise.all(publishers)
    const [mine, theirs] = [await execution.events.query(), await other.events.query()]
    expect(mine).toEqual(theirs)
    expect(mine.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 501 }, (_, index) => index + 1))
    const seen = new Map<unknown, unknown[]>()
    for (const { payload } of mine.slice(1))
      seen.set(payload.publisher, [...(seen.get(payload.publisher) ?? []), payload.n])
    expect([...seen.values()]).toEqual(Array.from({ length: 100 }, () => [0, 1, 2, 3, 4]))
    expect(await execution.events.get('external.n')).toEqual(mine.at(-1))
  })

  test('E-37 publishing again under one idempotency key records nothing and answers the first id', async (context) => {
    const { core, openOther } = await openWorld({ open }, context)
    const execution = await start(core)
    const other = await (await openOther()).openExecution(execution.id)
    const options = { idempotencyKey: 'order 17 / any text: ü' }
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? execution : other).events.publish(externalEvent('external.a', { n: 1 }), options),
      ),
    )
    expect(new Set(ids).size).toBe(1)
    expect(await listed(execution)).toEqual(['pipeline.started', 'external.a'])
    await expect(
      execution.events.publish(externalEvent('external.a', { n: 2 }), options),
    ).rejects.toMatchObject({
      code: 'core/idempotency-conflict',
      kind: 'refused',
    })
    await expect(
      execution.events.publish(externalEvent('external.a'), { idempotencyKey: '' }),
    ).rejects.toMatchObject({
      code: 'core/bad-idempotency-key',
    })
  })

  test('E-90 E-91 a payload above 1024 bytes of UTF-8 is warned about, or refused in strict mode', async (context) => {
    const lines: [string, unknown][] = []
    const logger: Logger = {
      ...silentLogger,
      warn: (message, fields) => lines.push([message, fields?.payloadBytes]),
    }
    const { core, openOther } = await openWorld({ open }, context, { logger })
    const execution = await start(core)
    // {"t":"…"} is 8 bytes around the text, and "ü" has two.
    const sized = (bytes: number): NewEvent => externalEvent('external.a', { t: 'ü'.repeat((bytes - 8) / 2) })
    await execution.events.publish(sized(1024))
    expect(lines).toEqual([])
    await execution.events.publish(sized(1026))
    expect(lines).toEqual([["an event's payload is larger than advised", 1026]])
    const strict = await (await openOther({ payloads: 'refuse' })).openExecution(execution.id)
    await strict.events.publish(sized(1024))
    await expect(strict.events.publish(sized(1026))).rejects.toMatchObject({
      code: 'core/payload-too-large',
      kind: 'invalid',
    })
    expect(await execution.events.query({ types: ['external.a'] })).toHaveLength(3)
  })

  test('E-92 the event and the output of the node carry the same address of large data', async (context) => {
    const lines: string[] = []
    const logger: Logger = { ...silentLogger, warn: (message) => lines.push(message) }
    const { core } = await openWorld({ open }, context, { logger, payloads: 'refuse' })
    const execution = await start(core)
    const address = 's3://bucket/extract/2025-01-01.parquet'
    await execution.events.publish(nodeEvent('extract.completed', { data_ref: address }), {
      variables: { 'extract.output_path': address },
    })
    expect((await execution.events.get('extract.completed'))?.payload.data_ref).toBe(address)
    expect(await execution.variables.get('extract.output_path')).toBe(address)
    expect(lines).toEqual([])
  })

  test('N-14 the outputs of a node and the event that completes it are one write', async (context) => {
    const { core, openOther } = await openWorld({ open }, context)
    const execution = await start(core)
    const other = await (await openOther()).openExecution(execution.id)
    const watching = (async () => {
      while (!(await other.events.has('extract.completed')))
        await new Promise((resolve) => setImmediate(resolve))
      return other.variables.list('extract')
    })()
    await execution.events.publish(nodeEvent('extract.completed'), {
      variables: { 'extract.a': 1, 'extract.b': [2] },
    })
    expect(await watching).toEqual({ 'extract.a': 1, 'extract.b': [2] })
  })
})

// Drivers of servers have timers of their own; the core has none on any store.
const [inMemory] = STORE_KINDS

test('E-65 events and variables start no timer, and call the store only while they are called', async (context) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] })
  try {
    const { core, store } = await openWorld(inMemory!, context)
    const execution = await start(core)
    await execution.events.publish(externalEvent('external.a'))
    await execution.variables.set('a.b', 1)
    await execution.events.query()
    const timers = vi.getTimerCount()
    const calls = (['get', 'range', 'commit', 'clear'] as const).map((name) => vi.spyOn(store, name))
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(timers).toBe(0)
    for (const call of calls) expect(call).not.toHaveBeenCalled()
  } finally {
    vi.useRealTimers()
  }
})

test('E-111 the event manager imports neither engine, task execution nor variables', () => {
  const imports = listFiles('src/core/events', (path) => path.endsWith('.ts') && !isTest(path)).flatMap(
    readImports,
  )
  const rooms = new Set(
    imports.flatMap(({ to }) => (to === undefined ? [] : [to.split('/').slice(0, 3).join('/')])),
  )
  expect([...rooms].filter((room) => room.split('/').length === 3 && !room.endsWith('.ts')).sort()).toEqual([
    'src/core/events',
    'src/core/namespaces',
  ])
})
