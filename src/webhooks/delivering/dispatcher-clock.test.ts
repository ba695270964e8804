// Goal: deliveries go on within the delays of their webhooks, whatever is done to the wall clock.
// Method: dispatchers over one SQLite file, which expires entries by the wall time; the time is moved, and set, by the test.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SteppedClock } from '../../../test/support/stepped-clock.ts'
import { silentLogger } from '../../base/logger.ts'
import { openCore } from '../../core/life-cycle/core.ts'
import { openSqliteStore } from '../../stores/sqlite/sqlite-store.ts'
import { WEBHOOK_LEASE_MS } from '../limits.ts'
import type { DeliveryRecord } from '../records.ts'
import { openWebhooks } from '../webhooks.ts'
import type { WebhookDispatcher } from './dispatcher.ts'

const STEP_MS = 3 * 3_600_000

async function world() {
  const directory = await mkdtemp(join(tmpdir(), 'perago-webhooks-'))
  const clock = new SteppedClock()
  const open = () => openSqliteStore({ file: join(directory, 'store.db'), clock })
  const store = open()
  const webhooks = openWebhooks({ store, logger: silentLogger, clock })
  const dispatchers: (() => Promise<void>)[] = []
  const sent: DeliveryRecord[] = []
  let problem: string | undefined
  const turn = async (durationMs: number): Promise<void> => {
    for (let leftMs = durationMs; leftMs > 0; leftMs -= 1_000) {
      await clock.advance(Math.min(1_000, leftMs))
      // What the file was asked for.
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  }
  onTestFinished(async () => {
    const closed = Promise.all(dispatchers.map((close) => close()))
    await turn(5_000)
    await closed
    await store.close()
    await rm(directory, { recursive: true })
  })
  const core = openCore({ store, outbox: true, clock })
  return {
    clock,
    sent,
    turn,
    fail: (wanted: string | undefined) => (problem = wanted),
    add: (firstDelayMs: number) =>
      webhooks.ofTenant(undefined).add({
        url: 'https://example.com/',
        types: ['external.**'],
        retry: { attempts: 8, firstDelayMs },
      }),
    /** Another instance, with its own connection. */
    dispatch: (): WebhookDispatcher => {
      const own = open()
      const dispatcher = openWebhooks({ store: own, logger: silentLogger, clock }).startDelivering({
        send: (_, delivery) => {
          sent.push(delivery)
          return Promise.resolve(problem)
        },
      })
      dispatchers.push(async () => {
        await dispatcher.close()
        await own.close()
      })
      return dispatcher
    },
    /** As after a kill: its lease is not given back. */
    kill: async (dispatcher: WebhookDispatcher) => {
      const lease = await store.get('leases:webhooks')
      const closed = dispatcher.close()
      await turn(2_000)
      await closed
      if (lease !== undefined)
        await store.commit({
          operations: [{ do: 'put', key: lease.key, value: lease.value, ttlMs: 86_400_000 }],
        })
    },
    publish: async (execution: string, count: number) => {
      const { events } = await core.startExecution({ id: execution, name: 'etl' })
      const source = { entityType: 'external', entityId: 'a' } as const
      for (let at = 0; at < count; at += 1) await events.publish({ type: 'external.a.b', source })
    },
  }
}

test.each([
  ['back', -STEP_MS],
  ['forward', STEP_MS],
])('E-135 a clock that is set three hours %s delays neither a retry nor a new event', async (_, byMs) => {
  const { clock, sent, turn, fail, add, dispatch, publish } = await world()
  await add(30_000)
  dispatch()
  fail('it answered 500')
  await publish('exec_1', 1)
  await turn(2_000)
  expect(sent).toHaveLength(1)
  clock.set(byMs)
  fail(undefined)
  await publish('exec_2', 1)
  await turn(31_000)
  expect(sent.map(({ executionId, attempts }) => `${executionId} ${attempts}`).sort()).toEqual([
    'exec_1 0',
    'exec_1 1',
    'exec_2 0',
  ])
})

test('E-135 DO-113 after a kill and a clock set three hours back deliveries go on within a lease', async () => {
  const { clock, sent, turn, fail, add, dispatch, publish, kill } = await world()
  await add(30_000)
  const first = dispatch()
  fail('it answered 500')
  await publish('exec_1', 150)
  await turn(4_000)
  expect(sent).toHaveLength(150)
  await kill(first)
  clock.set(-STEP_MS)
  fail(undefined)
  sent.length = 0
  await publish('exec_2', 1)
  dispatch()
  const setAtMs = clock.monotonicMs()
  const told = async (): Promise<number> => {
    await turn(1_000)
    return new Set(sent.map(({ id }) => id)).size
  }
  await expect.poll(told, { timeout: 20_000, interval: 20 }).toBe(151)
  expect(sent).toHaveLength(151)
  expect(clock.monotonicMs() - setAtMs).toBeGreaterThanOrEqual(WEBHOOK_LEASE_MS)
  // Far less than the three hours; the exact time depends on the speed of the disk.
  expect(clock.monotonicMs() - setAtMs).toBeLessThan(STEP_MS / 4)
}, 30_000)
