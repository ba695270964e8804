// Goal: what was written to a variable can be read later, in order and with its writer, within bounds and without secrets.
import { describe, expect, test } from 'vitest'
import { nodeEvent, openWorld, start } from '../../../test/support/core-world.ts'
import { openLossyStore, STORE_FAULTS } from '../../../test/support/lossy-store.ts'
import { STORE_KINDS } from '../../../test/support/stores.ts'
import type { Json } from '../../base/json.ts'
import { openCore } from '../life-cycle/core.ts'
import { openMaintenance } from '../life-cycle/maintenance.ts'
import { VARIABLE_HISTORY_MAX, VARIABLE_HISTORY_VALUE_MAX_BYTES } from '../limits.ts'

const add = (current: Json | undefined): Json => ((current as number | undefined) ?? 0) + 1

describe.each(STORE_KINDS)('history on $kind', ({ open }) => {
  test('DO-173 each write of a variable is in its history, the latest first, with time, writer and revision', async (context) => {
    const { core, clock, openOther } = await openWorld({ open }, context)
    const execution = await start(core)
    const other = await (await openOther()).openExecution(execution.id)
    await execution.variables.set('shared.note', 'first')
    clock.move(1_000)
    await other.node('load').variables.update('shared.note', (text) => `${text as string}, second`)
    clock.move(1_000)
    await execution.variables.remove('shared.note')
    clock.move(1_000)
    const values = { 'shared.note': { n: 4 }, 'load.rows': 7 }
    await execution.events.publish(nodeEvent('load.completed'), { variables: values })
    const { writes, ...rest } = await other.variables.history('shared.note')
    expect(rest).toEqual({ name: 'shared.note', hasDropped: false })
    expect(writes).toMatchObject([
      { kind: 'set', value: { n: 4 }, by: { unit: 'load', event: 'load.completed' } },
      { kind: 'removed', at: '2025-01-01T00:00:02.000Z', by: {} },
      { kind: 'set', value: 'first, second', at: '2025-01-01T00:00:01.000Z', by: { unit: 'load' } },
      { kind: 'set', value: 'first', at: '2025-01-01T00:00:00.000Z', by: {} },
    ])
    const revisions = writes.flatMap(({ revision }) => revision ?? [])
    expect(revisions).toHaveLength(3)
    expect(revisions).toEqual([...revisions].sort((left, right) => right - left))
    expect((await execution.variables.history('load.rows')).writes).toMatchObject([{ kind: 'set', value: 7 }])
    expect((await execution.variables.history('load.none')).writes).toEqual([])
    await expect(execution.variables.history('none')).rejects.toMatchObject({
      code: 'core/bad-variable-name',
    })
  })

  test('DO-173 an input has its value from the start, and a value that no entry tells of is there as unknown', async (context) => {
    const { core, store } = await openWorld({ open }, context)
    const execution = await core.startExecution({ name: 'etl', inputs: { day: 'monday' } })
    expect((await execution.variables.history('pipeline.input.day')).writes).toMatchObject([
      { kind: 'set', value: 'monday', at: '2025-01-01T00:00:00.000Z', by: { event: 'pipeline.started' } },
    ])
    const value = new TextEncoder().encode('"of before"')
    await store.commit({ operations: [{ do: 'put', key: `variables:${execution.id}:shared.old`, value }] })
    await execution.variables.set('shared.other', 1)
    expect((await execution.variables.history('shared.old')).writes).toMatchObject([
      { kind: 'unknown', value: 'of before', by: {} },
    ])
  })

  test('DO-174 a process keeps so many entries of a variable and no more, and the history says that there were others', async (context) => {
    const { core, store, clock } = await openWorld({ open }, context)
    const execution = await start(core)
    const entries = async (subject: string) =>
      (await store.range({ prefix: `history:${execution.id}:${subject}:`, limit: 1000 })).entries.length
    for (let n = 0; n < VARIABLE_HISTORY_MAX; n += 1) {
      clock.move(1)
      await execution.variables.set('shared.n', n)
    }
    expect((await execution.variables.history('shared.n')).hasDropped).toBe(false)
    for (let n = 0; n < 60; n += 1) {
      clock.move(1)
      await execution.variables.update('shared.n', () => VARIABLE_HISTORY_MAX + n)
      const variables = { 'a.n': n, 'a.m': n }
      await execution.events.publish(nodeEvent('a.task.running'), { variables })
    }
    expect([await entries('shared.n'), await entries('a')]).toEqual([
      VARIABLE_HISTORY_MAX,
      VARIABLE_HISTORY_MAX,
    ])
    const { writes, hasDropped } = await execution.variables.history('shared.n')
    expect(hasDropped).toBe(true)
    expect(writes.map(({ value }) => value)).toEqual(
      Array.from({ length: VARIABLE_HISTORY_MAX }, (_, n) => VARIABLE_HISTORY_MAX + 59 - n),
    )
    expect((await execution.variables.history('a.n')).writes[0]).toMatchObject({ value: 59 })
  })

  test('DO-174 a large value is there with its size only, and goes together with values that are not', async (context) => {
    const { core } = await openWorld({ open }, context)
    const execution = await start(core)
    const large = 'x'.repeat(VARIABLE_HISTORY_VALUE_MAX_BYTES)
    await execution.variables.set('shared.large', large)
    await execution.events.publish(nodeEvent('a.completed'), { variables: { 'a.large': large, 'a.n': 1 } })
    for (const name of ['shared.large', 'a.large']) {
      const [write] = (await execution.variables.history(name)).writes
      expect(write).toMatchObject({ kind: 'set', bytes: large.length + 2 })
      expect(write).not.toHaveProperty('value')
    }
    expect((await execution.variables.history('a.n')).writes).toMatchObject([{ value: 1 }])
  })

  test('DO-175 what looks like a secret is in no entry, and the history says that it is left out', async (context) => {
    const { core, store } = await openWorld({ open }, context)
    const inputs = { api_key: 'sesame-1', db: { user: 'ada', password: 'sesame-2' } }
    const execution = await core.startExecution({ name: 'etl', inputs })
    await execution.variables.set('shared.token', 'sesame-3')
    await execution.variables.set('shared.url', 'postgresql://ada:sesame-4@db/orders')
    await execution.events.publish(nodeEvent('a.completed'), {
      variables: { 'a.rows': 3, 'a.login': { clientSecret: 'sesame-5', rows: 3 } },
    })
    const names = ['pipeline.input.api_key', 'pipeline.input.db', 'shared.token', 'shared.url', 'a.login']
    const found = await Promise.all(names.map((name) => execution.variables.history(name)))
    for (const { writes } of found) expect(writes).toMatchObject([{ kind: 'set', withheld: true }])
    expect(JSON.stringify(found)).not.toContain('sesame')
    expect(found[4]!.writes[0]!.value).toEqual({ clientSecret: '[redacted]', rows: 3 })
    const [rows] = (await execution.variables.history('a.rows')).writes
    expect(rows).not.toHaveProperty('withheld')
    const { entries } = await store.range({ prefix: 'history:', limit: 1000 })
    expect(entries.length).toBeGreaterThan(2)
    for (const { value } of entries) expect(new TextDecoder().decode(value)).not.toContain('sesame')
    expect(await execution.variables.get('shared.token')).toBe('sesame-3')
  })

  test('DO-176 the history goes when the variables of an ended execution go, and nothing is left of it', async (context) => {
    const { core, store, clock } = await openWorld({ open }, context)
    const [ended, running] = [await start(core), await start(core)]
    for (const execution of [ended, running]) await execution.variables.set('shared.n', 1)
    await ended.finish({ status: 'completed', outputs: { n: 1 } })
    clock.move(8 * 86_400_000)
    await openMaintenance({ store, clock }).sweepOnce()
    const { entries } = await store.range({ prefix: 'history:', limit: 1000 })
    expect(entries.map(({ key }) => key.split(':')[1])).toEqual([running.id])
  })
})

