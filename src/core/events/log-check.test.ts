// Goal: an event that the log has lost is never passed over in silence, and what is gone for good reason is not called lost.
import { describe, expect, test } from 'vitest'
import { externalEvent, id, openWorld, start, StillClock } from '../../../test/support/core-world.ts'
import { STORE_KINDS } from '../../../test/support/stores.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { executionKeys } from '../keys.ts'
import { openCore } from '../life-cycle/core.ts'
import { openMaintenance } from '../life-cycle/maintenance.ts'
import type { Store } from '../ports.ts'
import type { EventArchive, EventRow } from './archive-port.ts'

const keys = executionKeys({ execution: id('exec_1') })

async function lose(store: Store, ...sequences: readonly number[]): Promise<void> {
  await store.commit({ operations: sequences.map((at) => ({ do: 'delete', key: keys.entry(at) })) })
}

const hole = (from: number, to: number): object => ({
  kind: 'defect',
  code: 'core/log-hole',
  details: { execution: 'exec_1', from, to },
})

describe.each(STORE_KINDS)('a log on $kind', (kind) => {
  test('E-126 a place that is missing is refused by its number, in either direction and from any page', async (context) => {
    const { core, store } = await openWorld(kind, context)
    const { events } = await start(core, 'exec_1')
    for (let n = 2; n <= 9; n += 1) await events.publish(externalEvent(`external.n${n}`))
    await lose(store, 4, 5)
    await expect(events.query()).rejects.toMatchObject(hole(4, 5))
    await expect(events.query({ order: 'descending' })).rejects.toMatchObject(hole(4, 5))
    await expect(events.query({ after: 3, limit: 1 })).rejects.toMatchObject(hole(4, 5))
    await expect(events.query({ types: ['external.n9'] })).rejects.toMatchObject(hole(4, 5))
    expect((await events.query({ after: 5 })).map(({ sequence }) => sequence)).toEqual([6, 7, 8, 9])
    expect((await events.query({ limit: 3 })).map(({ sequence }) => sequence)).toEqual([1, 2, 3])
    await lose(store, 1)
    await expect(events.query({ limit: 1 })).rejects.toMatchObject(hole(1, 1))
    await expect(events.query({ order: 'descending', after: 4 })).rejects.toMatchObject(hole(1, 1))
    await lose(store, 2, 3, 6, 7, 8, 9)
    await expect(events.query()).rejects.toMatchObject({ code: 'core/log-hole' })
  })

  test('E-127 what a clearing by force has removed is no hole, and what is lost after it is', async (context) => {
    const { core, store } = await openWorld(kind, context)
    const { events } = await start(core, 'exec_1')
    for (let n = 0; n < 3; n += 1) await events.publish(externalEvent('external.a'))
    await core.events.clearEvents(id('exec_1'), { force: true })
    expect(await events.query()).toEqual([])
    for (let n = 0; n < 3; n += 1) await events.publish(externalEvent('external.b'))
    for (const order of ['ascending', 'descending'] as const) {
      expect((await events.query({ order })).map(({ sequence }) => sequence).sort()).toEqual([5, 6, 7])
    }
    await lose(store, 6)
    await expect(events.query()).rejects.toMatchObject(hole(6, 6))
  })
})

test('E-127 a clearing that was interrupted leaves no hole', async () => {
  const store = openMemoryStore()
  const core = openCore({ store, clock: new StillClock() })
  const execution = await start(core, 'exec_1')
  for (let n = 0; n < 5; n += 1) await execution.events.publish(externalEvent('external.a'))
  await execution.finish({ status: 'completed' })
  const interrupted: Store = {
    ...store,
    clear: async (prefix) => {
      if (prefix !== keys.log) return store.clear(prefix)
      await lose(store, 2, 4)
      throw new Error('interrupted')
    },
  }
  const other = openCore({ store: interrupted, clock: new StillClock() })
  await expect(other.events.clearEvents(id('exec_1'))).rejects.toThrow('interrupted')
  expect((await execution.events.query()).map(({ sequence }) => sequence)).toEqual([1, 3, 5, 6, 7])
})

test('E-127 events that expire leave no hole, whichever goes first', async () => {
  const store = openMemoryStore()
  const core = openCore({ store, clock: new StillClock() })
  const { events } = await core.startExecution({ name: 'etl', id: 'exec_1', eventTtlMs: 3_600_000 })
  for (let n = 0; n < 3; n += 1) await events.publish(externalEvent('external.a'))
  await lose(store, 1, 3)
  expect((await events.query()).map(({ sequence }) => sequence)).toEqual([2, 4])
})

test('E-126 an event under the key of another is refused', async () => {
  const store = openMemoryStore()
  const { events } = await start(openCore({ store, clock: new StillClock() }), 'exec_1')
  for (const type of ['external.a', 'external.b']) await events.publish(externalEvent(type))
  const value = (await store.get(keys.entry(2)))?.value ?? Buffer.alloc(0)
  await store.commit({ operations: [{ do: 'put', key: keys.entry(3), value }] })
  await expect(events.query()).rejects.toMatchObject({
    code: 'core/bad-record',
    details: { key: keys.entry(3) },
  })
})

function openRows(): EventArchive & { rows: readonly EventRow[] } {
  const archive: EventArchive & { rows: readonly EventRow[] } = {
    name: 'rows',
    rows: [],
    write: (rows) => Promise.resolve(void (archive.rows = [...archive.rows, ...rows])),
    read: ({ limit, after = 0 }) =>
      Promise.resolve(archive.rows.filter(({ sequence }) => sequence > after).slice(0, limit)),
    listTypes: () => Promise.resolve([]),
    count: () => Promise.resolve(archive.rows.length),
    remove: () => Promise.resolve(0),
    close: () => Promise.resolve(),
  }
  return archive
}

async function openEnded() {
  const [store, clock, archive] = [openMemoryStore(), new StillClock(), openRows()]
  const execution = await start(openCore({ store, clock, archive }), 'exec_1')
  for (let n = 0; n < 5; n += 1) await execution.events.publish(externalEvent('external.a'))
  await execution.finish({ status: 'completed' })
  const archiveOnce = (): Promise<unknown> => openMaintenance({ store, clock, archive }).archiveOnce()
  return { store, archive, execution, archiveOnce }
}

test('E-128 a log with a hole is not archived, and stays in the store', async () => {
  const { store, archive, archiveOnce } = await openEnded()
  await lose(store, 3)
  await archiveOnce().catch(() => undefined)
  expect(archive.rows).toEqual([])
  expect((await store.range({ prefix: keys.log })).entries).toHaveLength(6)
})

test('E-128 a row that the archive has lost is refused by its number', async () => {
  const { archive, execution, archiveOnce } = await openEnded()
  await archiveOnce()
  expect(await execution.events.query()).toHaveLength(7)
  archive.rows = archive.rows.filter(({ sequence }) => sequence !== 5)
  await expect(execution.events.query()).rejects.toMatchObject(hole(5, 5))
})
