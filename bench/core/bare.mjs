// The same writes with only a driver, as an expert would write them: one transaction that requires an unchanged record of
// the execution and a free place in the log, then writes the event to the log and as the latest of its type. The ratio shows
// the cost of what our stores add: batches of any shape, ordered keys, changes for watches, expiry.
import { randomUUID } from 'node:crypto'

const RECORD = Buffer.from(JSON.stringify({ status: 'running' }))

/** Keys and bytes as in our stores. */
class BareLog {
  #sequence = 0
  constructor(execution) {
    this.execution = execution
    this.record = `executions:${execution}`
  }
  next({ type, source, payload }) {
    const sequence = (this.#sequence += 1)
    const value = JSON.stringify({
      id: randomUUID(),
      execution_id: this.execution,
      sequence,
      type,
      source: { entity_type: source.entityType, entity_id: source.entityId },
      timestamp: new Date().toISOString(),
      payload,
    })
    return {
      entry: `log:${this.execution}:${String(sequence).padStart(16, '0')}`,
      latest: this.latest(type),
      value: Buffer.from(value),
    }
  }
  latest(type) {
    return `events:${this.execution}:${type}`
  }
  variable(name) {
    return `variables:${this.execution}:${name}`
  }
}

export function openBareMap() {
  const held = new Map()
  let revision = 0
  const put = (key, value) => held.set(key, { value, revision })
  return {
    async start(execution) {
      const log = new BareLog(execution)
      revision += 1
      put(log.record, RECORD)
      return { log, seen: revision }
    },
    async append({ log, seen }, event) {
      const { entry, latest, value } = log.next(event)
      if (held.get(log.record)?.revision !== seen || held.has(entry)) throw new Error('refused')
      revision += 1
      put(entry, value)
      put(latest, value)
    },
    async has({ log }, type) {
      return held.has(log.latest(type))
    },
    async get({ log }, type) {
      const found = held.get(log.latest(type))
      return found === undefined ? null : JSON.parse(found.value.toString())
    },
    async update({ log }, name, change) {
      const key = log.variable(name)
      const found = held.get(key)
      const value = change(found === undefined ? undefined : JSON.parse(found.value.toString()))
      revision += 1
      put(key, Buffer.from(JSON.stringify(value)))
    },
    async close() {},
  }
}

export async function openBareLibsql(file) {
  const { default: Database } = await import('libsql')
  const db = new Database(file)
  db.prepare('PRAGMA journal_mode = WAL').get()
  db.exec('PRAGMA synchronous = FULL')
  db.exec(
    'CREATE TABLE entries (key TEXT PRIMARY KEY, value BLOB NOT NULL, revision INTEGER NOT NULL) WITHOUT ROWID',
  )
  const sql = {
    revision: db.prepare('SELECT revision FROM entries WHERE key = ?'),
    value: db.prepare('SELECT value FROM entries WHERE key = ?'),
    insert: db.prepare('INSERT INTO entries VALUES (?, ?, ?)'),
    put: db.prepare('INSERT OR REPLACE INTO entries VALUES (?, ?, ?)'),
  }
  let revision = 0
  const transaction = (work) => {
    db.exec('BEGIN IMMEDIATE')
    try {
      work()
      db.exec('COMMIT')
    } catch (error) {
      db.exec('ROLLBACK')
      throw error
    }
  }
  const read = (key) => {
    const row = sql.value.get(key)
    return row === undefined ? undefined : JSON.parse(row.value.toString())
  }
  return {
    async start(execution) {
      const log = new BareLog(execution)
      sql.insert.run(log.record, RECORD, (revision += 1))
      return { log, seen: revision }
    },
    async append({ log, seen }, event) {
      const { entry, latest, value } = log.next(event)
      transaction(() => {
        if (sql.revision.get(log.record)?.revision !== seen) throw new Error('refused')
        // Fails if the place is taken.
        sql.insert.run(entry, value, (revision += 1))
        sql.put.run(latest, value, revision)
      })
    },
    async has({ log }, type) {
      return sql.revision.get(log.latest(type)) !== undefined
    },
    async get({ log }, type) {
      return read(log.latest(type)) ?? null
    },
    async update({ log, seen }, name, change) {
      transaction(() => {
        if (sql.revision.get(log.record)?.revision !== seen) throw new Error('refused')
        const value = Buffer.from(JSON.stringify(change(read(log.variable(name)))))
        sql.put.run(log.variable(name), value, (revision += 1))
      })
    },
    async close() {
      db.close()
    },
  }
}

const PG_APPEND = `
  WITH standing AS (SELECT 1 FROM bare.entries WHERE key = $1 AND revision = $2 FOR KEY SHARE),
    entry AS (INSERT INTO bare.entries SELECT $3, $5, nextval('bare.revisions') FROM standing ON CONFLICT DO NOTHING RETURNING revision)
  INSERT INTO bare.entries SELECT $4, $5, revision FROM entry
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, revision = excluded.revision RETURNING revision`
const PG_UPDATE = `
  WITH standing AS (SELECT 1 FROM bare.entries WHERE key = $1 AND revision = $2 FOR KEY SHARE)
  INSERT INTO bare.entries SELECT $3, $4, nextval('bare.revisions') FROM standing
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, revision = excluded.revision WHERE bare.entries.revision = $5
    RETURNING revision`

export async function openBarePg(url, connections) {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({ connectionString: url, max: connections })
  await pool.query(`CREATE SCHEMA bare; CREATE SEQUENCE bare.revisions;
    CREATE TABLE bare.entries (key text COLLATE "C" PRIMARY KEY, value bytea NOT NULL, revision bigint NOT NULL)`)
  const ask = async (name, text, values) => (await pool.query({ name, text, values })).rows
  const read = async (key) => {
    const [row] = await ask('read', 'SELECT value, revision FROM bare.entries WHERE key = $1', [key])
    return row
  }
  return {
    async start(execution) {
      const log = new BareLog(execution)
      const text = `INSERT INTO bare.entries VALUES ($1, $2, nextval('bare.revisions')) RETURNING revision`
      const [row] = await ask('start', text, [log.record, RECORD])
      return { log, seen: row.revision }
    },
    async append({ log, seen }, event) {
      const { entry, latest, value } = log.next(event)
      const rows = await ask('append', PG_APPEND, [log.record, seen, entry, latest, value])
      if (rows.length === 0) throw new Error('refused')
    },
    async has({ log }, type) {
      return (await ask('has', 'SELECT 1 FROM bare.entries WHERE key = $1', [log.latest(type)])).length > 0
    },
    async get({ log }, type) {
      const row = await read(log.latest(type))
      return row === undefined ? null : JSON.parse(row.value.toString())
    },
    async update({ log, seen }, name, change) {
      const key = log.variable(name)
      const row = await read(key)
      const value = change(row === undefined ? undefined : JSON.parse(row.value.toString()))
      const bytes = Buffer.from(JSON.stringify(value))
      const rows = await ask('update', PG_UPDATE, [log.record, seen, key, bytes, row?.revision ?? 0])
      if (rows.length === 0) throw new Error('refused')
    },
    async close() {
      await pool.end()
    },
  }
}

const REDIS_APPEND = `
  if redis.call('HGET', KEYS[1], 'r') ~= ARGV[1] or redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
  local revision = redis.call('INCR', KEYS[4])
  redis.call('HSET', KEYS[2], 'v', ARGV[2], 'r', revision)
  redis.call('HSET', KEYS[3], 'v', ARGV[2], 'r', revision)
  return revision`
const REDIS_PUT = `
  if ARGV[1] ~= '' and redis.call('HGET', KEYS[1], 'r') ~= ARGV[1] then return 0 end
  if (redis.call('HGET', KEYS[2], 'r') or '') ~= ARGV[2] then return 0 end
  local revision = redis.call('INCR', KEYS[3])
  redis.call('HSET', KEYS[2], 'v', ARGV[3], 'r', revision)
  return revision`

export async function openBareRedis(url) {
  const { Redis } = await import('ioredis')
  const redis = new Redis(url)
  redis.defineCommand('bareAppend', { numberOfKeys: 4, lua: REDIS_APPEND })
  redis.defineCommand('barePut', { numberOfKeys: 3, lua: REDIS_PUT })
  const keyOf = (key) => `bare:${key}`
  const counter = keyOf('revision')
  const read = (key) => redis.hmgetBuffer(keyOf(key), 'v', 'r')
  return {
    async start(execution) {
      const log = new BareLog(execution)
      const revision = await redis.barePut(keyOf('none'), keyOf(log.record), counter, '', '', RECORD)
      return { log, seen: String(revision) }
    },
    async append({ log, seen }, event) {
      const { entry, latest, value } = log.next(event)
      const keys = [log.record, entry, latest].map(keyOf)
      if ((await redis.bareAppend(...keys, counter, seen, value)) === 0) throw new Error('refused')
    },
    async has({ log }, type) {
      return (await redis.exists(keyOf(log.latest(type)))) === 1
    },
    async get({ log }, type) {
      const [value] = await read(log.latest(type))
      return value === null ? null : JSON.parse(value.toString())
    },
    async update({ log, seen }, name, change) {
      const key = log.variable(name)
      const [value, revision] = await read(key)
      const next = Buffer.from(
        JSON.stringify(change(value === null ? undefined : JSON.parse(value.toString()))),
      )
      const keys = [keyOf(log.record), keyOf(key), counter]
      const answer = await redis.barePut(...keys, seen, revision?.toString() ?? '', next)
      if (answer === 0) throw new Error('refused')
    },
    async close() {
      redis.disconnect()
    },
  }
}

export async function openBareEtcd(url) {
  const { Etcd3 } = await import('etcd3')
  const client = new Etcd3({ hosts: [url] })
  const keyOf = (key) => `bare/${key}`
  return {
    async start(execution) {
      const log = new BareLog(execution)
      const { header } = await client.put(keyOf(log.record)).value(RECORD)
      return { log, seen: header.revision }
    },
    async append({ log, seen }, event) {
      const { entry, latest, value } = log.next(event)
      const { succeeded } = await client
        .if(keyOf(log.record), 'Mod', '==', seen)
        .and(keyOf(entry), 'Version', '==', 0)
        .then(client.put(keyOf(entry)).value(value), client.put(keyOf(latest)).value(value))
        .commit()
      if (!succeeded) throw new Error('refused')
    },
    async has({ log }, type) {
      return client.get(keyOf(log.latest(type))).exists()
    },
    async get({ log }, type) {
      return client.get(keyOf(log.latest(type))).json()
    },
    async update({ log, seen }, name, change) {
      const key = keyOf(log.variable(name))
      const { kvs } = await client.get(key).exec()
      const value = change(kvs[0] === undefined ? undefined : JSON.parse(kvs[0].value.toString()))
      const { succeeded } = await client
        .if(keyOf(log.record), 'Mod', '==', seen)
        .and(key, 'Mod', '==', kvs[0]?.mod_revision ?? 0)
        .then(client.put(key).value(JSON.stringify(value)))
        .commit()
      if (!succeeded) throw new Error('refused')
    },
    async close() {
      client.close()
    },
  }
}
