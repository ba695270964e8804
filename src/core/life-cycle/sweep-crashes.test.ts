// Goal: a sweep may end anywhere, and the next one finishes it. Method: a process that dies before or after its nth operation, for
// every n that a sweep has.
import { describe, expect, test, type TestContext } from 'vitest'
import { externalEvent, openWorld, start, type CoreWorld } from '../../../test/support/core-world.ts'
import { STORE_KINDS, type StoreKind } from '../../../test/support/stores.ts'
import { UnavailableError, UncertainError } from '../../base/errors.ts'
import { executionKeys, type ExecutionId } from '../keys.ts'
import { toBytes } from '../json.ts'
import type { Store } from '../ports.ts'
import { openMaintenance } from './maintenance.ts'

const DAY_MS = 86_400_000
const RETENTION = { eventsMs: DAY_MS, variablesMs: DAY_MS, checkpointsMs: DAY_MS }
/** Before the execution is worked on: the lease, whether the index is complete, a page of it. */
const OPERATIONS_OF_PASS = 4

/** A store that does `act` around each of its operations. */
function around(store: Store, act: <T>(run: () => Promise<T>) => Promise<T>): Store {
  const { clearEach } = store
  return {
    ...store,
    peek: undefined,
    get: (key, options) => act(() => store.get(key, options)),
    range: (request, options) => act(() => store.range(request, options)),
    commit: (batch, options) => act(() => store.commit(batch, options)),
    clear: (prefix, options) => act(() => store.clear(prefix, options)),
    clearEach: clearEach && ((prefixes, options) => act(() => clearEach(prefixes, options))),
  }
}

function counting(store: Store): { readonly store: Store; readonly count: () => number } {
  let count = 0
  return {
    count: () => count,
    store: around(store, (run) => {
      count += 1
      return run()
    }),
  }
}

/** The process is killed at its `last` operation, before or after the server has done it. */
function dying(
  store: Store,
  last: number,
  how: 'before' | 'after',
): { store: Store; hasDied: () => boolean } {
  let [left, isDead] = [last, false]
  return {
    hasDied: () => isDead,
    store: around(store, async (run) => {
      if (isDead) throw new UnavailableError('test/down', 'ask the store: the process is gone')
      left -= 1
      if (left >= 0) return run()
      isDead = true
      if (how === 'after') await run()
      throw new UncertainError('test/down', 'ask the store: the process is gone', { read: 'nothing' })
    }),
  }
}

async function runOne({ core, store }: CoreWorld, own: string, end = true): Promise<ExecutionId> {
  const execution = await start(core, own)
  for (const type of ['external.a', 'external.b', 'external.a'])
    await execution.events.publish(externalEvent(type), { idempotencyKey: `${type}${Math.random()}` })
  await execution.node('load').variables.set('load.rows', 3)
  const { checkpoints, engine } = executionKeys({ execution: execution.id })
  await store.commit({
    operations: [`${checkpoints}at:1`, `${engine}head`].map((key) => ({
      ...{ do: 'put', key },
      value: toBytes('{}'),
    })),
  })
  if (end) await execution.finish({ status: 'completed', outputs: { rows: 3 } })
  return execution.id
}

async function revisions(store: Store): Promise<ReadonlyMap<string, number>> {
  const { entries, next } = await store.range({ prefix: '', limit: 1000 })
  expect(next).toBeUndefined()
  return new Map(entries.map(({ key, revision }) => [key, revision]))
}

async function openWithOthers(kind: StoreKind, context: TestContext): Promise<CoreWorld> {
  const world = await openWorld(kind, context)
  await openMaintenance({ store: world.store, clock: world.clock }).sweepOnce()
  await world.store.clear('leases:')
  return world
}

describe.each(STORE_KINDS)('sweeps on $kind', (kind) => {
  test.for(['before', 'after'] as const)(
    'DO-181 a sweep that is killed %s any of its operations is finished by the next, and touches nobody else',
    async (how, context) => {
      const world = await openWithOthers(kind, context)
      const { store, clock } = world
      let last = 0
      for (let isOver = false; !isOver; last += 1) {
        const id = await runOne(world, `exec_${last}`)
        clock.move(2 * DAY_MS)
        for (const [own, ends] of [
          [`${id}0`, true],
          [`${id}-x`, false],
        ] as const)
          await runOne(world, own, ends)
        const isOwn = (key: string): boolean => key.endsWith(`:${id}`) || key.includes(`:${id}:`)
        const before = [...(await revisions(store))].filter(
          ([key]) => !isOwn(key) && !key.startsWith('leases:'),
        )
        const killed = dying(store, last, how)
        await openMaintenance({ store: killed.store, clock, retention: RETENTION })
          .sweepOnce()
          .catch(() => undefined)
        isOver = !killed.hasDied()
        await store.clear('leases:')
        await openMaintenance({ store, clock, retention: RETENTION }).sweepOnce()
        await store.clear('leases:')
        const after = await revisions(store)
        expect([...after.keys()].filter(isOwn)).toEqual([`executions:${id}`])
        expect((await store.get(`executions:${id}`))?.expires).toBe(true)
        expect([...after].filter(([key]) => !isOwn(key))).toEqual(before)
        for (const own of [id, `${id}0`, `${id}-x`])
          for (const family of [
            'events',
            'log',
            'variables',
            'history',
            'idempotency',
            'checkpoints',
            'engine',
          ])
            await store.clear(`${family}:${own}:`)
        await store.clear('ended:')
        await store.clear('engine-')
        await store.clear('executions:')
      }
      expect(last).toBeGreaterThan(OPERATIONS_OF_PASS + 4)
    },
  )

  test('DO-182 a sweep reads the record of an execution once, writes it twice, and clears in one step where it can', async (context) => {
    const world = await openWithOthers(kind, context)
    const { store, clock } = world
    const cost = async (): Promise<number> => {
      const counted = counting(store)
      const maintenance = openMaintenance({ store: counted.store, clock, retention: RETENTION })
      await maintenance.sweepOnce()
      const count = counted.count()
      await maintenance.release()
      return count
    }
    const idle = await cost()
    for (let n = 0; n < 5; n += 1) await runOne(world, `exec_${n}`)
    clock.move(2 * DAY_MS)
    expect(((await cost()) - idle) / 5).toBeLessThanOrEqual(store.clearEach === undefined ? 12 : 4)
  })
})
