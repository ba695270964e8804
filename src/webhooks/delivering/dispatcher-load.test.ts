// What the dispatcher asks of its store: counted, however much waits, and when the store does not answer for a while.
import { afterEach, describe, expect, test } from 'vitest'
import { giveUpDelivery } from '../../../test/support/doors/world.ts'
import { WEBHOOKS, type DeliveryRecord, type WebhookRecord } from '../records.ts'
import { openWebhooks } from '../webhooks.ts'
import { systemClock, type Clock } from '../../base/clock.ts'
import { UnavailableError } from '../../base/errors.ts'
import { WEBHOOK_IN_FLIGHT, WEBHOOK_LEASE_MS } from '../limits.ts'
import { silentLogger } from '../../base/logger.ts'
import { openCore } from '../../core/life-cycle/core.ts'
import type { Store, StoreOperation, WatchNotice } from '../../core/ports.ts'
import { openRecordStore } from '../../core/records/record-store.ts'
import { DeliveryStore } from './delivery-store.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import type { WebhookDispatcher, DispatcherParts } from './dispatcher.ts'

const HOUR_MS = 3_600_000

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A store that counts what it is asked, and can be cut off. */
class CountedStore implements Store {
  readonly name = 'counted'
  readonly #store: Store
  calls = 0
  entries = 0
  /** How often a watch was opened, or tried to be. */
  watches = 0
  isDown = false
  /** Runs between a page that was read and its arrival. */
  onPage: ((request: Parameters<Store['range']>[0]) => Promise<void>) | undefined
  /** Ends every watch with an error. */
  breakWatches = new AbortController()

  constructor(store: Store) {
    this.#store = store
  }

  async get(...args: Parameters<Store['get']>): ReturnType<Store['get']> {
    this.#count()
    return this.#store.get(...args)
  }

  async range(...args: Parameters<Store['range']>): ReturnType<Store['range']> {
    this.#count()
    const page = await this.#store.range(...args)
    this.entries += page.entries.length
    await this.onPage?.(args[0])
    return page
  }

  async commit(...args: Parameters<Store['commit']>): ReturnType<Store['commit']> {
    this.#count()
    return this.#store.commit(...args)
  }

  async clear(...args: Parameters<Store['clear']>): ReturnType<Store['clear']> {
    this.#count()
    return this.#store.clear(...args)
  }

  async *watch({ signal, ...request }: Parameters<Store['watch']>[0]): AsyncGenerator<WatchNotice> {
    this.watches += 1
    if (this.isDown) throw new UnavailableError('test/down', 'watch: nobody answers')
    const breaking = this.breakWatches.signal
    yield* this.#store.watch({ ...request, signal: AbortSignal.any([signal, breaking]) })
    if (!signal.aborted) throw new UnavailableError('test/cut', 'watch: the connection was cut')
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  /** What was asked since the last time. */
  take(): { readonly calls: number; readonly entries: number } {
    const { calls, entries } = this
    this.calls = this.entries = 0
    return { calls, entries }
  }

  #count(): void {
    this.calls += 1
    if (this.isDown) throw new UnavailableError('test/down', 'ask the store: nobody answers')
  }
}

interface World {
  readonly store: CountedStore
  readonly add: (types?: readonly string[]) => Promise<WebhookRecord>
  readonly remove: (id: string) => Promise<void>
  readonly deliveries: DeliveryStore
  readonly records: ReturnType<typeof openRecordStore<WebhookRecord>>
  /** What was sent, in its order. */
  readonly sent: DeliveryRecord[]
  readonly dispatch: (parts?: Partial<DispatcherParts>) => WebhookDispatcher
  readonly publish: (execution: string, count?: number) => Promise<void>
}

