// Goal: a variable reads back exactly as it was written, by those who may, inside its execution and nowhere else.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { collect, nodeEvent, openWorld, start } from '../../../test/support/core-world.ts'
import { openLossyStore, STORE_FAULTS, type StoreFault } from '../../../test/support/lossy-store.ts'
import { STORE_KINDS } from '../../../test/support/stores.ts'
import type { Json } from '../../base/json.ts'
import { openCore } from '../life-cycle/core.ts'
import type { VariableNotice } from './watch-variables.ts'

describe.each(STORE_KINDS)('variables on $kind', ({ open }) => {
  test.for([
    'rowcount',
    '',
    '.a',
    'a.',
    'a..b',
    'a b.c',
    'a.b c',
    'a:b.c',
    'a.*',
    'pipeline.x',
    'pipeline.input',
    'external.x',
    'ä.b',
  ])('N-12 %j is no variable name, in each of the calls', async (name, context) => {
    const { core } = await openWorld({ open }, context)
    const { variables } = await start(core)
    const calls = [
      variables.set(name, 1),
      variables.get(name),
      variables.exists(name),
      variables.update(name, () => 1),
      variables.remove(name),
    ]
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'core/bad-variable-name' })
    expect(Object.keys(await variables.list())).toEqual(['system.execution_id', 'system.started_at'])
  })

  test('N-13 N-15 inputs and system variables exist from the start', async (context) => {
    const { core } = await openWorld({ open }, context)
    const inputs = { start_date: '2025-01-01', options: { deep: [1] } }
    const execution = await core.startExecution({ name: 'etl', inputs })
    inputs.options.deep.push(2)
    expect(await execution.variables.list()).toEqual({
      'pipeline.input.start_date': '2025-01-01',
      'pipeline.input.options': { deep: [1] },
      'system.execution_id': execution.id,
      'system.started_at': '2025-01-01T00:00:00.000Z',
    })
  })

  test('N-19 who may write what: a node under its own id, the engine outputs too, nobody what is fixed', async (context) => {
    const { core } = await openWorld({ open }, context)
    const execution = await core.startExecution({ name: 'etl', inputs: { day: 1 } })
    const [extract, transform] = [execution.node('extract'), execution.node('transform')]
    await extract.variables.set('extract.output_path', 'a')
    await transform.variables.set('transform.output_path', 'b')
    expect(await transform.variables.get('extract.output_path')).toBe('a')
    const refusedToNode = [
      'extract.output_path',
      'pipeline.output.x',
      'pipeline.input.day',
      'system.started_at',
      'other.x',
    ]
    for (const name of refusedToNode) {
      for (const act of [
        transform.variables.set(name, 'c'),
        transform.variables.update(name, () => 'c'),
        transform.variables.remove(name),
      ]) {
        await expect(act, name).rejects.toMatchObject({ code: 'core/not-writable', kind: 'refused' })
      }
    }
    await execution.variables.set('pipeline.output.x', 1)
    for (const name of ['pipeline.input.day', 'pipeline.input.other', 'system.execution_id']) {
      await expect(execution.variables.set(name, 2), name).rejects.toMatchObject({
        code: 'core/not-writable',
      })
    }
    const publish = execution.events.publish(nodeEvent('extract.completed'), { variables: { 'system.x': 1 } })
    await expect(publish).rejects.toMatchObject({ code: 'core/not-writable' })
    expect(await execution.events.has('extract.completed')).toBe(false)
    expect(await execution.variables.get('pipeline.input.day')).toBe(1)
    expect(await execution.variables.get('extract.output_path')).toBe('a')
    await transform.variables.set('shared.note', 'everybody')
    expect(await extract.variables.get('shared.note')).toBe('everybody')
  })

  test('N-19 a node reports about itself only', async (context) => {
    const { core } = await openWorld({ open }, context)
    const execution = await start(core)
    const node = execution.node('extract')
    await node.events.publish('extract.task.running', { percent: 10 })
    expect(await execution.events.get('extract.task.running')).toMatchObject({
      source: { entityType: 'task' },
    })
    for (const type of ['other.completed', 'pipeline.completed', 'external.a']) {
      await expect(node.events.publish(type), type).rejects.toMatchObject({ code: 'core/not-yours' })
    }
    for (const reserved of ['pipeline', 'system', 'external', 'shared', 'a.b', 'a:b', '']) {
      expect(() => execution.node(reserved), reserved).toThrow(/node id/)
    }
  })

  test('N-21 set stores a value, and a later set replaces it', async (context) => {
    const { core } = await openWorld({ open }, context)
    const { variables } = await start(core)
    for (const value of ['first', 'second', null, false, 0, '']) {
      await variables.set('a.b', value)
      expect(await variables.get('a.b')).toBe(value)
    }
  })

  test('N-22 get answers undefined for a name that was never set', async (context) => {
    const { core } = await openWorld({ open }, context)
    const { variables } = await start(core)
    expect(await variables.get('a.b')).toBeUndefined()
  })

  test('N-23 exists is true for any value that was set, null and false too, until it is removed', async (context) => {
    const { core } = await openWorld({ open }, context)
    const { variables } = await start(core)
    expect(await variables.exists('a.b')).toBe(false)
    for (const value of ['text', null, false, 0, '']) {
      await variables.set('a.b', value)
      expect(await variables.exists('a.b')).toBe(true)
    }
    expect(await variables.remove('a.b')).toBe(true)
    expect(await variables.remove('a.b')).toBe(false)
    expect(await variables.exists('a.b')).toBe(false)
  })

  test('N-17 any JSON value reads back deeply equal', async (context) => {
    const { core, openOther } = await openWorld({ open }, context)
    const execution = await start(core)
    const reader = await (await openOther()).openExecution(execution.id)
    const values = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom<Json>(-0, 1e300, 5e-324, 2 ** 53, 'a\u0000b', '\ud800', '\ufeffbom', {
        ['__proto__']: 1,
        '': [],
      }),
      fc.string({ unit: 'binary' }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
    )
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        await execution.variables.set('a.value', value as Json)
        const found = await reader.variables.get('a.value')
        expect(found).toStrictEqual(
          Object.getPrototypeOf(value ?? 0) === null ? { ...(value as object) } : value,
        )
        expect(Object.is(found, -0)).toBe(Object.is(value, -0))
      }),
      { numRuns: 100 },
    )
  })

  test.for<[string, unknown, string]>([
    ['undefined', undefined, 'core/not-json'],
    ['a number that is none', { a: [NaN] }, 'core/not-json'],
    ['infinity', Infinity, 'core/not-json'],
    ['a function', { f: () => 1 }, 'core/not-json'],
    ['a bigint', 1n, 'core/not-json'],
    ['a date', new Date(0), 'core/not-json'],
    ['a map', new Map(), 'core/not-json'],
    ['a member that is undefined', { a: undefined }, 'core/not-json'],
    ['a list with a hole', Object.assign([1], { 2: 2 }), 'core/not-json'],
    ['a symbol as key', { [Symbol('s')]: 1 }, 'core/not-json'],
    ['what is too large', 'x'.repeat(262_143), 'core/too-large'],
    ['one text held many times', Array.from({ length: 1000 }, () => 'x'.repeat(1000)), 'core/too-large'],
  ])('N-17 %s is refused, and the variable keeps its value', async ([, value, code], context) => {
    const { core } = await openWorld({ open }, context)
    const { variables } = await start(core)
    await variables.set('a.b', 'kept')
    await expect(variables.set('a.b', value as Json)).rejects.toMatchObject({ code, kind: 'invalid' })
    expect(await variables.get('a.b')).toBe('kept')
  })

  test('N-17 a value that contains itself is refused', async (context) => {
    const { core } = await openWorld({ open }, context)
    const { variables } = await start(core)
    const value: { self?: unknown } = {}
    value.self = value
    await expect(variables.set('a.b', value as Json)).rejects.toMatchObject({ code: 'core/not-json' })
  })

  test('N-21 updates of one variable in two instances at once are steps one after the other', async (context) => {
    const { core, openOther } = await openWorld({ open }, context)
    const execution = await start(core)
    const other = await (await openOther()).openExecution(execution.id)
    const add = (current: Json | undefined): Json => ((current as number | undefined) ?? 0) + 1
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        (n % 2 === 0 ? execution : other).variables.update('shared.count', add),
      ),
    )
    expect(await execution.variables.get('shared.count')).toBe(60)
    expect([...results].sort((left, right) => Number(left) - Number(right))).toEqual(
      Array.from({ length: 60 }, (_, n) => n + 1),
    )
  })

  test('N-21 nothing is written once the execution is over, also by an instance that has not noticed', async (context) => {
    const { core, openOther } = await openWorld({ open }, context)
    const execution = await start(core)
    const late = await (await openOther()).openExecution(execution.id)
    await late.variables.set('a.b', 1)
    await execution.finish({ status: 'completed' })
    for (const act of [
      () => late.variables.set('a.b', 2),
      () => late.variables.update('a.b', () => 2),
      () => late.variables.remove('a.b'),
    ]) {
      await expect(act()).rejects.toMatchObject({ code: 'core/not-active' })
    }
    expect(await execution.variables.get('a.b')).toBe(1)
  })

  test('N-18 changes are told inside the execution only', async (context) => {
    const { core } = await openWorld({ open }, context)
    const [execution, neighbour] = [await start(core, 'exec_1'), await start(core, 'exec_10')]
    const end = new AbortController()
    const seen: VariableNotice[] = []
    const watching = (async () => {
      for await (const notice of execution.variables.watch({ signal: end.signal, prefix: 'shared.' })) {
        seen.push(notice)
        if (notice.kind === 'ready') {
          await neighbour.variables.set('shared.x', 'theirs')
          await execution.variables.set('other.x', 'elsewhere')
          await execution.variables.set('shared.x', { mine: true })
        }
        if (notice.kind === 'set') await execution.variables.remove('shared.x')
        if (notice.kind === 'removed') end.abort()
      }
    })()
    await watching
    expect(seen).toEqual([
      { kind: 'ready' },
      { kind: 'set', name: 'shared.x', value: { mine: true } },
      { kind: 'removed', name: 'shared.x' },
    ])
    const ended = collect(execution.variables.watch({ signal: AbortSignal.abort() }))
    expect(await ended).toEqual([])
  })
})

