// Goal: what one execution holds is reached through its id and through nothing else, in every kind of store.
import { describe, expect, test } from 'vitest'
import { collect, externalEvent, id, nodeEvent, openWorld, start } from '../../../test/support/core-world.ts'
import { readImports, listFiles, isTest, readText } from '../../../test/support/source-tree.ts'
import { STORE_KINDS } from '../../../test/support/stores.ts'
import { fromBytes } from '../json.ts'
import type { ExecutionId } from '../keys.ts'
import type { Core } from '../life-cycle/core.ts'
import type { Execution } from '../life-cycle/execution.ts'
import type { Store } from '../ports.ts'

const TYPES = ['extract_data.completed', 'transform_data.completed']
const NONE = undefined as unknown as ExecutionId

function dateOf(day: number): string {
  return new Date(Date.UTC(2025, 0, 1 + day)).toISOString().slice(0, 10)
}

async function keysOf(store: Store, prefix: string): Promise<readonly string[]> {
  const page = await store.range({ prefix, limit: 1000 })
  return page.entries.map(({ key }) => key)
}

describe.each(STORE_KINDS)('isolation on $kind', ({ open }) => {
  test('N-01 N-18 equal event types and variable names in two executions hold independent values', async (context) => {
    const { core } = await openWorld({ open }, context)
    const [one, other] = [await start(core), await start(core)]
    for (const [execution, rows] of [
      [one, 1],
      [other, 2],
    ] as const) {
      await execution.events.publish(nodeEvent('extract_data.completed', { rows }))
      await execution.variables.set('extract_data.row_count', rows)
    }
    await one.variables.set('extract_data.row_count', 3)
    expect((await one.events.get('extract_data.completed'))?.payload).toEqual({ rows: 1 })
    expect((await other.events.get('extract_data.completed'))?.payload).toEqual({ rows: 2 })
    expect(await one.variables.get('extract_data.row_count')).toBe(3)
    expect(await other.variables.get('extract_data.row_count')).toBe(2)
    const lists = await Promise.all([one, other].map(({ events }) => events.query()))
    expect(lists.map((events) => new Set(events.map(({ executionId }) => executionId)))).toEqual([
      new Set([one.id]),
      new Set([other.id]),
    ])
  })

  test('N-02 pipeline.started in two executions are two records', async (context) => {
    const { core } = await openWorld({ open }, context)
    const [one, other] = [await start(core, 'exec_12345'), await start(core, 'exec_67890')]
    const [first, second] = [
      await one.events.get('pipeline.started'),
      await other.events.get('pipeline.started'),
    ]
    expect(first?.executionId).toBe('exec_12345')
    expect(second?.executionId).toBe('exec_67890')
    expect(first?.id).not.toBe(second?.id)
  })

  test('N-03 N-05 one name holds unrelated values in two executions, and under two prefixes of one', async (context) => {
    const { core } = await openWorld({ open }, context)
    const [one, other] = [await start(core), await start(core)]
    await one.variables.set('extract_data.x', 'a')
    await one.variables.set('transform_data.x', 'b')
    await other.variables.set('extract_data.x', 'c')
    expect(await one.variables.get('extract_data.x')).toBe('a')
    expect(await one.variables.get('transform_data.x')).toBe('b')
    expect(await other.variables.get('extract_data.x')).toBe('c')
    expect(await other.variables.exists('transform_data.x')).toBe(false)
  })

  test('N-06 N-10 an event is found under its exact type, with its payload and execution id', async (context) => {
    const { core } = await openWorld({ open }, context)
    const one = await start(core)
    for (const type of TYPES) await one.events.publish(nodeEvent(type, { of: type }))
    for (const type of TYPES) {
      expect(await one.events.get(type)).toMatchObject({ type, payload: { of: type }, executionId: one.id })
    }
  })

  test('N-07 two runs of one definition at once record the same types, each in a log of only its own', async (context) => {
    const { core, openOther } = await openWorld({ open }, context)
    const run = async (on: Core, rows: number): Promise<Execution> => {
      const execution = await start(on)
      for (const type of TYPES) await execution.events.publish(nodeEvent(type, { rows }))
      return execution
    }
    const other = await openOther()
    const runs = await Promise.all([run(core, 1), run(other, 2), run(core, 3)])
    for (const [at, { events }] of runs.entries()) {
      const log = await events.query()
      expect(log.map(({ type }) => type)).toEqual(['pipeline.started', ...TYPES])
      expect(log.map(({ sequence }) => sequence)).toEqual([1, 2, 3])
      expect(log.map(({ payload }) => payload.rows)).toEqual([undefined, at + 1, at + 1])
    }
  })

  test('N-08 N-09 has turns true in the execution that published, and stays false in any other', async (context) => {
    const { core } = await openWorld({ open }, context)
    const [one, other] = [await start(core), await start(core)]
    for (const type of TYPES) {
      expect(await one.events.has(type)).toBe(false)
      await one.events.publish(nodeEvent(type))
      expect(await one.events.has(type)).toBe(true)
      expect(await other.events.has(type)).toBe(false)
      expect(await other.events.get(type)).toBeNull()
    }
  })

  async function expectRefused(calls: readonly (() => unknown)[]): Promise<void> {
    for (const call of calls) {
      await expect(Promise.resolve().then(call), String(call)).rejects.toMatchObject({ code: 'core/bad-id' })
    }
  }

  test('N-11 N-46 every call of the event manager without an execution id is refused at run time', async (context) => {
    const { core } = await openWorld({ open }, context)
    const { events } = core
    const calls = [
      () => events.publishEvent(NONE, externalEvent('external.a')),
      () => events.hasEvent(NONE, 'a.completed'),
      () => events.getEvent(NONE, 'a.completed'),
      () => events.queryEvents(NONE),
      () => events.queryEventPage(NONE),
      () => events.clearEvents(NONE),
    ]
    expect(calls).toHaveLength(Object.keys(events).length)
    await expectRefused([...calls, () => core.openExecution(NONE)])
  })

  test('N-24 N-46 every call of the variable store without an execution id is refused at run time', async (context) => {
    const { core } = await openWorld({ open }, context)
    const { variables } = core
    const calls = [
      () => variables.get(NONE, 'a.b'),
      () => variables.exists(NONE, 'a.b'),
      () => variables.set(NONE, 'a.b', 1),
      () => variables.update(NONE, 'a.b', () => 1),
      () => variables.remove(NONE, 'a.b'),
      () => variables.list(NONE),
      () => variables.listPage(NONE),
      () => variables.history(NONE, 'a.b'),
      () => variables.resolve(NONE, 'text'),
      async () => {
        await collect(variables.watch(NONE, { signal: AbortSignal.abort() }))
      },
    ]
    expect(calls).toHaveLength(Object.keys(variables).length)
    await expectRefused(calls)
  })

  test('N-42 N-43 the latest event of a type and each variable are JSON under documented keys', async (context) => {
    const { core, store } = await openWorld({ open }, context)
    await core.startExecution({ name: 'etl', id: 'exec_12345', inputs: { start_date: '2025-01-01' } })
    const event = await store.get('events:exec_12345:pipeline.started')
    expect(JSON.parse(fromBytes(event!.value))).toMatchObject({
      execution_id: 'exec_12345',
      type: 'pipeline.started',
    })
    const variable = await store.get('variables:exec_12345:pipeline.input.start_date')
    expect(fromBytes(variable!.value)).toBe('"2025-01-01"')
    expect(await keysOf(store, 'variables:exec_12345:')).toEqual([
      'variables:exec_12345:pipeline.input.start_date',
      'variables:exec_12345:system.execution_id',
      'variables:exec_12345:system.started_at',
    ])
  })

  test('N-44 ids with separators, wildcards or white space are refused, and clearing exec_1 leaves exec_10', async (context) => {
    const { core } = await openWorld({ open }, context)
    for (const bad of ['', 'a:b', 'a*', 'a b', ' ', 'a/b', 'a.b', 'ä', 'a'.repeat(129)]) {
      await expect(start(core, bad), bad).rejects.toMatchObject({ code: 'core/bad-id' })
    }
    const [one, ten, x] = [
      await start(core, 'exec_1'),
      await start(core, 'exec_10'),
      await start(core, 'exec_1x'),
    ]
    await one.finish({ status: 'completed' })
    await core.events.clearEvents(one.id)
    expect(await one.events.query()).toEqual([])
    expect(await ten.events.query()).toHaveLength(1)
    expect(await x.events.query()).toHaveLength(1)
  })

  test('N-45 two instances over one store share the records of an execution', async (context) => {
    const { core, openOther } = await openWorld({ open }, context)
    const other = await openOther()
    const mine = await start(core)
    await mine.events.publish(nodeEvent('a.completed', { rows: 1 }))
    await mine.variables.set('a.rows', 1)
    const seen = await other.openExecution(mine.id)
    expect(await seen.events.get('a.completed')).toEqual(await mine.events.get('a.completed'))
    expect(await seen.variables.get('a.rows')).toBe(1)
    // Both write to one log in turn, and neither takes the other's place.
    for (let round = 0; round < 5; round += 1) {
      await mine.events.publish(externalEvent('external.mine', { round }))
      await seen.events.publish(externalEvent('external.theirs', { round }))
    }
    expect((await seen.events.query()).map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 12 }, (_, index) => index + 1),
    )
  })

  test('N-58 two instances over one store run their own executions at once and disturb no other', async (context) => {
    const { core, openOther } = await openWorld({ open }, context)
    const engines = [core, await openOther()]
    const run = async (on: Core, name: string): Promise<Execution> => {
      const execution = await on.startExecution({ name: 'etl', inputs: { name } })
      for (let round = 0; round < 5; round += 1) {
        await execution.variables.update('shared.count', (count) => Number(count ?? 0) + 1)
        await execution.events.publish(externalEvent('external.step', { name, round }))
      }
      await execution.finish({ status: 'completed', outputs: { name } })
      return execution
    }
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const runs = await Promise.all(names.map((name, at) => run(engines[at % 2]!, name)))
    for (const [at, { variables, events }] of runs.entries()) {
      expect(await variables.list()).toMatchObject({ 'shared.count': 5, 'pipeline.output.name': names[at] })
      const log = await events.query()
      expect(log.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7])
      expect(log.slice(1, 6).map(({ payload }) => payload)).toEqual(
        [0, 1, 2, 3, 4].map((round) => ({ name: names[at], round })),
      )
    }
  })

  test('N-59 one id under two tenants is two executions', async (context) => {
    const { store, openOther } = await openWorld({ open }, context)
    const [red, blue] = [await openOther({ tenant: 'red' }), await openOther({ tenant: 'blue' })]
    const [one, other] = [await start(red, 'exec_1'), await start(blue, 'exec_1')]
    await one.variables.set('a.b', 'red')
    expect(await other.variables.exists('a.b')).toBe(false)
    await one.finish({ status: 'completed' })
    await red.events.clearEvents(one.id)
    expect(await other.events.query()).toHaveLength(1)
    expect((await other.readState()).status).toBe('running')
    expect((await store.get('events:blue/exec_1:pipeline.started'))?.key).toBeDefined()
  })

  test('N-38 N-56 fifty executions at once in two instances end with their own inputs and results', async (context) => {
    const { core, openOther } = await openWorld({ open }, context)
    const engines = [core, await openOther()]
    const runs = Array.from({ length: 50 }, async (_, day) => {
      const inputs = { date: dateOf(day), rows: 1_000_000 + day * 500_000 }
      const execution = await engines[day % 2]!.startExecution({ name: 'etl', inputs })
      await execution.events.publish(nodeEvent('extract.started'))
      const rows = await execution.variables.get('pipeline.input.rows')
      await execution.events.publish(nodeEvent('extract.completed', { day }), {
        variables: { 'extract.rows': rows! },
      })
      await execution.finish({
        status: 'completed',
        outputs: { rows: (await execution.variables.get('extract.rows'))! },
      })
      return { execution, day }
    })
    const ids = new Set<string>()
    for (const { execution, day } of await Promise.all(runs)) {
      ids.add(execution.id)
      const rows = 1_000_000 + day * 500_000
      expect(await execution.variables.list()).toEqual({
        'extract.rows': rows,
        'pipeline.input.date': dateOf(day),
        'pipeline.input.rows': rows,
        'pipeline.output.rows': rows,
        'system.execution_id': execution.id,
        'system.started_at': '2025-01-01T00:00:00.000Z',
      })
      expect((await execution.events.query()).map(({ type, payload }) => [type, payload.day])).toEqual([
        ['pipeline.started', undefined],
        ['extract.started', undefined],
        ['extract.completed', day],
        ['pipeline.completed', undefined],
      ])
    }
    expect(ids.size).toBe(50)
  })

  test('ids that perago makes are long and all different; an id of ones own that is taken is refused', async (context) => {
    const { core } = await openWorld({ open }, context)
    const made = await Promise.all(Array.from({ length: 20 }, async () => (await start(core)).id))
    expect(new Set(made).size).toBe(20)
    for (const one of made) expect(one).toMatch(/^exec_[A-Za-z0-9_-]{22}$/)
    await start(core, 'mine')
    await expect(start(core, 'mine')).rejects.toMatchObject({
      code: 'core/execution-exists',
      kind: 'refused',
    })
    await expect(core.openExecution('nobody')).rejects.toMatchObject({
      code: 'core/no-such-execution',
      kind: 'missing',
    })
    expect(await core.events.hasEvent(id('nobody'), 'pipeline.started')).toBe(false)
  })
})

