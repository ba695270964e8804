// Goal: what a sealed store hides is hidden in its archive as well, and keys that are wrong are told apart from damage.
import Database from 'libsql'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { EventArchive } from '../core/events/archive-port.ts'
import { executionId } from '../core/keys.ts'
import { plainRedactor } from '../base/redaction.ts'
import { openCore } from '../core/life-cycle/core.ts'
import { openMaintenance } from '../core/life-cycle/maintenance.ts'
import { openStores, sealOf, type OpenedStores } from '../runtime/stores/open-store.ts'
import { runCli } from './run.ts'
import { styleFor, type Terminal } from './terminal.ts'

const [FIRST, SECOND, OTHER] = ['first', 'second', 'other'].map(
  (word) => `=${Buffer.alloc(32, word).toString('base64')}`,
) as [string, string, string]
const k1 = `k1${FIRST}`
const k2 = `k2${SECOND}`
const SECRETS = ['a day to remember', 'jane.doe@example.org']

let directory: string
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'perago-sealed-archive-'))))
afterEach(() => rmSync(directory, { recursive: true }))

interface Opened extends OpenedStores {
  readonly archive: EventArchive
}

async function open(storeKeys: string | undefined, name = 'store.db'): Promise<Opened> {
  const stores = await openStores(
    { store: name, archive: 'archive.db', seal: sealOf({ storeKeys, compress: false }) },
    { directory, environment: {} },
  )
  onTestFinished(() => stores.close())
  return stores as Opened
}

/** Runs and ends an execution, and has its events archived. */
async function archiveOne(id: string, { store, archive }: Opened): Promise<void> {
  const execution = await openCore({ store }).startExecution({ id, name: 'etl' })
  for (const entityId of [SECRETS[1] as string, 'shop', 'shop'])
    await execution.events.publish({
      type: 'external.order',
      source: { entityType: 'external', entityId },
      // Large enough to be compressed.
      payload: { text: SECRETS[0] as string, more: 'x'.repeat(6000) },
    })
  await execution.finish({ status: 'completed' })
  const maintenance = openMaintenance({ store, archive })
  expect(await maintenance.archiveOnce()).toMatchObject({ done: 1, failed: 0 })
  await maintenance.release()
}

async function query({ store, archive }: Opened, entityId?: string): Promise<readonly number[]> {
  const core = openCore({ store, archive })
  const { events } = await core.openExecution('exec_1')
  const found = await events.query({
    ...(entityId === undefined ? {} : { source: { entityType: 'external', entityId } as const }),
    limit: 10,
  })
  return found.map(({ sequence }) => sequence)
}

function filesWith(text: string): readonly string[] {
  return readdirSync(directory).filter((name) => readFileSync(join(directory, name)).includes(text))
}

function change(...sql: readonly string[]): void {
  const db = new Database(join(directory, 'archive.db'))
  for (const one of sql) db.exec(one)
  db.close()
}

async function run(keys: string | undefined, ...args: readonly string[]) {
  let [answered, said] = ['', '']
  const terminal: Terminal = {
    answer: (text) => (answered += text),
    say: (text) => (said += text),
    directory,
    environment: keys === undefined ? {} : { PERAGO_STORE_KEYS: keys },
    style: styleFor({}, {}),
    redactor: plainRedactor,
    keepSecret: () => undefined,
    stopSignal: () => new AbortController().signal,
  }
  const code = await runCli([...args, '--store', 'store.db', '--archive', 'archive.db'], terminal)
  return { code, answered, said }
}

test('ST-107 no value and no name of a source that was archived is in any file, and reads are as before', async () => {
  const stores = await open(k1)
  await archiveOne('exec_1', stores)
  for (const secret of SECRETS) expect(filesWith(secret)).toEqual([])
  expect(filesWith('external.order')).not.toEqual([])
  expect(await query(stores)).toEqual([1, 2, 3, 4, 5])
  expect(await query(stores, SECRETS[1])).toEqual([2])
  expect(await query(stores, 'shop')).toEqual([3, 4])
  const event = await openCore(stores).events.getEvent(executionId('exec_1'), 'external.order')
  expect(event?.payload).toMatchObject({ text: SECRETS[0] })
  await stores.close()
  for (const secret of SECRETS) expect(filesWith(secret)).toEqual([])
})

