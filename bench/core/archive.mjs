// Archives events of ended executions and looks them up. The bare side writes the same rows with the same statement into a
// table with the same columns and indexes, equally many per transaction.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { openSqliteArchive } from '../../dist/stores/archive/sqlite-archive.js'
import { openPostgresArchive } from '../../dist/stores/archive/postgres-archive.js'
import { openCore, openMaintenance, openMemoryStore } from '../../dist/perago-core.js'
import { printTable } from '../support/figures.mjs'
import { eventOf } from './backends.mjs'
import { timesAsLong } from './compare.mjs'
import { readInTurn, sayThreshold } from './lookups.mjs'

const EVENTS_EACH = 500
const TYPES = 50
const EXECUTIONS = 40
const LOOKED_INTO = 200

const KINDS = {
  sqlite: {
    driver: 'libsql',
    open: async (bench, _url, name) => ({
      archive: openSqliteArchive({ file: join(bench.directory, `${name}.db`) }),
      bare: await openBareSqlite(join(bench.directory, `${name}-bare.db`)),
    }),
  },
  postgres: {
    driver: 'pg',
    open: async (_bench, url, name) => ({
      archive: await openPostgresArchive({ url, schema: name }),
      bare: await openBarePostgres(url, `${name}_bare`),
    }),
  },
}

export async function measureArchive({ bench, backends, rounds }) {
  const written = []
  const lookups = []
  for (const { name, url } of backends.filter(({ name }) => name in KINDS)) {
    const { driver, open } = KINDS[name]
    const { archive, bare } = await open(bench, url, 'bench_archive')
    written.push(await measureWrites({ name, driver, archive, bare, rounds }))
    written.push(await measurePass({ name, driver, archive, bare, rounds }))
    lookups.push(...(await measureLookups({ name, driver, archive, bare, rounds })))
    await bare.close()
    await archive.close()
  }
  console.log(`## Into the archive: ${EXECUTIONS} executions × ${EVENTS_EACH} events a round\n`)
  printTable(['what', 'events/s', 'beside', 'events/s', 'time, ours to bare'], written)
  console.log(
    `## A lookup in the archive, among ${LOOKED_INTO} executions × ${EVENTS_EACH} events, one at a time\n`,
  )
  printTable(['µs', 'p50', 'p99', 'beside', 'p50', 'p99', 'ratio'], lookups)
  for (const name of Object.keys(KINDS))
    sayThreshold(`E-78, has in the archive of ${name} below 10 ms`, lookups, `has, ${name} archive`, 10_000)
  console.log('')
}

/** Only the adapter, with prepared rows. */
async function measureWrites({ name, driver, archive, bare, rounds }) {
  const compared = await compareRounds(rounds, async (side) => {
    const target = side === 'ours' ? archive : bare
    const all = Array.from({ length: EXECUTIONS }, rowsOfOne)
    return async () => {
      for (const rows of all) await target.write(rows)
    }
  })
  return rowOf(`write, ${name}`, driver, compared)
}

/** From a store in memory: read, write, count, mark, delete. */
async function measurePass({ name, driver, archive, bare, rounds }) {
  const compared = await compareRounds(rounds, async (side) => {
    if (side === 'bare') {
      const all = Array.from({ length: EXECUTIONS }, rowsOfOne)
      return async () => {
        for (const rows of all) await bare.write(rows)
      }
    }
    const store = openMemoryStore()
    await fill(store, EXECUTIONS)
    const maintenance = openMaintenance({ store, archive })
    return async () => {
      const { done, failed } = await maintenance.archiveOnce()
      if (done !== EXECUTIONS || failed > 0) throw new Error(`archived ${done}, failed ${failed}`)
    }
  })
  return rowOf(`a whole pass, memory to ${name}`, driver, compared)
}

async function measureLookups({ name, driver, archive, bare, rounds }) {
  const store = openMemoryStore()
  const executions = await fill(store, LOOKED_INTO)
  await openMaintenance({ store, archive }).archiveOnce()
  for (const { id } of executions) {
    const rows = rowsOfOne().map((row) => ({ ...row, execution: id }))
    await bare.write(rows)
  }
  const core = openCore({ store, archive })
  const places = await Promise.all(
    executions.flatMap(async ({ id }, at) => ({
      execution: await core.openExecution(id),
      type: `external.bench.t${at % TYPES}`,
    })),
  )
  const rows = []
  for (const what of ['has', 'get']) {
    const read = {
      ours: ({ execution, type }) => execution.events[what](type),
      bare: ({ execution, type }) => bare[what](execution.id, type),
    }
    const found = await readInTurn({ read, types: places, together: 1, rounds })
    rows.push([`${what}, ${name} archive`, ...figures(found.ours), driver, ...figures(found.bare)])
    rows.at(-1).push(rows.at(-1)[1] / rows.at(-1)[4])
  }
  return rows
}

function figures(samples) {
  const sorted = samples.toSorted((a, b) => a - b)
  return [0.5, 0.99].map((share) => sorted[Math.floor(sorted.length * share)])
}