test('DO-177 updates whose answers are lost happen once each, also more at once than entries are kept', async (context) => {
  const [kind] = STORE_KINDS
  const { store, clock, core } = await openWorld(kind!, context)
  const { id } = await core.startExecution({ name: 'etl' })
  const faults = Array.from({ length: 400 }, (_, n) => STORE_FAULTS[(n * 7) % STORE_FAULTS.length]!)
  const lossy = openCore({ store: openLossyStore(store, faults[Symbol.iterator]()), clock })
  const { variables } = await lossy.openExecution(id)
  let [least, most] = [0, 0]
  for (let round = 0; round < 3; round += 1) {
    const updates = Array.from({ length: VARIABLE_HISTORY_MAX + 20 }, () => variables.update('a.count', add))
    for (const outcome of await Promise.allSettled(updates)) {
      if (outcome.status === 'fulfilled') least += 1
      if (outcome.status === 'fulfilled' || (outcome.reason as { kind: string }).kind === 'uncertain')
        most += 1
    }
  }
  const count = (await (await core.openExecution(id)).variables.get('a.count')) as number
  expect(count).toBeGreaterThanOrEqual(least)
  expect(count).toBeLessThanOrEqual(most)
  expect(least).toBeGreaterThan(VARIABLE_HISTORY_MAX)
})
