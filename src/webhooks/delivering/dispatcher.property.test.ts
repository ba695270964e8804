// Goal: whatever the store and the receivers do, every event reaches its webhook or is dead, and nothing is left over.
// Method: each batch of the dispatcher meets a fault of a drawn row, each call an outcome of another; the dispatcher is replaced
// now and then. Once the rows are used up all must come to rest.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openLossyStore, STORE_FAULTS } from '../../../test/support/lossy-store.ts'
import { WEBHOOKS, type WebhookRecord } from '../records.ts'
import { openWebhooks } from '../webhooks.ts'
import { WEBHOOK_LEASE_MS } from '../limits.ts'
import { silentLogger } from '../../base/logger.ts'
import { openCore } from '../../core/life-cycle/core.ts'
import type { Store } from '../../core/ports.ts'
import { openRecordStore } from '../../core/records/record-store.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import type { WebhookDispatcher } from './dispatcher.ts'

const LOOKS_MAX = 3_000

const plans = fc.record({
  faults: fc.array(fc.constantFrom(...STORE_FAULTS), { maxLength: 40 }),
  /** Whether each call in turn is taken. */
  outcomes: fc.array(fc.boolean(), { maxLength: 20 }),
  events: fc.integer({ min: 1, max: 5 }),
  attempts: fc.integer({ min: 1, max: 3 }),
  /** After how many calls the dispatcher is replaced by another. */
  replaceAfter: fc.array(fc.integer({ min: 1, max: 10 }), { maxLength: 2 }),
})

test('DO-33 every event reaches its webhook or is dead, whatever the store loses and whoever delivers', async () => {
  await fc.assert(
    fc.asyncProperty(plans, async ({ faults, outcomes, events, attempts, replaceAfter }) => {
      const time = new ManualClock()
      const plain = openMemoryStore({ clock: time })
      const lossy = openLossyStore(plain, faults.values())
      const records = openRecordStore<WebhookRecord>(plain, WEBHOOKS)
      const webhooks = openWebhooks({ store: plain, logger: silentLogger }).ofTenant(undefined)
      const { id } = await webhooks.add({
        url: 'https://example.com/',
        types: ['external.**'],
        retry: { attempts, firstDelayMs: 0 },
      })
      const taken = new Set<string>()
      let calls = 0
      const dispatch = (): WebhookDispatcher =>
        openWebhooks({ store: lossy, logger: silentLogger, clock: time }).startDelivering({
          webhooks: () => records.list(),
          send: async (_, delivery) => {
            const isTaken = outcomes[calls] ?? true
            calls += 1
            await new Promise((resolve) => setImmediate(resolve))
            if (isTaken) taken.add(delivery.id)
            return isTaken ? undefined : 'it answered 500'
          },
          lookMs: 1,
        })
      const execution = await openCore({ store: plain, outbox: true }).startExecution({ name: 'etl' })
      const source = { entityType: 'external', entityId: 'a' } as const
      const wanted: string[] = []
      for (let at = 0; at < events; at++) {
        wanted.push(`${id}-${await execution.events.publish({ type: 'external.a.b', source })}`)
      }
      const replacing = [...replaceAfter]
      let dispatcher = dispatch()
      try {
        for (let looks = 0; !(await isAtRest(plain)); looks++) {
          expect(looks).toBeLessThan(LOOKS_MAX)
          if (calls >= (replacing[0] ?? Infinity)) {
            replacing.shift()
            await time.run(dispatcher.close())
            dispatcher = dispatch()
          }
          // A lease whose end was lost runs out.
          await time.advance(looks % 20 === 19 ? WEBHOOK_LEASE_MS : 1)
          await new Promise((resolve) => setImmediate(resolve))
        }
      } finally {
        await time.run(dispatcher.close())
      }
      const dead = await webhooks.dead(id)
      const ended = new Set([...taken, ...dead.deliveries.map((delivery) => delivery.id)])
      expect([...ended].sort()).toEqual([...wanted].sort())
      for (const delivery of dead.deliveries) expect(delivery.attempts).toBe(attempts)
      await plain.close()
    }),
    { numRuns: 60 },
  )
}, 120_000)

async function isAtRest(store: Store): Promise<boolean> {
  const found = await Promise.all(
    ['outbox:', 'server:deliveries:'].map((prefix) => store.range({ prefix, limit: 1 })),
  )
  return found.every(({ entries }) => entries.length === 0)
}