test('ST-108 earlier keys read what they sealed, and after reseal, with its plain rows, only the new one is needed', async () => {
  // As an earlier version wrote it: the store sealed, the archive not.
  const stores = await open(k1)
  const { archive: plain } = await open(undefined, 'memory:')
  await archiveOne('exec_1', { ...stores, archive: plain })
  await archiveOne('exec_2', stores)
  await plain.close()
  await stores.close()
  expect(filesWith(SECRETS[0] as string)).toEqual(['archive.db'])
  const keys = `${k2},${k1}`
  expect(await query(await open(keys))).toEqual([1, 2, 3, 4, 5])
  const verified = await run(keys, 'store', 'verify')
  expect(verified.answered).toContain('5 archived events are not sealed')
  expect(verified.answered).toContain('10 archived events read: all whole')
  const resealed = await run(keys, 'store', 'reseal')
  expect(resealed.answered).toMatch(/^\d+ values and 10 archived events encrypted again with k2\n$/)
  expect(await run(keys, 'store', 'reseal', '--json')).toMatchObject({
    answered: expect.stringMatching(/"events": ?0/) as string,
  })
  for (const secret of SECRETS) expect(filesWith(secret)).toEqual([])
  expect(await query(await open(k2))).toEqual([1, 2, 3, 4, 5])
  expect((await run(k2, 'store', 'verify')).answered).not.toContain('not sealed')
})

test('ST-109 a part of a row that is changed or moved to another row is refused as damage, also with a forged checksum', async () => {
  const stores = await open(k1)
  await archiveOne('exec_1', stores)
  await archiveOne('exec_2', stores)
  const from = (id: string, sequence: number): string => `execution_id = '${id}' AND sequence = ${sequence}`
  for (const sql of [
    `UPDATE events SET payload = (SELECT payload FROM events WHERE ${from('exec_2', 3)}) WHERE ${from('exec_1', 3)}`,
    `UPDATE events SET payload = (SELECT payload FROM events WHERE ${from('exec_1', 4)}) WHERE ${from('exec_1', 3)}`,
    `UPDATE events SET event_type = 'external.other' WHERE ${from('exec_1', 3)}`,
    `UPDATE events SET timestamp = '2020-01-01T00:00:00.000Z' WHERE ${from('exec_1', 3)}`,
    `UPDATE events SET id = 'evt_x' WHERE ${from('exec_1', 3)}`,
    `UPDATE events SET tenant = 'red' WHERE execution_id = 'exec_1'`,
  ]) {
    change('CREATE TABLE kept AS SELECT * FROM events', sql)
    await expect(query(stores), sql).rejects.toMatchObject({
      kind: 'defect',
      code: sql.includes('tenant') ? 'core/log-hole' : 'stores/corrupt',
    })
    change('DELETE FROM events', 'INSERT INTO events SELECT * FROM kept', 'DROP TABLE kept')
  }
  forge(`UPDATE events SET payload = jsonb(?) WHERE ${from('exec_1', 3)}`, 'exec_1', 3)
  await expect(query(stores)).rejects.toMatchObject({ code: 'stores/damaged' })
  const { code, answered } = await run(k1, 'store', 'verify', '--json')
  expect([code, (JSON.parse(answered) as { found: number }).found]).toEqual([3, 1])
})