test('N-60 one module builds keys and one binds them to an execution; no other knows how an id enters an address', () => {
  // The embedded lakeFS has no executions.
  const isOurs = (path: string): boolean =>
    path.endsWith('.ts') && !isTest(path) && !path.startsWith('src/embedded/')
  const sources = listFiles('src', isOurs)
  // The last one asks for a prefix to watch.
  const users = sources.filter((path) => readText(path).includes('executionKeys('))
  expect(users.sort()).toEqual(['src/core/keys.ts', 'src/core/namespaces/scope.ts', 'src/runtime/host.ts'])
  const kinds = 'events|variables|log|log-end|executions|marks|idempotency|outbox|checkpoints|ended|leases'
  const spelled = sources.filter((path) => new RegExp(`['"\`](${kinds}):(?! )`).test(readText(path)))
  expect(spelled).toEqual(['src/core/keys.ts'])
  const binders = sources.filter((path) => readText(path).includes('bindScope('))
  expect(binders.sort()).toEqual(['src/core/namespaces/scope.ts', 'src/core/namespaces/scopes.ts'])
  // What lists executions is imported by maintenance alone.
  const listers = sources.flatMap(readImports).filter(({ to }) => to === 'src/core/namespaces/registry.ts')
  expect(listers.map(({ from }) => from).filter((from) => !from.startsWith('src/core/life-cycle/'))).toEqual(
    [],
  )
})
