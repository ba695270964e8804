// Goal: a pass costs what is due, however much the store holds, and misses nothing that was ended before there was an index.
import { describe, expect, test } from 'vitest'
import { collect, externalEvent, openWorld, start, type CoreWorld } from '../../../test/support/core-world.ts'
import { STORE_KINDS } from '../../../test/support/stores.ts'
import { executionId, executionKeys } from '../keys.ts'
import { toBytes } from '../json.ts'
import type { Store } from '../ports.ts'
import { openMaintenance } from './maintenance.ts'

const DAY_MS = 86_400_000

async function endOne(core: CoreWorld['core'], own: string): Promise<void> {
  const execution = await start(core, own)
  await execution.finish({ status: 'completed' })
}

/** Counts what is asked of a store. */
function counting(store: Store): { readonly store: Store; readonly reads: () => number } {
  let reads = 0
  return {
    reads: () => reads,
    store: {
      ...store,
      get: (key, options) => {
        reads += 1
        return store.get(key, options)
      },
      range: async (request, options) => {
        const page = await store.range(request, options)
        reads += page.entries.length + 1
        return page
      },
    },
  }
}

describe.each(STORE_KINDS)('passes on $kind', (kind) => {
  test('N-61 a pass reads what is due, and nothing of the executions for which nothing is', async (context) => {
    const { core, store, clock } = await openWorld(kind, context)
    const cost = async (): Promise<number> => {
      const counted = counting(store)
      const { sweepOnce, release } = openMaintenance({ store: counted.store, clock })
      await sweepOnce()
      const reads = counted.reads()
      await release()
      return reads
    }
    for (let n = 0; n < 3; n += 1) await endOne(core, `old_${String(n)}`)
    const idle = await cost().then(cost)
    for (let n = 0; n < 30; n += 1) await start(core, `running_${String(n)}`)
    expect(await cost()).toBe(idle)
    clock.move(8 * DAY_MS)
    const { sweepOnce, release } = openMaintenance({ store, clock })
    expect(await sweepOnce()).toEqual({ seen: 3, done: 3, failed: 0 })
    await release()
    expect(await cost()).toBeLessThanOrEqual(idle)
    clock.move(23 * DAY_MS)
    expect(await openMaintenance({ store, clock }).sweepOnce()).toEqual({ seen: 3, done: 3, failed: 0 })
    expect((await store.range({ prefix: 'ended:' })).entries).toEqual([])
  })

  test('N-61 what has no entry, because an earlier version ended it, is found by the first pass', async (context) => {
    const { core, store, clock } = await openWorld(kind, context)
    for (let n = 0; n < 5; n += 1) await endOne(core, `exec_${String(n)}`)
    await start(core, 'running')
    await store.clear('ended:')
    clock.move(31 * DAY_MS)
    const maintenance = openMaintenance({ store, clock })
    expect((await collect(maintenance.listDue())).map(({ execution }) => execution)).toEqual(
      [0, 1, 2, 3, 4].map((n) => `exec_${String(n)}`),
    )
    expect(await maintenance.sweepOnce()).toEqual({ seen: 5, done: 5, failed: 0 })
    expect((await store.range({ prefix: 'log:' })).entries.map(({ key }) => key)).toEqual([
      'log:running:0000000000000001',
    ])
  })

  test('N-61 an entry that stayed behind is dropped, and says nothing about its execution', async (context) => {
    const { core, store, clock } = await openWorld(kind, context)
    await start(core, 'running')
    const time = clock.now().toISOString()
    const stray = ['running', 'nobody'].map((own) => `ended:events:${time}:${own}`)
    await store.commit({
      operations: stray.map((key) => ({ do: 'put', key, value: new Uint8Array() })),
    })
    clock.move(31 * DAY_MS)
    const maintenance = openMaintenance({ store, clock })
    expect(await collect(maintenance.listDue())).toEqual([])
    expect(await maintenance.sweepOnce()).toEqual({ seen: 2, done: 0, failed: 0 })
    expect((await store.range({ prefix: 'log:running:' })).entries).toHaveLength(1)
    expect((await store.range({ prefix: 'ended:' })).entries.map(({ key }) => key)).toEqual([])
  })

  test('N-62 a sweep takes along what those outside were not told yet, of this execution alone', async (context) => {
    const { store, clock, openOther } = await openWorld(kind, context)
    const core = await openOther({ outbox: true })
    for (const own of ['exec_1', 'exec_10']) await endOne(core, own)
    clock.move(29 * DAY_MS)
    await endOne(core, 'exec_2')
    const waiting = async () =>
      (await store.range({ prefix: 'outbox:' })).entries.map(({ key }) => key.split(':')[1]).toSorted()
    expect(await waiting()).toEqual(['exec_1', 'exec_1', 'exec_10', 'exec_10', 'exec_2', 'exec_2'])
    clock.move(DAY_MS)
    const told: string[] = []
    const { sweepOnce } = openMaintenance({
      store,
      clock,
      forget: async (executions) => {
        // Where this fails, the events and all that leads to them are still there for the next pass.
        expect((await store.range({ prefix: 'log:exec_1:' })).entries.length).toBeGreaterThan(0)
        told.push(...executions.map(({ execution }) => execution))
      },
    })
    await sweepOnce()
    expect(told.toSorted()).toEqual(['exec_1', 'exec_10'])
    expect(await waiting()).toEqual(['exec_2', 'exec_2'])
  })

  test('N-62 what leads to the events stays until what tells of them is forgotten', async (context) => {
    const { core, store, clock } = await openWorld(kind, context)
    await endOne(core, 'exec_1')
    const scope = { execution: executionId('exec_1') }
    await store.commit({
      operations: [{ do: 'put', key: executionKeys(scope).outbox(1), value: toBytes('{}') }],
    })
    clock.move(31 * DAY_MS)
    let isDown = true
    const { sweepOnce } = openMaintenance({
      store,
      clock,
      forget: () => (isDown ? Promise.reject(new Error('down')) : Promise.resolve()),
    })
    await expect(sweepOnce()).rejects.toThrow('down')
    expect((await store.range({ prefix: 'log:exec_1:' })).entries).toHaveLength(2)
    isDown = false
    expect(await sweepOnce()).toMatchObject({ done: 1, failed: 0 })
    expect((await store.range({ prefix: 'log:exec_1:' })).entries).toEqual([])
  })

  test('N-61 events that an archive holds are left to an instance that knows the archive', async (context) => {
    const { core, store, clock } = await openWorld(kind, context)
    await endOne(core, 'exec_1')
    await core.events.queryEvents(executionId('exec_1'))
    const key = 'executions:exec_1'
    const record = JSON.parse(new TextDecoder().decode((await store.get(key))?.value)) as object
    await store.commit({
      operations: [{ do: 'put', key, value: toBytes(JSON.stringify({ ...record, events: 'cold' })) }],
    })
    clock.move(40 * DAY_MS)
    await openMaintenance({ store, clock }).sweepOnce()
    expect(await core.variables.list(executionId('exec_1'))).toEqual({})
    expect(new TextDecoder().decode((await store.get(key))?.value)).toContain('"events":"cold"')
    await expect(
      core.events.publishEvent(executionId('exec_1'), externalEvent('external.late')),
    ).rejects.toMatchObject({ code: 'core/not-active' })
  })
})
