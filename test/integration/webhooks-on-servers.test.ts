// Two instances that deliver webhooks from one store, on SQLite and on real servers: one delivers, and another goes on.
import { describe, expect, onTestFinished, test } from 'vitest'
import type { DeliveryRecord } from '../../src/webhooks/records.ts'
import { openWebhooks } from '../../src/webhooks/webhooks.ts'
import { silentLogger } from '../../src/base/logger.ts'
import { openCore } from '../../src/core/life-cycle/core.ts'
import type { Store } from '../../src/core/ports.ts'
import type { WebhookDispatcher } from '../../src/webhooks/delivering/dispatcher.ts'
import { externalEvent } from '../support/core-world.ts'
import { serverStores, STORE_KINDS } from '../support/stores.ts'

const SOON = { timeout: 20_000, interval: 50 }
const kinds = [...STORE_KINDS.filter(({ kind }) => kind === 'sqlite'), ...serverStores()]

describe.each(kinds)('webhooks on $kind', ({ open }) => {
  test('DO-25 DO-31 two instances send each event once, and the second continues where the first ended', async (context) => {
    const { store, openAnother } = await open(context)
    const sent: { readonly by: string; readonly delivery: DeliveryRecord }[] = []
    let isWell = true
    const dispatch = (by: string, over: Store): WebhookDispatcher => {
      const dispatcher = openWebhooks({ store: over, logger: silentLogger }).startDelivering({
        send: (_, delivery) => {
          sent.push({ by, delivery })
          return Promise.resolve(isWell ? undefined : 'it answered 500')
        },
        lookMs: 200,
      })
      onTestFinished(() => dispatcher.close())
      return dispatcher
    }
    const webhooks = openWebhooks({ store, logger: silentLogger }).ofTenant(undefined)
    const { id } = await webhooks.add({
      url: 'https://example.com/',
      types: ['external.**'],
      retry: { attempts: 1 },
    })
    const execution = await openCore({ store, outbox: true }).startExecution({ name: 'etl' })
    const publish = async (count: number): Promise<void> => {
      for (let at = 0; at < count; at++) await execution.events.publish(externalEvent('external.n', { at }))
    }
    const first = dispatch('first', await openAnother())
    await publish(1)
    await expect.poll(() => sent.length, SOON).toBe(1)
    dispatch('second', await openAnother())
    await publish(20)
    await expect.poll(() => sent.length, SOON).toBe(21)
    await first.close()
    await publish(20)
    await expect.poll(() => sent.length, SOON).toBe(41)
    expect(new Set(sent.map(({ delivery }) => delivery.id)).size).toBe(41)
    expect(sent.map(({ by }) => by)).toEqual([
      ...Array<string>(21).fill('first'),
      ...Array<string>(20).fill('second'),
    ])

    // What is dead is revived from elsewhere, and found by the one that delivers.
    isWell = false
    await publish(1)
    await expect.poll(async () => (await webhooks.dead(id)).deliveries.length, SOON).toBe(1)
    isWell = true
    expect(await webhooks.redeliverAll(id)).toEqual({ redelivered: 1, more: false })
    await expect.poll(() => sent.length, SOON).toBe(43)
    expect(sent[42]!.delivery.id).toBe(sent[41]!.delivery.id)
    await expect
      .poll(async () => (await store.range({ prefix: 'server:deliveries:' })).entries, SOON)
      .toEqual([])
  }, 60_000)
})
