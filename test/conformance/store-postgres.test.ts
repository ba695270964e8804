import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openPostgresStore } from '../../src/stores/postgres/postgres-store.ts'
import { freshName } from '../support/servers/own-database.ts'
import { useRealServer } from '../support/servers/servers.ts'
import { forgetByWriting, put, write } from './store-cases/scene.ts'
import { storeConformance } from './store.ts'

const postgres = useRealServer('postgres')

storeConformance('postgres', {
  open: async (context) => {
    const { url } = postgres(context)
    const options = { url, schema: freshName(), changesKept: 200, connections: 5 }
    const store = await openPostgresStore(options)
    return {
      store,
      openAnother: () => openPostgresStore(options),
      outlive: async (ttlMs) => {
        await wait(ttlMs + 10)
      },
      forgetChanges: () => forgetByWriting(store),
      close: () => store.close(),
    }
  },
})

test('ST-81 batches that only look at one key go side by side, and one that writes it waits', async (context) => {
  const { url } = postgres(context)
  const schema = freshName()
  const store = await openPostgresStore({ url, schema, answerTimeoutMs: 2_000 })
  const other = new Client(url)
  await other.connect()
  try {
    await write(store, put('record'))
    await other.query('BEGIN')
    // Another instance is in the middle of its batch.
    await other.query(
      `SELECT ${schema}.commit_batch('{record}', '{present}', '{NULL}', '{a}', '{put}', $1::bytea[], '{NULL}')`,
      [[Buffer.from('x')]],
    )
    const looking = [{ key: 'record', is: 'present' }] as const
    expect(await store.commit({ conditions: looking, operations: [put('b')] })).toMatchObject({
      committed: true,
    })
    const writing = store.commit({ conditions: looking, operations: [put('record', 'y')] })
    // Whoever gives up first, the server or we.
    await expect(writing).rejects.toMatchObject({
      kind: expect.stringMatching(/^(unavailable|uncertain)$/) as string,
    })
    await other.query('COMMIT')
    expect(await store.commit({ operations: [put('record', 'y')] })).toMatchObject({ committed: true })
    expect(await store.get('a')).toBeDefined()
  } finally {
    await other.end()
    await store.close()
  }
})

test('DO-156 a store in PostgreSQL tells the size of its tables, not of others in the same database', async (context) => {
  const { url } = postgres(context)
  const [store, other] = [
    await openPostgresStore({ url, schema: freshName() }),
    await openPostgresStore({ url, schema: freshName() }),
  ]
  const before = (await store.sizeBytes?.()) ?? 0
  expect(before).toBeGreaterThan(0)
  for (let count = 0; count < 20; count++) await write(other, put(`k${String(count)}`, randomText()))
  expect(await store.sizeBytes?.()).toBe(before)
  for (let count = 0; count < 20; count++) await write(store, put(`k${String(count)}`, randomText()))
  expect(await store.sizeBytes?.()).toBeGreaterThan(before + 100_000)
  await Promise.all([store.close(), other.close()])
})

/** That no database makes smaller. */
function randomText(): string {
  return randomBytes(10_000).toString('base64')
}
