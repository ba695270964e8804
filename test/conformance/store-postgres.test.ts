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

test('ST-120 a page and a deletion by prefix read what is in their range, not what is behind it', async (context) => {
  const { url } = postgres(context)
  const schema = freshName()
  const filling = await openPostgresStore({ url, schema, connections: 1 })
  for (let batch = 0; batch < 20; batch += 1)
    await write(filling, ...Array.from({ length: 100 }, (_, n) => put(`z${String(batch * 100 + n)}`)))
  await write(filling, put('a:1'), put('a:2'))
  await filling.close()
  const client = new Client(url)
  await client.connect()
  try {
    // The server counts when a connection has ended.
    const counted = { timeout: 10_000 }
    await expect.poll(() => countOf(client, schema, 'n_tup_ins'), counted).toBe(2002)
    const before = await countOf(client, schema, 'idx_tup_fetch')
    // A connection makes other plans after its first few runs of a statement.
    const store = await openPostgresStore({ url, schema, connections: 1 })
    for (let run = 0; run < 20; run += 1) {
      expect((await store.range({ prefix: 'a:' })).entries).toHaveLength(2)
      expect((await store.range({ prefix: 'z1', order: 'descending', limit: 1 })).entries).toHaveLength(1)
      expect(await store.clear('b:')).toBe(0)
    }
    await store.close()
    const read = async (): Promise<number> => (await countOf(client, schema, 'idx_tup_fetch')) - before
    await expect.poll(read, counted).toBeGreaterThanOrEqual(60)
    expect(await read()).toBeLessThan(300)
  } finally {
    await client.end()
  }
})

test('ST-121 functions of an earlier version are replaced when a store is opened, unless that is not allowed', async (context) => {
  const { url } = postgres(context)
  const schema = freshName()
  const first = await openPostgresStore({ url, schema })
  await write(first, put('a:1'))
  await first.close()
  const client = new Client(url)
  await client.connect()
  const user = freshName()
  try {
    // As an earlier version left it.
    await client.query(`COMMENT ON FUNCTION ${schema}.clear_some IS NULL`)
    await client.query(
      `CREATE OR REPLACE FUNCTION ${schema}.clear_some(low text, high text, most integer, OUT alive integer, OUT cleared integer)
      LANGUAGE sql AS 'SELECT -1, 0'`,
    )
    await client.query(`CREATE ROLE ${user} LOGIN PASSWORD 'x'`)
    await client.query(`GRANT USAGE ON SCHEMA ${schema} TO ${user}`)
    await client.query(`GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO ${user}`)
    await client.query(`GRANT ALL ON ALL SEQUENCES IN SCHEMA ${schema} TO ${user}`)
    const restricted = new URL(url)
    restricted.username = user
    restricted.password = 'x'
    const theirs = await openPostgresStore({ url: restricted.href, schema })
    expect(await theirs.clear('a:')).toBe(-1)
    await theirs.close()
    const ours = await openPostgresStore({ url, schema })
    expect(await ours.clear('a:')).toBe(1)
    await ours.close()
  } finally {
    await client.query(`DROP OWNED BY ${user}`)
    await client.query(`DROP ROLE ${user}`)
    await client.end()
  }
})

test('ST-128 over functions that may not be replaced, batches are written one by one', async (context) => {
  const { url } = postgres(context)
  const schema = freshName()
  const first = await openPostgresStore({ url, schema })
  const record = await write(first, put('record'))
  await first.close()
  const client = new Client(url)
  await client.connect()
  const user = freshName()
  try {
    // As version 2 left it.
    await client.query(`DROP FUNCTION ${schema}.commit_group`)
    await client.query(`COMMENT ON FUNCTION ${schema}.clear_some IS 'perago 2'`)
    await client.query(`CREATE ROLE ${user} LOGIN PASSWORD 'x'`)
    await client.query(`GRANT USAGE ON SCHEMA ${schema} TO ${user}`)
    await client.query(`GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO ${user}`)
    await client.query(`GRANT ALL ON ALL SEQUENCES IN SCHEMA ${schema} TO ${user}`)
    const restricted = new URL(url)
    restricted.username = user
    restricted.password = 'x'
    const theirs = await openPostgresStore({ url: restricted.href, schema })
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        theirs.commit({
          conditions: [{ key: 'record', is: 'at', revision: record + (at % 2) }],
          operations: [put(`k${String(at)}`)],
        }),
      ),
    )
    expect(outcomes.map(({ committed }) => committed)).toEqual(outcomes.map((_, at) => at % 2 === 0))
    expect(outcomes[1]).toMatchObject({ unmet: [{ key: 'record', revision: record }] })
    await theirs.close()
    const ours = await openPostgresStore({ url, schema })
    expect(await ours.commit({ operations: [put('k')] })).toMatchObject({ committed: true })
    await ours.close()
  } finally {
    await client.query(`DROP OWNED BY ${user}`)
    await client.query(`DROP ROLE ${user}`)
    await client.end()
  }
})

/** What the server has counted for the table of entries. */
async function countOf(client: Client, schema: string, what: string): Promise<number> {
  const { rows } = await client.query<{ readonly count: string }>(
    `SELECT ${what} AS count FROM pg_stat_user_tables WHERE schemaname = $1 AND relname = 'entries'`,
    [schema],
  )
  return Number(rows[0]?.count ?? 0)
}

/** That no database makes smaller. */
function randomText(): string {
  return randomBytes(10_000).toString('base64')
}
