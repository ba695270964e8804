// Webhooks over a core in memory, with receivers on loopback; time is moved by hand where delays matter.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, test } from 'vitest'
import type { DeliveryRecord } from '../records.ts'
import { openWebhooks } from '../webhooks.ts'
import type { TenantWebhooks } from '../subscriptions/tenant-webhooks.ts'
import { systemClock, type Clock } from '../../base/clock.ts'
import { WEBHOOKS_PER_TENANT_MAX, WEBHOOK_IN_FLIGHT, WEBHOOK_PAYLOAD_MAX_BYTES } from '../limits.ts'
import { silentLogger } from '../../base/logger.ts'
import { openCore, type Core } from '../../core/life-cycle/core.ts'
import type { Store } from '../../core/ports.ts'
import { DeliveryStore } from './delivery-store.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import type { WebhookDispatcher, DispatcherParts } from './dispatcher.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface World {
  readonly store: Store
  readonly core: Core
  readonly webhooks: TenantWebhooks
  readonly acme: TenantWebhooks
  readonly deliveries: DeliveryStore
  readonly dispatch: (parts?: Partial<DispatcherParts>) => WebhookDispatcher
}

function open(clock: Clock = systemClock): World {
  const store = openMemoryStore()
  closing.push(() => store.close())
  const webhooks = openWebhooks({ store, logger: silentLogger, allowPrivate: true, clock })
  return {
    store,
    core: openCore({ store, outbox: true }),
    deliveries: new DeliveryStore(store),
    webhooks: webhooks.ofTenant(undefined),
    acme: webhooks.ofTenant('acme'),
    dispatch: (parts = {}) => {
      const dispatcher = webhooks.startDelivering(parts)
      closing.push(() => dispatcher.close())
      return dispatcher
    },
  }
}

