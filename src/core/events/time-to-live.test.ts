// Goal: events that expire are gone after their time, and nothing else about their execution changes by that.
import { describe, expect, test } from 'vitest'
import { externalEvent, id, openWorld, StillClock } from '../../../test/support/core-world.ts'
import { STORE_KINDS } from '../../../test/support/stores.ts'
import { createMemorySpace, openMemoryStore } from '../../stores/memory/memory-store.ts'
import { openCore } from '../life-cycle/core.ts'
import { openMaintenance } from '../life-cycle/maintenance.ts'

const HOUR_MS = 3_600_000
const expiring = { id: 'exec_1', name: 'etl', eventTtlMs: HOUR_MS }

function openClocked() {
  const clock = new StillClock()
  const space = createMemorySpace({ clock })
  const openOne = () => openMemoryStore({ space })
  const store = openOne()
  return { clock, store, core: openCore({ store, clock }), other: openCore({ store: openOne(), clock }) }
}

test('E-72 events with a time to live are gone after it, and the rest of the execution stays', async () => {
  const { clock, core, store } = openClocked()
  const execution = await core.startExecution({ ...expiring, inputs: { day: 1 } })
  clock.move(HOUR_MS / 2)
  await execution.events.publish(externalEvent('external.a'), { idempotencyKey: 'a' })
  clock.move(HOUR_MS / 2 - 1)
  expect((await execution.events.query()).map(({ sequence }) => sequence)).toEqual([1, 2])
  clock.move(1)
  expect((await execution.events.query()).map(({ sequence }) => sequence)).toEqual([2])
  expect(await execution.events.has('pipeline.started')).toBe(false)
  clock.move(HOUR_MS / 2)
  expect(await execution.events.query()).toEqual([])
  expect(await execution.events.get('external.a')).toBeNull()
  expect(await execution.variables.get('pipeline.input.day')).toBe(1)
  expect((await execution.readState()).status).toBe('running')
  await execution.finish({ status: 'completed' })
  expect((await execution.events.query()).map(({ type }) => type)).toEqual(['pipeline.completed'])
  clock.move(40 * 24 * HOUR_MS)
  await openMaintenance({ store, clock }).sweepOnce()
  expect((await store.range({ prefix: 'log' })).entries).toEqual([])
})

test('E-72 no place in the log is given out twice, whoever writes after everything has expired', async () => {
  const { clock, core, other } = openClocked()
  const mine = await core.startExecution(expiring)
  const theirs = await other.openExecution('exec_1')
  await mine.events.publish(externalEvent('external.a'))
  for (let n = 0; n < 3; n += 1) await theirs.events.publish(externalEvent('external.b'))
  clock.move(2 * HOUR_MS)
  // The first writer last saw the second event; the places behind it look free.
  await mine.events.publish(externalEvent('external.c'))
  await theirs.events.publish(externalEvent('external.d'))
  expect((await mine.events.query()).map(({ sequence, type }) => [sequence, type])).toEqual([
    [6, 'external.c'],
    [7, 'external.d'],
  ])
})

test('E-72 what is no time to live is refused, and starts nothing', async () => {
  const { core } = openClocked()
  for (const eventTtlMs of [0, 999, 1_000.5, Infinity, NaN, -1]) {
    await expect(core.startExecution({ ...expiring, eventTtlMs })).rejects.toMatchObject({
      code: 'core/bad-time-to-live',
    })
  }
  await expect(core.openExecution('exec_1')).rejects.toMatchObject({ code: 'core/no-such-execution' })
})

describe.each(STORE_KINDS)('events that expire on $kind', (kind) => {
  test('E-72 they are written with their time, by every instance, and only for the execution that asked', async (context) => {
    const { core, store, openOther } = await openWorld(kind, context)
    await core.startExecution(expiring)
    await core.startExecution({ name: 'etl', id: 'exec_2' })
    const other = await openOther()
    for (const own of ['exec_1', 'exec_2']) {
      await other.events.publishEvent(id(own), externalEvent('external.a'), { idempotencyKey: 'a' })
    }
    const { entries } = await store.range({ prefix: '' })
    const expire = entries
      .filter(({ expires }) => expires)
      .map(({ key }) => key.replace(/[0-9a-f]{64}$/, '…'))
    expect(expire).toEqual([
      'events:exec_1:external.a',
      'events:exec_1:pipeline.started',
      'idempotency:exec_1:…',
      'log:exec_1:0000000000000001',
      'log:exec_1:0000000000000002',
    ])
  })
})