/** Changes the last byte, and makes the checksum fit. */
function forge(sql: string, execution: string, sequence: number): void {
  const db = new Database(join(directory, 'archive.db'))
  const row = db
    .prepare(
      'SELECT id, event_type, timestamp, json(payload) AS payload FROM events WHERE execution_id = ? AND sequence = ?',
    )
    .get([execution, sequence]) as { id: string; event_type: string; timestamp: string; payload: string }
  const bytes = Buffer.from((JSON.parse(row.payload) as { sealed: string }).sealed, 'base64')
  const last = bytes.length - 1
  bytes[last] = (bytes[last] ?? 0) ^ 1
  const beside = JSON.stringify([row.id, row.event_type, row.timestamp])
  bytes.writeUInt32BE(crc32(bytes.subarray(4), crc32(`archive:${execution}:${sequence} ${beside}`)))
  db.prepare(sql).run([JSON.stringify({ sealed: bytes.toString('base64') })])
  db.close()
}

test('ST-110 whatever bit of a sealed row changes, its event is refused as damage and never read as another', async () => {
  const stores = await open(k1)
  await archiveOne('exec_1', stores)
  const whole = await openCore(stores).events.queryEvents(executionId('exec_1'))
  const db = new Database(join(directory, 'archive.db'))
  onTestFinished(() => void db.close())
  const { payload } = db.prepare('SELECT payload FROM events WHERE sequence = 3').get([]) as {
    payload: Buffer
  }
  const set = db.prepare('UPDATE events SET payload = ? WHERE sequence = 3')
  const codes = new Set<string>()
  for (let bit = 0; bit < payload.length * 8; bit += bit < 200 ? 1 : 37) {
    const flipped = Buffer.from(payload)
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    set.run([flipped])
    const found: unknown = await openCore(stores)
      .events.queryEvents(executionId('exec_1'))
      .catch((error: unknown) => error)
    if (found instanceof Error) codes.add(String((found as Error & { code?: string }).code))
    else expect(found, `bit ${bit}`).toEqual(whole)
  }
  expect([...codes]).toEqual(['stores/corrupt'])
})

test('ST-111 a wrong or missing key is a configuration error for reads and for the check, and is not called damage', async () => {
  const stores = await open(k1)
  await archiveOne('exec_1', stores)
  // The store is the one of a user who has lost the keys of the archive only.
  const missing = openCore({ ...(await open(undefined, 'memory:')), store: stores.store })
  await expect(missing.events.queryEvents(executionId('exec_1'))).rejects.toMatchObject({
    kind: 'invalid',
    code: 'core/archive-is-sealed',
  })
  for (const [keys, code] of [
    [k2, 'stores/unknown-key'],
    [`k1${OTHER}`, 'stores/damaged'],
  ] as const) {
    const { archive } = await open(keys, 'memory:')
    const core = openCore({ store: stores.store, archive })
    await expect(core.events.queryEvents(executionId('exec_1'))).rejects.toMatchObject({
      kind: 'invalid',
      code,
    })
  }
  await stores.close()
  const told = await run(k2, 'store', 'verify')
  expect([told.code, told.said.includes('[stores/unknown-key]')]).toEqual([2, true])
})

test('ST-112 the check names each archived event that is damaged or missing, and walks the rest', async () => {
  const stores = await open(k1)
  for (const id of ['exec_1', 'exec_2', 'exec_3']) await archiveOne(id, stores)
  await stores.close()
  change(
    "UPDATE events SET payload = x'ff' WHERE execution_id = 'exec_1' AND sequence = 2",
    "DELETE FROM events WHERE execution_id = 'exec_2' AND sequence IN (3, 4)",
    "DELETE FROM events WHERE execution_id = 'exec_3'",
  )
  const { code, answered } = await run(k1, 'store', 'verify', '--json')
  expect(code).toBe(3)
  expect(JSON.parse(answered)).toMatchObject({
    archive: { rows: 8, unsealed: 0 },
    found: 3,
    findings: [
      { code: 'stores/corrupt', key: 'archive:exec_1:2' },
      { code: 'core/log-hole', execution: 'exec_2', from: 3, to: 4 },
      { code: 'core/log-hole', execution: 'exec_3', from: 1, to: 1 },
    ],
  })
})