interface Call {
  readonly method: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

async function receiver(
  answer: (response: ServerResponse, calls: number) => void = (response) => response.end(),
) {
  const calls: Call[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      calls.push({ method: request.method, headers: request.headers, body })
      answer(response, calls.length)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return { calls, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
}

const types = (calls: readonly Call[]) =>
  calls.map(({ body }) => (JSON.parse(body) as { event_type: string }).event_type)

/** All that waits, by webhook and then by the time at which it is due. */
async function waiting(store: Store): Promise<readonly DeliveryRecord[]> {
  const { entries } = await store.range({ prefix: 'server:deliveries:', limit: 1_000 })
  return entries.map(({ value }) => JSON.parse(new TextDecoder().decode(value)) as DeliveryRecord)
}

/** The methods of a handle and of what it holds: `events.publish`. */
function listMethods(handle: object, prefix = ''): readonly string[] {
  return Object.entries(handle).flatMap(([name, member]: [string, unknown]) => {
    if (typeof member === 'function') return [prefix + name]
    return typeof member === 'object' && member !== null ? listMethods(member, `${prefix}${name}.`) : []
  })
}

async function runPipeline(core: Core, id = 'exec_1'): Promise<void> {
  const execution = await core.startExecution({ id, name: 'etl' })
  const source = { entityType: 'node', entityId: 'a' } as const
  await execution.events.publish({ type: 'a.started', source })
  await execution.events.publish({ type: 'a.completed', source, payload: { rows: 7 } })
  await execution.finish({ status: 'completed' })
}

describe('deliveries', () => {
  test('E-103 a webhook is sent the events of the types it subscribed to, and no others', async () => {
    const { core, webhooks, dispatch } = open()
    const [one, other] = [await receiver(), await receiver()]
    await webhooks.add({ url: one.url, types: ['pipeline.completed'] })
    await webhooks.add({ url: other.url, types: ['*.completed', 'pipeline.started'] })
    dispatch()
    await runPipeline(core)
    await expect.poll(() => other.calls.length).toBe(3)
    await expect.poll(() => one.calls.length).toBe(1)
    expect(types(one.calls)).toEqual(['pipeline.completed'])
    expect(types(other.calls).sort()).toEqual(['a.completed', 'pipeline.completed', 'pipeline.started'])
  })

  test('E-104 E-108 a delivery is a signed POST with the type, execution and time of the event', async () => {
    const { core, webhooks, dispatch } = open()
    const { calls, url } = await receiver()
    const hook = await webhooks.add({ url, types: ['pipeline.completed'] })
    dispatch()
    await runPipeline(core)
    await expect.poll(() => calls.length).toBe(1)
    const [call] = calls
    const verified = new Webhook(hook.secret).verify(call!.body, call!.headers as Record<string, string>)
    expect(verified).toEqual(JSON.parse(call!.body))
    const stored = await core.events.getEvent('exec_1' as never, 'pipeline.completed')
    expect(call).toMatchObject({ method: 'POST', headers: { 'perago-event': 'pipeline.completed' } })
    expect(JSON.parse(call!.body)).toMatchObject({
      id: stored!.id,
      event_type: 'pipeline.completed',
      execution_id: 'exec_1',
      timestamp: stored!.timestamp,
    })
  })

  test('E-105 two failures and a success are three calls with the configured delays', async () => {
    const clock = new ManualClock()
    const { core, webhooks, dispatch, store } = open(clock)
    const at: number[] = []
    const answers = ['it answered 500', 'it did not answer', undefined]
    await webhooks.add({
      url: 'https://example.com/',
      types: ['a.completed'],
      retry: { attempts: 5, firstDelayMs: 30_000 },
    })
    dispatch({
      send: () => (at.push(clock.monotonicMs()), Promise.resolve(answers[at.length - 1])),
      lookMs: 1_000,
    })
    await runPipeline(core)
    for (let seconds = 0; seconds < 120; seconds++) {
      await new Promise((resolve) => setImmediate(resolve))
      await clock.advance(1_000)
    }
    expect(at).toHaveLength(3)
    const [first = 0, second = 0, third = 0] = at
    expect([second - first, third - second]).toEqual([30_000, 60_000])
    await expect(waiting(store)).resolves.toEqual([])
  })

  test('E-106 an event and its place in the outbox are one write, which nobody waits for beyond', async () => {
    const { core, store, deliveries, webhooks, dispatch } = open()
    const { url, calls } = await receiver()
    await webhooks.add({ url, types: ['**'] })
    // Nobody delivers yet: whatever was published stands in the outbox, and nothing was called.
    await runPipeline(core)
    const waiting = (await store.range({ prefix: 'outbox:' })).entries.map(({ key }) => key)
    expect(waiting).toEqual([1, 2, 3, 4].map((at) => `outbox:exec_1:${String(at).padStart(16, '0')}`))
    expect(calls).toEqual([])
    dispatch()
    await expect.poll(() => calls.length).toBe(4)
    await expect.poll(() => deliveries.outbox()).toEqual([])
    // Without the outbox nothing is put there.
    await runPipeline(openCore({ store }), 'exec_2')
    await expect(deliveries.outbox()).resolves.toEqual([])
  })

  test('E-107 a delivery that never succeeds is dead and told as such, and can be sent again', async () => {
    let isWell = false
    const { core, webhooks, dispatch, store } = open()
    const { url, calls } = await receiver((response) => response.writeHead(isWell ? 204 : 500).end())
    const hook = await webhooks.add({
      url,
      types: ['a.completed'],
      retry: { attempts: 3, firstDelayMs: 0 },
    })
    dispatch({ lookMs: 5 })
    await runPipeline(core)
    await expect.poll(async () => (await webhooks.dead(hook.id)).deliveries).toHaveLength(1)
    expect(calls).toHaveLength(3)
    expect(new Set(calls.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    const {
      deliveries: [dead],
    } = await webhooks.dead(hook.id)
    expect(dead).toMatchObject({ attempts: 3, lastProblem: 'it answered 500', eventType: 'a.completed' })
    isWell = true
    await webhooks.redeliver(hook.id, dead!.id)
    await expect.poll(() => calls.length).toBe(4)
    await expect.poll(() => waiting(store)).toEqual([])
    await expect(webhooks.dead(hook.id)).resolves.toMatchObject({ deliveries: [] })
    await expect(webhooks.redeliver(hook.id, dead!.id)).rejects.toMatchObject({ kind: 'missing' })
  })

  test('E-110 DO-24 a receiver that never answers delays neither an execution nor another webhook', async () => {
    const { core, webhooks, dispatch } = open()
    const silent = await receiver(() => undefined)
    const well = await receiver()
    await webhooks.add({ url: silent.url, types: ['**'] })
    await webhooks.add({ url: well.url, types: ['**'] })
    dispatch({ lookMs: 5 })
    // Each of these ends while the silent receiver holds all the calls that it is given.
    for (let count = 0; count < 5; count++) await runPipeline(core, `exec_${String(count)}`)
    await expect.poll(() => well.calls.length).toBe(20)
    expect(silent.calls).toHaveLength(WEBHOOK_IN_FLIGHT)
  })

  test('DO-24 an event of the largest payload leaves the outbox for as many webhooks as there may be', async () => {
    const { core, webhooks, dispatch, deliveries, store } = open()
    for (let count = 0; count < WEBHOOKS_PER_TENANT_MAX; count++) {
      await webhooks.add({ url: 'https://example.com/', types: ['external.**'] })
    }
    await expect(webhooks.add({ url: 'https://example.com/', types: ['a.b'] })).rejects.toMatchObject({
      code: 'api/too-many-webhooks',
    })
    const execution = await core.startExecution({ id: 'exec_1', name: 'etl' })
    const source = { entityType: 'external', entityId: 'a' } as const
    // Quotes double each time they are put into a text.
    const largest = { text: '"'.repeat((WEBHOOK_PAYLOAD_MAX_BYTES - '{"text":""}'.length - 1) / 2) }
    await execution.events.publish({ type: 'external.a.b', source, payload: largest })
    await execution.events.publish({ type: 'external.a.c', source, payload: { text: 'x'.repeat(20_000) } })
    dispatch({
      send: (_, __, signal) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve('cut'))),
    })
    await expect.poll(() => deliveries.outbox()).toEqual([])
    const bodies = (await waiting(store)).map(({ body }) => JSON.parse(body) as Record<string, unknown>)
    expect(bodies).toHaveLength(2 * WEBHOOKS_PER_TENANT_MAX)
    expect(bodies.filter(({ payload }) => payload !== undefined)).toHaveLength(WEBHOOKS_PER_TENANT_MAX)
    expect(bodies.filter(({ payload_omitted }) => payload_omitted === true)).toHaveLength(
      WEBHOOKS_PER_TENANT_MAX,
    )
  })

  test('DO-25 of two instances over one store one delivers, and the other goes on when it ends', async () => {
    const { core, webhooks, dispatch } = open()
    const { url, calls } = await receiver()
    await webhooks.add({ url, types: ['a.completed'] })
    const first = dispatch({ lookMs: 5 })
    await runPipeline(core)
    await expect.poll(() => calls.length).toBe(1)
    dispatch({ lookMs: 5 })
    await runPipeline(core, 'exec_2')
    await expect.poll(() => calls.length).toBe(2)
    await first.close()
    await runPipeline(core, 'exec_3')
    await expect.poll(() => calls.length).toBe(3)
    expect(new Set(calls.map(({ headers }) => headers['webhook-id'])).size).toBe(3)
  })

  test('DO-25 a delivery that was under way when its instance ended is made by the next', async () => {
    const { core, webhooks, dispatch } = open()
    let isSilent = true
    const { url, calls } = await receiver((response) => (isSilent ? undefined : response.end()))
    await webhooks.add({ url, types: ['a.completed'] })
    const first = dispatch({ lookMs: 5 })
    await runPipeline(core)
    await expect.poll(() => calls.length).toBe(1)
    await first.close()
    isSilent = false
    dispatch({ lookMs: 5 })
    await expect.poll(() => calls.length).toBe(2)
    expect(calls[1]!.headers['webhook-id']).toBe(calls[0]!.headers['webhook-id'])
  })
})

test('DO-25 an event that another instance has taken out of the outbox is not delivered again', async () => {
  const { core, webhooks, store, deliveries } = open()
  const { id } = await webhooks.add({ url: 'https://example.com/', types: ['**'] })
  await core.startExecution({ id: 'exec_1', name: 'etl' })
  // Both have read the same page when the first takes the event, and its receiver has it already.
  const [entry] = await deliveries.outbox()
  const delivery = {
    ...{ id: `${id}-${entry!.event.id}`, webhook: id, executionId: 'exec_1', eventType: entry!.event.type },
    ...{ body: '{}', attempts: 0, nextAt: '2025-01-01T00:00:00.000Z' },
  }
  expect(await deliveries.fanOut(entry!, [delivery])).toBe(true)
  await deliveries.delivered(delivery)
  expect(await new DeliveryStore(store).fanOut(entry!, [delivery])).toBe(true)
  expect(await waiting(store)).toEqual([])
})

test('DO-32 a delivery under way when its webhook is removed neither waits again nor is dead', async () => {
  const { core, webhooks, store, deliveries } = open()
  const { id } = await webhooks.add({ url: 'https://example.com/', types: ['**'] })
  await core.startExecution({ id: 'exec_1', name: 'etl' })
  const [entry] = await deliveries.outbox()
  const delivery = {
    ...{ id: `${id}-${entry!.event.id}`, webhook: id, executionId: 'exec_1', eventType: entry!.event.type },
    ...{ body: '{}', attempts: 0, nextAt: '2025-01-01T00:00:00.000Z' },
  }
  expect(await deliveries.fanOut(entry!, [delivery])).toBe(true)
  await webhooks.remove(id)
  await deliveries.keepWaiting(delivery, { ...delivery, attempts: 1, nextAt: '2025-01-01T00:01:00.000Z' })
  await deliveries.giveUp(delivery, { ...delivery, attempts: 2 })
  // Another event, taken out of the outbox for a webhook that was still there when it was read.
  await runPipeline(core, 'exec_2')
  const [next] = await deliveries.outbox()
  expect(await deliveries.fanOut(next!, [{ ...delivery, id: `${id}-${next!.event.id}` }])).toBe(false)
  expect(await deliveries.outbox()).toHaveLength(4)
  expect(await waiting(store)).toEqual([])
  expect((await store.range({ prefix: 'server:dead-deliveries:' })).entries).toEqual([])
})

describe('who adds webhooks', () => {
  test('E-89 a webhook is sent the events of its own tenant alone, and nothing inside an execution adds one', async () => {
    const { webhooks, acme, core, store, dispatch } = open()
    const { url, calls } = await receiver()
    const hook = await acme.add({ url, types: ['**'] })
    dispatch({ lookMs: 5 })
    await runPipeline(core)
    await runPipeline(openCore({ store, tenant: 'acme', outbox: true }), 'exec_2')
    await expect.poll(() => calls.length).toBe(4)
    expect(
      new Set(calls.map(({ body }) => (JSON.parse(body) as { execution_id: string }).execution_id)),
    ).toEqual(new Set(['exec_2']))
    await expect(webhooks.list()).resolves.toEqual([])
    await expect(webhooks.remove(hook.id)).rejects.toMatchObject({ kind: 'missing' })
    expect(JSON.stringify(await acme.list())).not.toContain(hook.secret)
    // A pipeline's own handle has no way to make one.
    expect(
      Object.keys(await core.openExecution('exec_1')).filter((name) => /hook|subscri/i.test(name)),
    ).toEqual([])
  })

  test('E-89 a webhook of the default tenant is sent nothing of any other tenant', async () => {
    const { webhooks, core, store, deliveries, dispatch } = open()
    const { url, calls } = await receiver()
    await webhooks.add({ url, types: ['**'] })
    // Before the dispatcher begins, so that all of them are fanned out together.
    await runPipeline(openCore({ store, tenant: 'acme', outbox: true }), 'exec_2')
    await runPipeline(core)
    dispatch({ lookMs: 5 })
    await expect.poll(() => deliveries.outbox()).toEqual([])
    await expect.poll(() => waiting(store)).toEqual([])
    const told = calls.map(({ body }) => (JSON.parse(body) as { execution_id: string }).execution_id)
    expect(told).toEqual(Array<string>(4).fill('exec_1'))
  })

  test('E-89 what runs inside an execution can watch its own variables and subscribe to nothing else', async () => {
    const { core } = open()
    const execution = await core.startExecution({ id: 'exec_1', name: 'etl' })
    const watching = [execution, execution.node('a')].flatMap((handle) => listMethods(handle))
    expect(watching).toContain('events.publish')
    expect(watching.filter((name) => /watch|subscri|listen|hook|follow|\bon\b/i.test(name))).toEqual([
      'variables.watch',
      'variables.watch',
    ])
  })

  test('DO-26 a webhook that is removed is sent nothing more', async () => {
    const { webhooks, core, dispatch, store } = open()
    const { url, calls } = await receiver((response) => response.writeHead(500).end())
    const hook = await webhooks.add({
      url,
      types: ['a.*'],
      retry: { attempts: 20, firstDelayMs: 5 },
    })
    dispatch({ lookMs: 5 })
    await runPipeline(core)
    await expect.poll(() => calls.length).toBeGreaterThan(2)
    await webhooks.remove(hook.id)
    await expect.poll(() => waiting(store)).toEqual([])
    await expect(webhooks.dead(hook.id)).rejects.toMatchObject({ code: 'api/no-such-webhook' })
  })

  test.each([
    [{ url: 'ftp://example.com/', types: ['a.b'] }, 'http or https'],
    [{ url: 'https://ada:x@example.com/', types: ['a.b'] }, 'credentials'],
    [{ url: 'https://example.com/', types: [] }, 'name 1 to 32 types'],
    [{ url: 'https://example.com/', types: ['a..b'] }, 'pattern'],
    [{ url: 'https://example.com/', types: ['a.b'], retry: { attempts: 0 } }, 'from 1 to 20'],
    [{ url: 'https://example.com/', types: ['a.b'], retry: { firstDelayMs: -1 } }, 'from 0 to 3600000'],
  ])('DO-26 %j is refused: %s', async (wanted, problem) => {
    const { webhooks } = open()
    await expect(webhooks.add(wanted)).rejects.toThrow(problem)
  })
})
