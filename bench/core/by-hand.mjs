// What somebody would write by hand for the same promises about events and variables: numbers without gaps, the latest event of each
// type, a variable under compare-and-set with an entry of its history, nothing once the execution has ended. One round trip for each
// write, as the revision of what was written last is remembered.
import { randomUUID } from 'node:crypto'

const RECORD = JSON.stringify({ status: 'running' })
/** Entries of one history, as in the core. */
const HISTORY = 50

/** Keys and values of one execution. */
class HandWritten {
  #sequence = 0
  #writer = randomUUID()
  /** Of each variable: its revision, and how often it was written. */
  #variables = new Map()

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
    const entry = `log:${this.execution}:${String(sequence).padStart(16, '0')}`
    return { entry, latest: `events:${this.execution}:${type}`, value }
  }

  change(name, value) {
    let known = this.#variables.get(name)
    if (known === undefined) this.#variables.set(name, (known = { revision: undefined, count: 0 }))
    const count = known.count++
    const text = JSON.stringify(value)
    return {
      known,
      key: `variables:${this.execution}:${name}`,
      text,
      historyKey: `history:${this.execution}:${name}:${this.#writer}-${count % HISTORY}`,
      historyText: `{"atMs":${Date.now()},"count":${count},"values":{"${name}":${text}}}`,
    }
  }
}

/** A Map that keeps an order, gives out nothing that its callers could alter, and tells watchers. */
export function openMapByHand() {
  const store = new MapByHand()
  return {
    async start(execution) {
      const log = new HandWritten(execution)
      return { log, seen: store.commit([], [[log.record, RECORD]]) }
    },
    async append({ log, seen }, event) {
      const { entry, latest, value } = log.next(event)
      store.commit(
        [
          [log.record, seen],
          [entry, undefined],
        ],
        [
          [entry, value],
          [latest, value],
        ],
      )
    },
    async set({ log, seen }, name, value) {
      const { known, key, text, historyKey, historyText } = log.change(name, value)
      known.revision = store.commit(
        [
          [log.record, seen],
          [key, known.revision],
        ],
        [
          [key, text],
          [historyKey, historyText],
        ],
      )
    },
    /** Bytes of the caller are copied. */
    async batch(place, n, bytes) {
      const [entry, latest] = keysOfBatch(place, n)
      const value = new Uint8Array(bytes)
      store.commit(
        [[entry, undefined]],
        [
          [entry, value],
          [latest, value],
        ],
      )
    },
    async close() {},
  }
}

const TYPES = 10

/** A new key, and one that is there already but for the first few times. */
export function keysOfBatch(place, n) {
  return [`log:${place}:${String(n).padStart(16, '0')}`, `events:${place}:t${n % TYPES}`]
}

const CHANGES_KEPT = 10_000

/** Texts cannot be altered, so that they need no copy. The order is made when somebody reads a range. */
class MapByHand {
  #held = new Map()
  #unsorted = []
  #changes = []
  #revision = 0
  #watchers = new Set()