function open(clock: Clock = systemClock): World {
  const plain = openMemoryStore({ clock })
  closing.push(() => plain.close())
  const store = new CountedStore(plain)
  const deliveries = new DeliveryStore(store)
  const records = openRecordStore<WebhookRecord>(store, WEBHOOKS)
  const webhooks = openWebhooks({ store, logger: silentLogger, clock })
  const ofDefault = webhooks.ofTenant(undefined)
  const core = openCore({ store: plain, outbox: true })
  const sent: DeliveryRecord[] = []
  return {
    store,
    deliveries,
    records,
    sent,
    add: (types = ['external.**']) =>
      ofDefault.add({ url: 'https://example.com/', types, retry: { firstDelayMs: HOUR_MS } }),
    remove: (id) => ofDefault.remove(id),
    dispatch: (parts = {}) => {
      const dispatcher = webhooks.startDelivering({
        send: (_, delivery) => {
          sent.push(delivery)
          return Promise.resolve(undefined)
        },
        ...parts,
      })
      closing.push(() => dispatcher.close())
      return dispatcher
    },
    async publish(id, count = 1) {
      const execution = await core.startExecution({ id, name: 'etl' })
      const source = { entityType: 'external', entityId: 'a' } as const
      for (let at = 0; at < count; at++) await execution.events.publish({ type: 'external.a.b', source })
    },
  }
}

/** Puts deliveries among those that wait, a hundred at a time. */
async function putWaiting(
  store: Store,
  { id: webhook }: WebhookRecord,
  { count, dueMs, name }: { readonly count: number; readonly dueMs: number; readonly name: string },
): Promise<void> {
  const operations = Array.from({ length: count }, (_, at): StoreOperation => {
    const event = `evt_${name}${String(at)}`
    const delivery: DeliveryRecord = {
      id: `${webhook}-${event}`,
      webhook,
      executionId: 'exec_1',
      eventType: 'external.a.b',
      body: '{}',
      attempts: 1,
      nextAt: new Date(dueMs).toISOString(),
    }
    return {
      do: 'put',
      key: `server:deliveries:${webhook}-${String(dueMs).padStart(16, '0')}-${event}`,
      value: new TextEncoder().encode(JSON.stringify(delivery)),
    }
  })
  for (let at = 0; at < count; at += 100) await store.commit({ operations: operations.slice(at, at + 100) })
}

