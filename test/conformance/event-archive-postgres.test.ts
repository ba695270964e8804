import { connect, createServer, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { openCore } from '../../src/core/life-cycle/core.ts'
import { openMaintenance } from '../../src/core/life-cycle/maintenance.ts'
import type { EventArchive, EventRow } from '../../src/core/events/archive-port.ts'
import { openPostgresArchive } from '../../src/stores/archive/postgres-archive.ts'
import { openRows, resealArchive, sealArchive } from '../../src/stores/sealed/sealed-archive.ts'
import { openMemoryStore } from '../../src/stores/memory/memory-store.ts'
import { StillClock, externalEvent } from '../support/core-world.ts'
import { freshName } from '../support/servers/own-database.ts'
import { useRealServer } from '../support/servers/servers.ts'
import { COMBINED_FILTERS, eventArchiveConformance, excludedRows } from './event-archive.ts'

const postgres = useRealServer('postgres')

eventArchiveConformance('postgres', async (context) => {
  const options = { url: postgres(context).url, schema: freshName() }
  const reopen = async (): Promise<EventArchive> => {
    const archive = await openPostgresArchive(options)
    onTestFinished(() => archive.close())
    return archive
  }
  return { archive: await reopen(), reopen }
})

eventArchiveConformance('sealed postgres', async (context) => {
  const options = { url: postgres(context).url, schema: freshName() }
  const encryption = { keys: { one: Buffer.alloc(32, 1) }, use: 'one' }
  const reopen = async (): Promise<EventArchive> => {
    const archive = sealArchive(await openPostgresArchive(options), { encryption, compressFromBytes: 64 })
    onTestFinished(() => archive.close())
    return archive
  }
  return { archive: await reopen(), reopen, isSealed: true }
})

test('ST-108 rows in PostgreSQL, also those that jsonb cannot hold, are encrypted, and encrypted again with another key', async (context) => {
  const archive = await openPostgresArchive({ url: postgres(context).url, schema: freshName() })
  onTestFinished(() => archive.close())
  const rows = excludedRows('{"text":"a\\u0000 secret","zero":-0}').map((row, at) => ({
    ...row,
    sequence: at + 1,
  }))
  await archive.write(rows)
  const shown = (all: readonly EventRow[]): readonly unknown[] =>
    all
      .map((row) => ({ ...row, payload: JSON.parse(row.payload) as unknown }))
      .sort((a, b) => a.sequence - b.sequence)
  const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const encryptions = [
    { keys: { one }, use: 'one' },
    { keys: { one, two }, use: 'two' },
  ]
  for (const encryption of encryptions) {
    expect(await resealArchive(archive, { encryption })).toBe(rows.length)
    expect(await resealArchive(archive, { encryption })).toBe(0)
  }
  const stored = await archive.list({ limit: 100 })
  expect(stored.map(({ execution, tenant, sequence }) => [execution, tenant, sequence])).toEqual(
    [...stored]
      .sort((a, b) => (a.execution + a.tenant < b.execution + b.tenant ? -1 : 1))
      .map(({ execution, tenant, sequence }) => [execution, tenant, sequence]),
  )
  expect(JSON.stringify(stored)).not.toContain('secret')
  const open = openRows(archive, { encryption: { keys: { two }, use: 'two' } })
  expect(shown(await Promise.all(stored.map(open)))).toEqual(shown(rows))
})

test('E-74 the table events has its columns, its key and its indexes in PostgreSQL', async (context) => {
  const { url } = postgres(context)
  const schema = freshName()
  const archive = await openPostgresArchive({ url, schema })
  expect(await archive.count({ tenant: '', execution: 'exec_1' })).toBe(0)
  await archive.close()
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  const columns = await client.query<{ column_name: string; data_type: string }>(
    'SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = $1 ORDER BY ordinal_position',
    [schema],
  )
  expect(columns.rows.map(({ column_name, data_type }) => [column_name, data_type])).toEqual([
    ['id', 'text'],
    ['tenant', 'text'],
    ['execution_id', 'text'],
    ['event_type', 'text'],
    ['source_type', 'text'],
    ['source_id', 'text'],
    ['sequence', 'bigint'],
    ['payload', 'jsonb'],
    ['payload_exact', 'text'],
    ['timestamp', 'timestamp with time zone'],
  ])
  const indexes = await client.query<{ indexdef: string }>(
    'SELECT indexdef FROM pg_indexes WHERE schemaname = $1 ORDER BY indexname',
    [schema],
  )
  expect(indexes.rows.map(({ indexdef }) => /\((\w+)/.exec(indexdef)?.[1])).toEqual([
    'execution_id',
    'event_type',
    'id',
  ])
})

test('E-74 several archivers that begin at the same time make the table once', async (context) => {
  const options = { url: postgres(context).url, schema: freshName() }
  const archives = await Promise.all(Array.from({ length: 4 }, () => openPostgresArchive(options)))
  onTestFinished(async () => {
    await Promise.all(archives.map((archive) => archive.close()))
  })
  const place = { tenant: '', execution: 'exec_1' }
  expect(await Promise.all(archives.map((archive) => archive.count(place)))).toEqual([0, 0, 0, 0])
})

/** A way to the server that can be cut, as when the server is stopped. */
async function openWay(url: string): Promise<{
  url: string
  cut: () => Promise<void>
  mend: () => Promise<void>
  /** Bytes that the server has sent. */
  received: () => number
}> {
  const target = new URL(url)
  let received = 0
  const sockets = new Set<Socket>()
  const listen = async (port: number): Promise<Server> => {
    const server = createServer((near) => {
      const far = connect(Number(target.port), target.hostname)
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(one)
        one.on('error', () => other.destroy())
        one.on('close', () => {
          sockets.delete(one)
          other.destroy()
        })
      }
      far.on('data', (bytes: Buffer) => (received += bytes.length))
      near.pipe(far)
      far.pipe(near)
    })
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return server
  }
  let server: Server | undefined = await listen(0)
  const { port } = server.address() as { port: number }
  const cut = async (): Promise<void> => {
    const closing = server
    server = undefined
    closing?.close()
    for (const socket of sockets) socket.destroy()
    if (closing !== undefined) await once(closing, 'close')
  }
  onTestFinished(cut)
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String(port)
  return {
    url: through.href,
    cut,
    received: () => received,
    mend: async () => {
      server = await listen(port)
    },
  }
}

test('E-76 PostgreSQL sends no row that one of the filters excludes', async (context) => {
  const way = await openWay(postgres(context).url)
  const archive = await openPostgresArchive({ url: way.url, schema: freshName() })
  onTestFinished(() => archive.close())
  const rowBytes = 200_000
  await archive.write(excludedRows(JSON.stringify({ text: 'x'.repeat(rowBytes) })))
  const before = way.received()
  expect((await archive.read(COMBINED_FILTERS)).map(({ id }) => id)).toEqual(['wanted'])
  expect(way.received() - before).toBeLessThan(rowBytes)
})

test('E-81 nothing is lost while PostgreSQL is away for an hour: it is archived when it is back', async (context) => {
  const way = await openWay(postgres(context).url)
  const archive = await openPostgresArchive({ url: way.url, schema: freshName() })
  onTestFinished(() => archive.close())
  const clock = new StillClock()
  const store = openMemoryStore()
  const core = openCore({ store, archive, clock })
  const { archiveOnce, sweepOnce } = openMaintenance({
    store,
    archive,
    clock,
    retention: { eventsMs: 60_000 },
  })
  const histories = new Map<string, unknown>()
  const run = async (): Promise<void> => {
    const execution = await core.startExecution({ name: 'etl' })
    for (let n = 0; n < 20; n += 1) await execution.events.publish(externalEvent('external.n', { n }))
    await execution.finish({ status: 'completed' })
    histories.set(execution.id, await execution.events.query())
  }
  await run()
  expect(await archiveOnce()).toMatchObject({ done: 1, failed: 0 })
  await way.cut()
  for (let minute = 0; minute < 60; minute += 10) {
    await run()
    clock.move(10 * 60_000)
    expect(await archiveOnce()).toMatchObject({ done: 0 })
    await sweepOnce()
  }
  await way.mend()
  expect(await archiveOnce()).toMatchObject({ done: 6, failed: 0 })
  expect((await store.range({ prefix: 'log:' })).entries).toEqual([])
  const [, ...during] = [...histories]
  for (const [id, history] of during) {
    expect(await (await core.openExecution(id)).events.query()).toEqual(history)
  }
}, 120_000)

test('DO-156 an archive in PostgreSQL tells the size of its table, and none before there is one', async (context) => {
  const archive = await openPostgresArchive({ url: postgres(context).url, schema: freshName() })
  onTestFinished(() => archive.close())
  expect(await archive.sizeBytes?.()).toBe(0)
  await archive.count({ tenant: '', execution: 'exec_1' })
  expect(await archive.sizeBytes?.()).toBeGreaterThan(0)
})