/** Each round does the same work; its data is prepared before the clock starts. */
async function compareRounds(rounds, prepare) {
  const count = EXECUTIONS * EVENTS_EACH
  const sides = ['ours', 'bare']
  const found = new Map(sides.map((side) => [side, []]))
  for (let round = -1; round < rounds; round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const run = await prepare(side)
      const startMs = performance.now()
      await run()
      if (round >= 0) found.get(side).push((count * 1_000) / (performance.now() - startMs))
    }
  }
  return sides.map((side) => ({ rates: found.get(side) }))
}

function rowOf(what, driver, compared) {
  const [ours, bare] = compared.map(
    ({ rates }) => rates.toSorted((a, b) => a - b)[Math.floor(rates.length / 2)],
  )
  return [what, ours, driver, bare, timesAsLong(compared)]
}

async function fill(store, count) {
  const core = openCore({ store })
  const executions = []
  for (let n = 0; n < count; n += 1) {
    const execution = await core.startExecution({ name: 'bench' })
    const between = Array.from({ length: EVENTS_EACH - 2 }, (_, at) =>
      execution.events.publish(eventOf(`external.bench.t${at % TYPES}`, at)),
    )
    await Promise.all(between)
    await execution.finish({ status: 'completed' })
    executions.push(execution)
  }
  return executions
}

function rowsOfOne() {
  const execution = `bench_${randomUUID()}`
  return Array.from({ length: EVENTS_EACH }, (_, at) => {
    const { type, source, payload } = eventOf(`external.bench.t${at % TYPES}`, at)
    return {
      id: `evt_${randomUUID()}`,
      tenant: '',
      execution,
      sequence: at + 1,
      type,
      sourceType: source.entityType,
      sourceId: source.entityId,
      payload: JSON.stringify(payload),
      timestamp: new Date().toISOString(),
    }
  })
}

const COLUMNS = [
  'id',
  'tenant',
  'execution',
  'sequence',
  'type',
  'sourceType',
  'sourceId',
  'payload',
  'timestamp',
]

async function openBareSqlite(file) {
  const { default: Database } = await import('libsql')
  const db = new Database(file)
  db.prepare('PRAGMA journal_mode = WAL').get()
  db.exec('PRAGMA synchronous = FULL')
  db.exec(`CREATE TABLE events (id TEXT PRIMARY KEY, tenant TEXT NOT NULL, execution_id TEXT NOT NULL,
      sequence INTEGER NOT NULL, event_type TEXT NOT NULL, source_type TEXT NOT NULL, source_id TEXT NOT NULL,
      payload BLOB NOT NULL, timestamp TEXT NOT NULL) WITHOUT ROWID;
    CREATE UNIQUE INDEX events_by_execution ON events (execution_id, tenant, sequence);
    CREATE INDEX events_by_type ON events (event_type, execution_id, tenant, sequence)`)
  const insert = db.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, jsonb(?), ?)')
  const find = db.prepare(
    `SELECT id, json(payload) AS payload FROM events WHERE event_type = ? AND execution_id = ? AND tenant = ''
      ORDER BY sequence DESC LIMIT 1`,
  )
  return {
    async write(rows) {
      db.exec('BEGIN IMMEDIATE')
      for (const row of rows) insert.run(COLUMNS.map((column) => row[column]))
      db.exec('COMMIT')
    },
    async has(execution, type) {
      return find.get(type, execution) !== undefined
    },
    async get(execution, type) {
      const row = find.get(type, execution)
      return { ...row, payload: JSON.parse(row.payload) }
    },
    async close() {
      db.close()
    },
  }
}

async function openBarePostgres(url, schema) {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({ connectionString: url, max: 10 })
  await pool.query(`CREATE SCHEMA ${schema};
    CREATE TABLE ${schema}.events (id text COLLATE "C" PRIMARY KEY, tenant text COLLATE "C" NOT NULL,
      execution_id text COLLATE "C" NOT NULL, sequence bigint NOT NULL, event_type text COLLATE "C" NOT NULL,
      source_type text NOT NULL, source_id text NOT NULL, payload jsonb NOT NULL, timestamp timestamptz NOT NULL);
    CREATE UNIQUE INDEX ON ${schema}.events (execution_id, tenant, sequence);
    CREATE INDEX ON ${schema}.events (event_type, execution_id, tenant, sequence)`)
  const insert = `INSERT INTO ${schema}.events SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[],
    $5::text[], $6::text[], $7::text[], $8::jsonb[], $9::timestamptz[])`
  const find = `SELECT id, payload FROM ${schema}.events WHERE event_type = $1 AND execution_id = $2 AND tenant = ''
    ORDER BY sequence DESC LIMIT 1`
  const look = async (execution, type) =>
    (await pool.query({ name: 'find', text: find, values: [type, execution] })).rows[0]
  return {
    async write(rows) {
      const values = COLUMNS.map((column) => rows.map((row) => row[column]))
      await pool.query({ name: 'insert', text: insert, values })
    },
    async has(execution, type) {
      return (await look(execution, type)) !== undefined
    },
    get: look,
    async close() {
      await pool.end()
    },
  }
}