async function turn(clock: ManualClock, durationMs: number, stepMs = 1_000): Promise<void> {
  for (let left = durationMs; left > 0; left -= stepMs) {
    await clock.advance(Math.min(stepMs, left))
    // Watches and what they wake take a few turns.
    for (let count = 0; count < 5; count++) await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('what is asked of the store', () => {
  test('DO-31 ten thousand deliveries that are not due are not read, and cost nothing while they wait', async () => {
    const clock = new ManualClock()
    const startMs = clock.now().getTime()
    const { store, add, dispatch, sent } = open(clock)
    const webhooks = [await add(), await add(), await add()] as const
    const far = { dueMs: startMs + HOUR_MS, name: 'far' }
    await putWaiting(store, webhooks[0], { ...far, count: 4_000 })
    await putWaiting(store, webhooks[1], { ...far, count: 3_000 })
    await putWaiting(store, webhooks[2], { ...far, count: 3_000 })
    await putWaiting(store, webhooks[1], { count: 3, dueMs: startMs, name: 'now' })
    await putWaiting(store, webhooks[2], { count: 2, dueMs: startMs + 600_000, name: 'soon' })
    store.take()
    dispatch()
    await expect.poll(() => sent.length).toBe(3)
    await turn(clock, 5_000)
    // For each webhook what is in front; not one of ten thousand more than that.
    const first = store.take()
    expect(first.calls).toBeLessThan(50)
    expect(first.entries).toBeLessThan(150)

    await turn(clock, 500_000)
    // Only the right to deliver is renewed: one reading and one writing each time.
    const renewals = 500_000 / (WEBHOOK_LEASE_MS / 3)
    const idle = store.take()
    expect(idle.entries).toBe(0)
    expect(idle.calls).toBeLessThanOrEqual(2 * (renewals + 1))

    await turn(clock, 100_000)
    expect(sent.map(({ id }) => id.replace(/.*-/, ''))).toEqual([
      ...['evt_now0', 'evt_now1', 'evt_now2'],
      ...['evt_soon0', 'evt_soon1'],
    ])
    const second = store.take()
    expect(second.entries).toBeLessThan(100)
    expect(second.calls).toBeLessThan(2 * (100_000 / (WEBHOOK_LEASE_MS / 3)) + 30)
  })

  test('DO-31 DO-24 ten thousand deliveries to a silent receiver delay no other, and are not read repeatedly', async () => {
    const clock = new ManualClock()
    const startMs = clock.now().getTime()
    const { store, add, dispatch, sent } = open(clock)
    const [silent, well] = [await add(), await add()]
    await putWaiting(store, silent, { count: 10_000, dueMs: startMs, name: 'silent' })
    await putWaiting(store, well, { count: 20, dueMs: startMs, name: 'well' })
    store.take()
    let held = 0
    dispatch({
      send: (webhook, delivery, signal) => {
        if (webhook.id !== silent.id) {
          sent.push(delivery)
          return Promise.resolve(undefined)
        }
        held += 1
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve('cut')))
      },
    })
    await expect.poll(() => sent.length).toBe(20)
    expect(held).toBe(WEBHOOK_IN_FLIGHT)
    await turn(clock, 60_000)
    const { calls, entries } = store.take()
    expect(entries).toBeLessThan(20 * 2 * WEBHOOK_IN_FLIGHT + 200)
    expect(calls).toBeLessThan(250)
    expect(held).toBe(WEBHOOK_IN_FLIGHT)
  })

  test('DO-31 an event is on its way without waiting for the next look, and a standby only looks whose turn it is', async () => {
    const clock = new ManualClock()
    const { store, add, dispatch, publish, sent } = open(clock)
    await add()
    dispatch()
    await turn(clock, 1_000)
    dispatch()
    await turn(clock, 1_000)
    // Time stands still: only the watch can tell.
    await publish('exec_1', 3)
    await expect.poll(() => sent.length).toBe(3)
    await turn(clock, 1_000)
    store.take()
    await turn(clock, 10_000)
    // The second asks once a second; the first renews.
    const { calls, entries } = store.take()
    expect(calls).toBeLessThanOrEqual(11 + 2 * 3)
    expect(entries).toBe(0)
  })

  test('DO-31 a delivery that somebody else revives is sent without waiting for a look', async () => {
    const clock = new ManualClock()
    const { store, add, dispatch, publish, sent } = open(clock)
    const webhook = await add()
    let isWell = false
    dispatch({
      send: (_, delivery) => {
        if (isWell) sent.push(delivery)
        return Promise.resolve(isWell ? undefined : 'it answered 500')
      },
      webhooks: () => Promise.resolve([{ ...webhook, retry: { attempts: 1, firstDelayMs: 0 } }]),
    })
    await publish('exec_1')
    const other = openWebhooks({ store, logger: silentLogger, clock }).ofTenant(undefined)
    await expect.poll(async () => (await other.dead(webhook.id)).deliveries.length).toBe(1)
    isWell = true
    expect(await other.redeliverAll(webhook.id)).toEqual({ redelivered: 1, more: false })
    await expect.poll(() => sent.length).toBe(1)
  })
})

