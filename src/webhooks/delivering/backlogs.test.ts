// What waits for a receiver is bounded: over a core in memory, with receivers that are played.
import { expect, onTestFinished, test } from 'vitest'
import { silentLogger, type Logger } from '../../base/logger.ts'
import { openCore } from '../../core/life-cycle/core.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { WEBHOOK_IN_FLIGHT } from '../limits.ts'
import { openWebhooks } from '../webhooks.ts'
import type { BacklogLimits } from './backlogs.ts'
import { DeliveryStore } from './delivery-store.ts'
import type { DispatcherParts } from './dispatcher.ts'

function openWorld() {
  const store = openMemoryStore()
  const warnings: string[] = []
  const logger: Logger = { ...silentLogger, warn: (message) => void warnings.push(message) }
  const webhooks = openWebhooks({ store, logger, allowPrivate: true })
  const ending: (() => void)[] = []
  const sent: string[] = []
  onTestFinished(async () => {
    await store.close()
  })
  const dispatch = (backlogLimits: BacklogLimits, parts: Partial<DispatcherParts> = {}) => {
    const dispatcher = webhooks.startDelivering({
      backlogLimits,
      lookMs: 5,
      // Slow receivers answer when the test says so.
      send: ({ url }, { id }, signal) => {
        sent.push(id)
        if (!url.includes('slow')) return Promise.resolve(undefined)
        return new Promise((resolve) => {
          ending.push(() => resolve(undefined))
          signal.addEventListener('abort', () => resolve('cut'))
        })
      },
      ...parts,
    })
    onTestFinished(() => dispatcher.close())
    return dispatcher
  }
  const core = openCore({ store, outbox: true })
  return {
    ...{ store, warnings, sent, dispatch, ending },
    deliveries: new DeliveryStore(store),
    hooks: webhooks.ofTenant(undefined),
    add: (host: string) =>
      webhooks.ofTenant(undefined).add({ url: `http://${host}.example/`, types: ['external.**'] }),
    publish: async (execution: string, count: number) => {
      const { events } = await core.startExecution({ id: execution, name: 'etl' })
      const source = { entityType: 'external', entityId: 'a' } as const
      for (let at = 0; at < count; at += 1) await events.publish({ type: 'external.a.b', source })
    },
  }
}

/** For the machine to catch up. */
const PATIENT = { timeout: 20_000 }
const FEW: BacklogLimits = { perWebhook: 10, perTenant: 1_000 }

test('E-136 beyond the limit of a slow receiver deliveries are dead at once, none is lost, and others get theirs', async () => {
  const { deliveries, hooks, add, dispatch, publish, sent, ending } = openWorld()
  const [slow, well] = [await add('slow'), await add('well')]
  dispatch(FEW)
  const told = (): number => sent.filter((id) => id.startsWith(well.id)).length
  for (let round = 1; round <= 5; round += 1) {
    await publish(`exec_${round}`, 8)
    await expect.poll(told, PATIENT).toBe(8 * round)
  }
  await expect.poll(() => deliveries.outbox(), PATIENT).toEqual([])
  expect(sent.filter((id) => id.startsWith(slow.id))).toHaveLength(WEBHOOK_IN_FLIGHT)
  expect(await deliveries.count(slow.id, 1_000)).toBe(10)
  const { deliveries: dead } = await hooks.dead(slow.id)
  expect(dead).toHaveLength(30)
  expect(dead[0]).toMatchObject({
    attempts: 0,
    lastProblem: '10 deliveries wait for this webhook, which is the most',
  })
  expect((await hooks.dead(well.id)).deliveries).toEqual([])
  // All of them can be sent again.
  const answering = setInterval(() => ending.splice(0).forEach((end) => end()), 1)
  onTestFinished(() => clearInterval(answering))
  await expect.poll(() => deliveries.count(slow.id, 1_000), PATIENT).toBe(0)
  expect(await hooks.redeliverAll(slow.id)).toEqual({ redelivered: 30, more: false })
  const toldSlow = (): number => new Set(sent.filter((id) => id.startsWith(slow.id))).size
  await expect.poll(toldSlow, PATIENT).toBe(40)
})