  commit(conditions, puts) {
    for (const [key, revision] of conditions) {
      if (this.#held.get(key)?.revision !== revision) throw new Error('refused')
    }
    const revision = (this.#revision += 1)
    for (const [key, value] of puts) {
      if (!this.#held.has(key)) this.#unsorted.push(key)
      this.#held.set(key, { value, revision })
    }
    this.#changes.push({ revision, keys: puts.map(([key]) => key) })
    if (this.#changes.length > 2 * CHANGES_KEPT) this.#changes = this.#changes.slice(-CHANGES_KEPT)
    for (const tell of this.#watchers) tell()
    return revision
  }
}

const PG_APPEND = `
  WITH standing AS (SELECT 1 FROM hand.entries WHERE key = $1 AND revision = $2 FOR KEY SHARE),
    entry AS (INSERT INTO hand.entries SELECT $3, $5, nextval('hand.revisions') FROM standing ON CONFLICT DO NOTHING RETURNING revision)
  INSERT INTO hand.entries SELECT $4, $5, revision FROM entry
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, revision = excluded.revision RETURNING revision`
const PG_SET = `
  WITH standing AS (SELECT 1 FROM hand.entries WHERE key = $1 AND revision = $2 FOR KEY SHARE),
    variable AS (INSERT INTO hand.entries SELECT $3, $4, nextval('hand.revisions') FROM standing
      ON CONFLICT (key) DO UPDATE SET value = excluded.value, revision = excluded.revision WHERE hand.entries.revision = $5
      RETURNING revision)
  INSERT INTO hand.entries SELECT $6, $7, revision FROM variable
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, revision = excluded.revision RETURNING revision`

export async function openPgByHand(url, connections) {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({ connectionString: url, max: connections })
  await pool.query(`DROP SCHEMA IF EXISTS hand CASCADE; CREATE SCHEMA hand; CREATE SEQUENCE hand.revisions;
    CREATE TABLE hand.entries (key text COLLATE "C" PRIMARY KEY, value bytea NOT NULL, revision bigint NOT NULL)`)
  const write = async (name, text, values) => {
    const { rows } = await pool.query({ name, text, values })
    if (rows.length === 0) throw new Error('refused')
    return rows[0].revision
  }
  return {
    async start(execution) {
      const log = new HandWritten(execution)
      const text = `INSERT INTO hand.entries VALUES ($1, $2, nextval('hand.revisions')) RETURNING revision`
      return { log, seen: await write('start', text, [log.record, Buffer.from(RECORD)]) }
    },
    async append({ log, seen }, event) {
      const { entry, latest, value } = log.next(event)
      await write('append', PG_APPEND, [log.record, seen, entry, latest, Buffer.from(value)])
    },
    async set({ log, seen }, name, value) {
      const { known, key, text, historyKey, historyText } = log.change(name, value)
      const values = [log.record, seen, key, Buffer.from(text), known.revision ?? 0]
      known.revision = await write('set', PG_SET, [...values, historyKey, Buffer.from(historyText)])
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
const REDIS_SET = `
  if ARGV[1] ~= '' and redis.call('HGET', KEYS[1], 'r') ~= ARGV[1] then return 0 end
  if (redis.call('HGET', KEYS[2], 'r') or '') ~= ARGV[2] then return 0 end
  local revision = redis.call('INCR', KEYS[4])
  redis.call('HSET', KEYS[2], 'v', ARGV[3], 'r', revision)
  redis.call('HSET', KEYS[3], 'v', ARGV[4], 'r', revision)
  return revision`

export async function openRedisByHand(url) {
  const { Redis } = await import('ioredis')
  const redis = new Redis(url)
  redis.defineCommand('handAppend', { numberOfKeys: 4, lua: REDIS_APPEND })
  redis.defineCommand('handSet', { numberOfKeys: 4, lua: REDIS_SET })
  const keyOf = (key) => `hand:${key}`
  const counter = keyOf('revision')
  const told = (revision) => {
    if (revision === 0) throw new Error('refused')
    return String(revision)
  }
  return {
    async start(execution) {
      const log = new HandWritten(execution)
      const keys = [keyOf('none'), keyOf(log.record), keyOf(`none:${execution}`), counter]
      return { log, seen: told(await redis.handSet(...keys, '', '', RECORD, '')) }
    },
    async append({ log, seen }, event) {
      const { entry, latest, value } = log.next(event)
      told(await redis.handAppend(...[log.record, entry, latest].map(keyOf), counter, seen, value))
    },
    async set({ log, seen }, name, value) {
      const { known, key, text, historyKey, historyText } = log.change(name, value)
      const keys = [log.record, key, historyKey].map(keyOf)
      known.revision = told(
        await redis.handSet(...keys, counter, seen, known.revision ?? '', text, historyText),
      )
    },
    async close() {
      redis.disconnect()
    },
  }
}