describe('what must not happen', () => {
  test('DO-32 nothing waits for a webhook that was removed while its event was handed out, and the others are told', async () => {
    const { store, add, remove, records, dispatch, publish, sent } = open()
    const [leaving, staying] = [await add(), await add()]
    await publish('exec_1')
    let isFirst = true
    dispatch({
      lookMs: 5,
      webhooks: async () => {
        const known = await records.list()
        if (isFirst) await remove(leaving.id)
        isFirst = false
        return known
      },
    })
    await expect.poll(() => sent.map(({ webhook }) => webhook)).toEqual([staying.id])
    await expect.poll(async () => (await store.range({ prefix: 'server:deliveries:' })).entries).toEqual([])
    expect((await store.range({ prefix: 'outbox:' })).entries).toEqual([])
  })

  test('DO-32 a dead delivery of a webhook that is being removed is not revived', async () => {
    const { deliveries, add, records, store } = open()
    const { id } = await add()
    const dead: DeliveryRecord = {
      id: `${id}-evt_1`,
      webhook: id,
      executionId: 'exec_1',
      eventType: 'external.a.b',
      body: '{}',
      attempts: 1,
      nextAt: new Date(0).toISOString(),
    }
    await store.commit({ operations: [{ do: 'put', key: 'outbox:exec_1:1', value: new Uint8Array() }] })
    await expect(deliveries.fanOut({ key: 'outbox:exec_1:1' }, [dead])).resolves.toBe(true)
    await deliveries.giveUp(dead, dead)
    await records.remove(id)
    await expect(deliveries.revive(dead)).resolves.toBe(false)
    await expect(deliveries.next(id, 10)).resolves.toEqual([])
  })

  test('DO-29 what was given up is kept for thirty days, and no longer', async () => {
    const clock = new ManualClock()
    const { deliveries, add, store } = open(clock)
    const { id } = await add()
    await giveUpDelivery({ store, deliveries }, id)
    await clock.advance(30 * 24 * HOUR_MS - 1)
    expect((await deliveries.dead(id, { limit: 10 })).deliveries).toHaveLength(1)
    await clock.advance(1)
    expect((await deliveries.dead(id, { limit: 10 })).deliveries).toEqual([])
  })

  test('DO-33 a delivery that ends while a page with it is on its way is not made again', async () => {
    const { store, add, dispatch, publish, sent } = open()
    await add()
    let end = (): void => undefined
    dispatch({
      send: (_, delivery) => {
        sent.push(delivery)
        if (sent.length > 1) return Promise.resolve(undefined)
        return new Promise((resolve) => (end = () => resolve(undefined)))
      },
    })
    await publish('exec_1')
    await expect.poll(() => sent.length).toBe(1)
    const waits = async (): Promise<boolean> =>
      (await store.range({ prefix: 'server:deliveries:' })).entries.some(({ value }) =>
        new TextDecoder().decode(value).includes(sent[0]?.id ?? ''),
      )
    let held = 0
    store.onPage = async ({ prefix }) => {
      if (!prefix.startsWith('server:deliveries:wh_') || held > 0) return
      held += 1
      end()
      while (await waits()) await new Promise((resolve) => setImmediate(resolve))
      for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve))
    }
    await publish('exec_2')
    await expect.poll(() => sent.length).toBe(2)
    await expect.poll(async () => (await store.range({ prefix: 'server:deliveries:' })).entries).toEqual([])
    expect(held).toBe(1)
    expect(new Set(sent.map(({ id }) => id)).size).toBe(sent.length)
  })

  test('DO-33 a store that does not answer for a while, and watches that are cut, lose no delivery', async () => {
    const { store, add, dispatch, publish, sent } = open()
    await add()
    dispatch({ lookMs: 5 })
    await publish('exec_1', 5)
    await expect.poll(() => sent.length).toBe(5)
    store.isDown = true
    store.breakWatches.abort()
    store.breakWatches = new AbortController()
    await publish('exec_2', 150)
    const opened = store.watches
    await expect.poll(() => store.watches).toBeGreaterThan(opened + 3)
    store.isDown = false
    await expect.poll(() => new Set(sent.map(({ id }) => id)).size, { timeout: 10_000 }).toBe(155)
    // The watches are back as well: nothing is looked for any more, and yet the next event is found.
    await publish('exec_3', 1)
    await expect.poll(() => new Set(sent.map(({ id }) => id)).size).toBe(156)
  })

  test('DO-33 an outcome that the store does not take is no reason to call a receiver without pause', async () => {
    const clock = new ManualClock()
    const { store, add, dispatch, publish } = open(clock)
    await add()
    let calls = 0
    dispatch({
      send: () => {
        calls += 1
        store.isDown = calls < 4
        return Promise.resolve(undefined)
      },
    })
    await publish('exec_1')
    await expect.poll(() => calls).toBe(1)
    await turn(clock, 0)
    expect(calls).toBe(1)
    store.isDown = false
    await turn(clock, 1_000)
    await expect.poll(() => calls).toBe(2)
  })
})