test('E-136 the webhooks of a tenant have a limit together, and those of another tenant are not counted', async () => {
  const { deliveries, hooks, add, dispatch, publish } = openWorld()
  const both = [await add('slow-1'), await add('slow-2')]
  dispatch({ perWebhook: 1_000, perTenant: 12 })
  await publish('exec_1', 10)
  await expect.poll(() => deliveries.outbox(), PATIENT).toEqual([])
  const waiting = await Promise.all(both.map(({ id }) => deliveries.count(id, 1_000)))
  // The second delivery of the event that reaches the limit is made with it.
  expect(waiting).toEqual([6, 6])
  const dead = await Promise.all(both.map(async ({ id }) => (await hooks.dead(id)).deliveries))
  expect(dead.map(({ length }) => length)).toEqual([4, 4])
  expect(dead[0]?.[0]?.lastProblem).toBe(
    '12 deliveries wait for the webhooks of the tenant, which is the most',
  )
})

test('E-136 what waited before an instance delivered is counted as well', async () => {
  const { deliveries, hooks, add, dispatch, publish } = openWorld()
  const { id } = await add('slow')
  const first = dispatch(FEW)
  await publish('exec_1', 10)
  await expect.poll(() => deliveries.outbox(), PATIENT).toEqual([])
  await first.close()
  dispatch(FEW)
  await publish('exec_2', 5)
  await expect.poll(() => deliveries.outbox(), PATIENT).toEqual([])
  expect((await hooks.dead(id)).deliveries).toHaveLength(5)
})

test('E-137 a webhook says since when and why deliveries are dead at once, the log once, and no more when there is room', async () => {
  const { deliveries, hooks, add, dispatch, publish, ending, warnings } = openWorld()
  const { id } = await add('slow')
  dispatch(FEW)
  await publish('exec_1', 10)
  await expect.poll(() => deliveries.outbox(), PATIENT).toEqual([])
  expect(await hooks.show(id)).not.toHaveProperty('overflow')
  await publish('exec_2', 5)
  await expect.poll(() => deliveries.outbox(), PATIENT).toEqual([])
  const problem = '10 deliveries wait for this webhook, which is the most'
  expect(await hooks.show(id)).toMatchObject({ overflow: { problem, since: expect.any(String) as string } })
  expect(await hooks.list()).toMatchObject([{ id, overflow: { problem } }])
  expect(warnings.filter((message) => message.startsWith('too many deliveries wait'))).toHaveLength(1)
  const answering = setInterval(() => ending.splice(0).forEach((end) => end()), 1)
  onTestFinished(() => clearInterval(answering))
  await expect.poll(() => deliveries.count(id, 1_000), PATIENT).toBe(0)
  await expect.poll(async () => (await hooks.show(id)).overflow, PATIENT).toBeUndefined()
  await publish('exec_3', 1)
  // Until it is taken from the outbox, there is nothing to count.
  await expect.poll(() => deliveries.outbox(), PATIENT).toEqual([])
  await expect.poll(() => deliveries.count(id, 1_000), PATIENT).toBe(0)
  expect((await hooks.dead(id)).deliveries).toHaveLength(5)
})

test('E-137 nothing is left of a webhook over its limit that is removed', async () => {
  const { deliveries, hooks, add, dispatch, publish } = openWorld()
  const { id } = await add('slow')
  dispatch(FEW)
  await publish('exec_1', 12)
  await expect.poll(() => deliveries.overflows(), PATIENT).toHaveLength(1)
  await hooks.remove(id)
  await expect.poll(() => deliveries.overflows(), PATIENT).toEqual([])
})