test('N-21 updates over a store that loses answers happen once each, and a set that was confirmed is never undone', async () => {
  const [kind] = STORE_KINDS
  const faults = fc.array(fc.constantFrom<StoreFault>(...STORE_FAULTS), { maxLength: 25 })
  await fc.assert(
    fc.asyncProperty(faults, fc.array(fc.boolean(), { minLength: 1, maxLength: 10 }), async (plan, steps) => {
      const { store, clock, core } = await openWorld(kind!, undefined as never)
      const { id } = await core.startExecution({ name: 'etl' })
      const plain = await core.openExecution(id)
      const lossy = openCore({ store: openLossyStore(store, plan[Symbol.iterator]()), clock })
      const { variables } = await lossy.openExecution(id)
      let [least, most] = [0, 0]
      let last: number | undefined
      for (const [n, isUpdate] of steps.entries()) {
        try {
          if (isUpdate)
            await variables.update('a.count', (current) => ((current as number | undefined) ?? 0) + 1)
          else await variables.set('a.last', n)
          if (isUpdate) [least, most] = [least + 1, most + 1]
          else last = n
        } catch (error) {
          const { kind: told } = error as { kind: string }
          expect(['uncertain', 'unavailable']).toContain(told)
          if (isUpdate && told === 'uncertain') most += 1
          if (!isUpdate && told === 'uncertain') last = undefined
        }
        const count = ((await plain.variables.get('a.count')) as number | undefined) ?? 0
        expect(count).toBeGreaterThanOrEqual(least)
        expect(count).toBeLessThanOrEqual(most)
        if (last !== undefined) expect(await plain.variables.get('a.last')).toBe(last)
      }
    }),
    { numRuns: 80 },
  )
})
