import { expect, onTestFinished, test } from 'vitest'
import { executionId, serverKey, tenantId } from '../core/keys.ts'
import { openMemoryStore } from '../stores/memory/memory-store.ts'
import { silentLogger } from '../base/logger.ts'
import { DeliveryStore } from './delivering/delivery-store.ts'
import type { DeliveryRecord } from './records.ts'
import { openWebhooks } from './webhooks.ts'

test('N-62 deliveries about a swept execution are forgotten, waiting and dead ones, and no others', async () => {
  const store = openMemoryStore()
  onTestFinished(() => store.close())
  const encode = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))
  for (const [webhook, tenant] of [['wh_a'], ['wh_b', 'acme']]) {
    await store.commit({
      operations: [
        {
          do: 'put',
          key: serverKey('webhooks', webhook ?? ''),
          value: encode({ id: webhook, ...(tenant === undefined ? {} : { tenant }) }),
        },
      ],
    })
  }
  const deliveries = new DeliveryStore(store)
  const deliver = async (webhook: string, execution: string, n: number): Promise<DeliveryRecord> => {
    const key = `outbox:${execution}:${String(n)}`
    await store.commit({ operations: [{ do: 'put', key, value: encode({}) }] })
    const kept = {
      id: `${webhook}-evt_${execution}_${String(n)}`,
      webhook,
      executionId: execution,
      eventType: 'a.completed',
      attempts: 0,
      nextAt: '2025-01-01T00:00:00.000Z',
      body: '{}',
    }
    const entry = { key, tenant: undefined } as Parameters<typeof deliveries.fanOut>[0]
    expect(await deliveries.fanOut(entry, [kept])).toBe(true)
    return kept
  }
  const left = async (): Promise<readonly (readonly string[])[]> =>
    Promise.all(
      ['wh_a', 'wh_b'].map(async (webhook) => [
        ...(await deliveries.next(webhook, 100)).map(({ id }) => `waits ${id}`),
        ...(await deliveries.dead(webhook, { limit: 100 })).deliveries.map(({ id }) => `dead ${id}`),
      ]),
    )
  for (const webhook of ['wh_a', 'wh_b']) {
    for (const execution of ['exec_1', 'exec_10', 'exec_2']) {
      await deliver(webhook, execution, 1)
      const dying = await deliver(webhook, execution, 2)
      await deliveries.giveUp(dying, dying)
    }
  }
  const before = await left()
  expect(before.flat()).toHaveLength(12)
  await openWebhooks({ store, logger: silentLogger }).forgetExecutions([
    { execution: executionId('exec_1'), tenant: undefined },
    { execution: executionId('exec_2'), tenant: tenantId('acme') },
  ])
  const [ofA = [], ofB = []] = before
  expect(await left()).toEqual([
    ofA.filter((shown) => !shown.includes('exec_1_')),
    ofB.filter((shown) => !shown.includes('exec_2_')),
  ])
})
