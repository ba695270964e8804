// Goal: instances of the core that share a server see one truth. The suites beside the code run on all kinds of stores with
// PERAGO_TEST_STORES=all; these tests always run.
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openMaintenance } from '../../src/core/life-cycle/maintenance.ts'
import { openCore } from '../../src/core/life-cycle/core.ts'
import { openRedisStore } from '../../src/stores/redis/redis-store.ts'
import { collect, externalEvent, nodeEvent, openWorld, start } from '../support/core-world.ts'
import { freshName } from '../support/servers/own-database.ts'
import { useRealServer } from '../support/servers/servers.ts'
import { serverStores } from '../support/stores.ts'

const redis = useRealServer('redis')

test('E-70 Redis holds the latest event of a type as JSON under events:{execution}:{type}', async (context) => {
  const { url } = redis(context)
  const prefix = `{${freshName()}}:`
  const store = await openRedisStore({ url, prefix })
  onTestFinished(() => store.close())
  const execution = await openCore({ store }).startExecution({ name: 'etl', id: 'exec_12345' })
  for (const rows of [1, 2]) await execution.events.publish(nodeEvent('extract_data.completed', { rows }))
  const client = new Redis(url)
  onTestFinished(() => client.disconnect())
  const held = await client.hgetall(`${prefix}events:exec_12345:extract_data.completed`)
  expect(JSON.parse(held.v ?? '')).toMatchObject({
    execution_id: 'exec_12345',
    type: 'extract_data.completed',
    payload: { rows: 2 },
  })
})

describe.each(serverStores())('the core on $kind', (kind) => {
  test('E-71 N-45 two instances on one server write one log together and see all of it', async (context) => {
    const { core, openOther, store, clock } = await openWorld(kind, context)
    const execution = await start(core)
    const other = await (await openOther()).openExecution(execution.id)
    await Promise.all(
      Array.from({ length: 20 }, async (_, publisher) => {
        const { events, variables } = publisher % 2 === 0 ? execution : other
        await events.publish(externalEvent('external.n', { publisher }))
        await variables.update('shared.count', (count) => Number(count ?? 0) + 1)
      }),
    )
    const [mine, theirs] = [await execution.events.query(), await other.events.query()]
    expect(mine).toEqual(theirs)
    expect(mine.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 21 }, (_, index) => index + 1))
    expect(await other.variables.get('shared.count')).toBe(20)
    await other.finish({ status: 'completed' })
    await expect(execution.events.publish(externalEvent('external.late'))).rejects.toMatchObject({
      code: 'core/not-active',
    })
    clock.move(40 * 86_400_000)
    expect(await openMaintenance({ store, clock }).sweepOnce()).toEqual({ seen: 1, done: 1, failed: 0 })
    expect((await store.range({ prefix: 'log:' })).entries).toEqual([])
    expect(await collect(other.variables.watch({ signal: AbortSignal.abort() }))).toEqual([])
  }, 60_000)

  test('E-72 events of an execution that asked for it are gone from the server after their time, and the log goes on', async (context) => {
    const { core, openOther, store } = await openWorld(kind, context)
    const execution = await core.startExecution({ name: 'etl', id: 'exec_1', eventTtlMs: 1_000 })
    const lasting = await start(core, 'exec_2')
    await execution.events.publish(externalEvent('external.a'))
    const other = await (await openOther()).openExecution('exec_1')
    await expect.poll(() => other.events.query(), { timeout: 30_000 }).toEqual([])
    expect(await other.events.has('external.a')).toBe(false)
    expect(await lasting.events.query()).toHaveLength(1)
    await other.events.publish(externalEvent('external.b'))
    await execution.finish({ status: 'completed' })
    const end = JSON.parse(new TextDecoder().decode((await store.get('log-end:exec_1'))?.value)) as unknown
    expect(end).toMatchObject({ sequence: 4 })
  }, 60_000)
})
