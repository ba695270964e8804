/** The store in PostgreSQL, shared between instances. Its functions are in `schema.ts`. */

import type { Client, PoolClient } from 'pg'
import { setTimeout as wait } from 'node:timers/promises'
import { InvalidError } from '../../base/errors.ts'
import { STORE_PAGE_MAX_BYTES } from '../../core/limits.ts'
import {
  STORE_ANSWER_TIMEOUT_MS,
  STORE_CHANGES_KEPT,
  STORE_CLEAR_ENTRIES,
  STORE_CONNECTIONS_MAX,
  STORE_EXPIRED_PER_SWEEP,
  STORE_WATCH_POLL_MS,
} from '../limits.ts'
import type { CommitOutcome, RangePage, Store, StoreChange, StoreEntry } from '../../core/ports.ts'
import type {
  Backend,
  ChangeFeed,
  ChangeRead,
  CheckedBatch,
  Cleared,
  ClearedOfEach,
  KeySpan,
  KeyStretch,
} from '../backend.ts'
import { reading, workOfBatch } from '../failures.ts'
import { guardStore } from '../guard.ts'
import { WakeUps } from '../wake-ups.ts'
import { WriteGroups } from '../write-groups.ts'
import {
  outcomeOfBatch,
  outcomesOfGroup,
  statementOfBatch,
  statementOfGroup,
  type CommitRow,
} from './commit-statements.ts'
import { Connections, isAnswer } from './connections.ts'
import { functionsSql, FUNCTIONS_VERSION, SCHEMA_VERSION, tablesSql } from './schema.ts'

export interface PostgresStoreOptions {
  /** `postgresql://user:password@host:5432/database`, with `?sslmode=` and the like where needed. */
  readonly url: string
  /** Created if it does not exist. Stores in different schemas are separate. */
  readonly schema?: string
  /** Most connections, not counting the one for watches. */
  readonly connections?: number
  /** How long a statement may take before it is stopped, in milliseconds; 10 s unless given. */
  readonly answerTimeoutMs?: number
  /** Changes kept for watches that lag behind. */
  readonly changesKept?: number
}

/**
 * ```ts
 * const store = await openPostgresStore({ url: 'postgresql://perago@db.internal/perago' })
 * ```
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const schema = options.schema ?? 'perago'
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new InvalidError(
      'stores/bad-address',
      `open a store: ${JSON.stringify(schema)} is not a valid schema name`,
      { next: 'Use lower-case letters, digits and "_".' },
    )
  }
  const connections = await Connections.open({
    url: options.url,
    connections: options.connections ?? STORE_CONNECTIONS_MAX,
    answerTimeoutMs: options.answerTimeoutMs ?? STORE_ANSWER_TIMEOUT_MS,
  })
  const changesKept = options.changesKept ?? STORE_CHANGES_KEPT
  try {
    const hasOldFunctions = !(await makeSchema(connections, schema))
    return guardStore(new PostgresBackend(connections, { schema, changesKept, hasOldFunctions }))
  } catch (error) {
    await connections.close()
    throw error
  }
}

interface Row {
  readonly key: string
  readonly value: Buffer
  readonly revision: string
  readonly expires: boolean
}

const NAME = 'postgres'
const CHANNEL = 'perago_store'
/** Pause between two notifications of other instances; watches of this process are woken by every batch. */
const NOTIFY_PAUSE_MS = 10
/** Groups of batches on their way; more would make them smaller. */
const GROUPS_AT_ONCE = 3
/** Old changes and expired entries are deleted once per this many batches. */
const CLEAN_EVERY = 64
const ALIVE = '(expires_at IS NULL OR expires_at > clock_timestamp())'
const SNAPSHOT = /^\d{1,20}:\d{1,20}:[\d,]*$/

class PostgresBackend implements Backend {
  readonly name = NAME
  readonly #connections: Connections
  readonly #schema: string
  readonly #changesKept: number
  readonly #hasOldFunctions: boolean
  readonly #groups: WriteGroups
  readonly #wakeUps = new WakeUps()
  readonly #feeds = new Set<ChangeFeed>()
  #listening: Promise<Client> | undefined
  #notifying: Promise<void> | undefined
  #unnotified = 0
  #uncleaned = 0

  constructor(
    connections: Connections,
    {
      schema,
      changesKept,
      hasOldFunctions,
    }: { schema: string; changesKept: number; hasOldFunctions: boolean },
  ) {
    this.#connections = connections
    this.#schema = schema
    this.#changesKept = changesKept
    this.#hasOldFunctions = hasOldFunctions
    this.#groups = new WriteGroups({
      groupsAtOnce: GROUPS_AT_ONCE,
      waitMs: connections.answerTimeoutMs,
      send: (batches) => this.#commitGroup(batches),
      workOf: (batch) => workOfBatch(NAME, batch),
      isFaultOfOne: (failure) => isAnswer((failure as { readonly cause?: unknown }).cause),
    })
  }

  async get(key: string, signal: AbortSignal | undefined): Promise<StoreEntry | undefined> {
    const text = `SELECT key, value, revision, expires_at IS NOT NULL AS expires FROM ${this.#schema}.entries WHERE key = $1 AND ${ALIVE}`
    const rows = await this.#connections.query<Row>(
      reading(NAME, 'read a key'),
      { name: 'get', text, values: [key] },
      signal,
    )
    return rows[0] === undefined ? undefined : show(rows[0])
  }

  async sizeBytes(signal: AbortSignal | undefined): Promise<number> {
    const text = `SELECT sum(pg_total_relation_size(oid)) AS bytes FROM pg_class
      WHERE relkind = 'r' AND relnamespace = $1::regnamespace`
    const statement = { name: 'size', text, values: [this.#schema] }
    const [row] = await this.#connections.query<{ readonly bytes: string | null }>(
      reading(NAME, 'measure the store'),
      statement,
      signal,
    )
    return Number(row?.bytes ?? 0)
  }

  async range({ from, to, order, limit }: KeySpan, signal: AbortSignal | undefined): Promise<RangePage> {
    const direction = order === 'ascending' ? 'ASC' : 'DESC'
    const below = to === undefined ? '' : 'AND key < $3 COLLATE "C"'
    // The first entry always fits; others while the ones before are below the limit.
    const text = `
      SELECT key, revision, expires, CASE WHEN before < ${STORE_PAGE_MAX_BYTES} AND number <= $2 THEN value END AS value
      FROM (
        SELECT key, revision, expires, value, row_number() OVER in_order AS number,
          coalesce(sum(octet_length(value)) OVER (in_order ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
        FROM (
          SELECT key, revision, value, expires_at IS NOT NULL AS expires FROM ${this.#schema}.entries
          WHERE key >= $1 COLLATE "C" ${below} AND ${ALIVE}
          ORDER BY key ${direction} LIMIT $2 + 1
        ) AS chosen
        WINDOW in_order AS (ORDER BY key ${direction})
      ) AS measured ORDER BY number`
    // Two statements: a plan made for both would read on to the end of the table.
    const name = `${to === undefined ? 'open-range' : 'range'}-${order}`
    const statement = { name, text, values: to === undefined ? [from, limit] : [from, limit, to] }
    const rows = await this.#connections.query<Omit<Row, 'value'> & { readonly value: Buffer | null }>(
      reading(NAME, 'read a range'),
      statement,
      signal,
    )
    const entries = rows.flatMap(({ value, ...row }) => (value === null ? [] : [show({ ...row, value })]))
    return { entries, next: entries.length < rows.length ? entries.at(-1)?.key : undefined }
  }

  async commit(batch: CheckedBatch, signal: AbortSignal | undefined): Promise<CommitOutcome> {
    if (this.#hasOldFunctions) return this.#commitAlone(batch, signal)
    return this.#groups.write(batch, signal)
  }

  async #commitAlone(batch: CheckedBatch, signal: AbortSignal | undefined): Promise<CommitOutcome> {
    const statement = statementOfBatch(this.#schema, batch)
    const rows = await this.#connections.query<CommitRow>(workOfBatch(NAME, batch), statement, signal)
    const outcome = outcomeOfBatch(rows)
    if (outcome.committed) this.#notify()
    return outcome
  }

  async #commitGroup(batches: readonly CheckedBatch[]): Promise<readonly CommitOutcome[]> {
    const operations = batches.flatMap((batch) => batch.operations)
    const work = workOfBatch(NAME, { conditions: [], operations })
    const rows = await this.#connections.query<CommitRow>(work, statementOfGroup(this.#schema, batches))
    const outcomes = outcomesOfGroup(batches.length, rows)
    this.#notify(outcomes.filter(({ committed }) => committed).length)
    return outcomes
  }

  async clearSome({ from, to }: KeyStretch, signal: AbortSignal | undefined): Promise<Cleared> {
    const work = { store: NAME, doing: 'delete by prefix', changes: [from] }
    const text = `SELECT * FROM ${this.#schema}.clear_some($1, $2, ${STORE_CLEAR_ENTRIES}) AS cleared`
    const statement = { name: 'clear', text, values: [from, to ?? null] }
    const [row] = await this.#connections.query<{ alive: number; cleared: number }>(work, statement, signal)
    this.#notify()
    return { count: row?.alive ?? 0, more: row?.cleared === STORE_CLEAR_ENTRIES }
  }

  async clearSomeOfEach(
    stretches: readonly KeyStretch[],
    signal: AbortSignal | undefined,
  ): Promise<ClearedOfEach> {
    if (this.#hasOldFunctions) return this.#clearOneByOne(stretches, signal)
    const work = { store: NAME, doing: 'delete by prefixes', changes: stretches.map(({ from }) => from) }
    const text = `SELECT * FROM ${this.#schema}.clear_each($1, $2, ${STORE_CLEAR_ENTRIES})`
    const values = [stretches.map(({ from }) => from), stretches.map(({ to }) => to ?? null)]
    const [row] = await this.#connections.query<{
      readonly alive: readonly number[]
      readonly cleared: number
    }>(work, { name: 'clear-each', text, values }, signal)
    this.#notify()
    return { counts: row?.alive ?? [], more: row?.cleared === STORE_CLEAR_ENTRIES }
  }

  async #clearOneByOne(
    stretches: readonly KeyStretch[],
    signal: AbortSignal | undefined,
  ): Promise<ClearedOfEach> {
    const cleared: Cleared[] = []
    for (const stretch of stretches) cleared.push(await this.clearSome(stretch, signal))
    return { counts: cleared.map(({ count }) => count), more: cleared.some(({ more }) => more) }
  }

  openFeed(stretch: KeyStretch): ChangeFeed {
    const feed: ChangeFeed = {
      end: async (signal) => {
        await this.#listen()
        const text = `SELECT epoch, pg_current_snapshot()::text AS snapshot FROM ${this.#schema}.state`
        const [row] = await this.#connections.query<{ epoch: string; snapshot: string }>(
          reading(NAME, 'watch'),
          { name: 'end', text },
          signal,
        )
        return `${row?.epoch ?? ''}/${row?.snapshot ?? ''}`
      },
      read: async (cursor, signal) => {
        await this.#listen()
        return this.#readChanges(cursor, stretch, signal)
      },
      wait: async (_cursor, signal) => {
        await this.#wakeUps.wait(STORE_WATCH_POLL_MS, signal)
        if (!signal.aborted) await this.#removeExpired(signal)
      },
      close: async () => {
        this.#feeds.delete(feed)
        if (this.#feeds.size === 0) await this.#stopListening()
      },
    }
    this.#feeds.add(feed)
    return feed
  }

  async close(): Promise<void> {
    this.#groups.close()
    await this.#notifying
    await this.#stopListening()
    await this.#connections.close()
  }

  async #readChanges(
    cursor: string,
    { from, to }: KeyStretch,
    signal: AbortSignal,
  ): Promise<ChangeRead | 'lost'> {
    const [epoch, snapshot = ''] = cursor.split('/')
    if (!SNAPSHOT.test(snapshot)) return 'lost'
    const text = `
      SELECT state.epoch, pg_current_snapshot()::text AS snapshot,
        state.forgotten > pg_snapshot_xmin($1::pg_snapshot)
          OR pg_snapshot_xmin($1::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot()) AS lost,
        change.key, change.kind
      FROM ${this.#schema}.state LEFT JOIN LATERAL (
        SELECT * FROM ${this.#schema}.changes
        WHERE xid >= pg_snapshot_xmin($1::pg_snapshot) AND NOT pg_visible_in_snapshot(xid, $1::pg_snapshot)
          AND key >= $2 COLLATE "C" AND ($3::text IS NULL OR key < $3 COLLATE "C")
      ) AS change ON true
      ORDER BY change.xid, change.revision, change.position`
    const rows = await this.#connections.query<{
      readonly epoch: string
      readonly snapshot: string
      readonly lost: boolean
      readonly key: string | null
      readonly kind: StoreChange['kind']
    }>(reading(NAME, 'watch'), { name: 'changes', text, values: [snapshot, from, to ?? null] }, signal)
    const [first] = rows
    if (first === undefined || first.epoch !== epoch || first.lost) return 'lost'
    const changes = rows.flatMap(({ key, kind }) => (key === null ? [] : [{ key, kind }]))
    return { changes, cursor: `${first.epoch}/${first.snapshot}`, more: false }
  }

  async #removeExpired(signal: AbortSignal | undefined): Promise<void> {
    const text = `SELECT ${this.#schema}.remove_expired(${STORE_EXPIRED_PER_SWEEP}) AS removed`
    const statement = { name: 'expire', text }
    const [row] = await this.#connections.query<{ removed: number }>(
      reading(NAME, 'remove expired entries'),
      statement,
      signal,
    )
    if ((row?.removed ?? 0) > 0) this.#notify()
  }

  /** Notifies the watches of all instances, and cleans up at times; one such task runs at a time. */
  #notify(batches = 1): void {
    if (batches === 0) return
    this.#unnotified += batches
    this.#uncleaned += batches
    this.#wakeUps.wake()
    this.#notifying ??= this.#runNotifications()
  }

  async #runNotifications(): Promise<void> {
    while (this.#unnotified > 0) {
      this.#unnotified = 0
      try {
        // In a separate transaction, which writes nothing and so does not wait for the disk.
        const statement = { name: 'notify', text: `NOTIFY ${CHANNEL}` }
        await this.#connections.query(reading(NAME, 'wake watches'), statement)
        if (this.#uncleaned >= CLEAN_EVERY) {
          this.#uncleaned = 0
          await this.#cleanUp()
        }
        // Otherwise a busy writer would send one notification per batch.
        await wait(NOTIFY_PAUSE_MS)
      } catch {
        // Watches also poll, and the clean-up can wait.
        continue
      }
    }
    this.#notifying = undefined
  }

  async #cleanUp(): Promise<void> {
    const text = `SELECT ${this.#schema}.forget_changes(${this.#changesKept})`
    await this.#connections.query(
      reading(NAME, 'forget changes'),
      { name: 'forget', text, values: [] },
      undefined,
    )
    await this.#removeExpired(undefined)
  }

  /** One connection for all watches of this store; reopened if it breaks. */
  async #listen(): Promise<void> {
    this.#listening ??= this.#openListener()
    const listening = this.#listening
    try {
      await listening
    } catch (error) {
      if (this.#listening === listening) this.#listening = undefined
      throw error
    }
  }

  async #openListener(): Promise<Client> {
    const client = await this.#connections.openClient(reading(NAME, 'watch'))
    const forget = (): void => {
      this.#listening = undefined
      this.#wakeUps.wake()
    }
    client.on('notification', () => this.#wakeUps.wake())
    client.on('error', forget)
    client.on('end', forget)
    await client.query(`LISTEN ${CHANNEL}`)
    return client
  }

  async #stopListening(): Promise<void> {
    const listening = this.#listening
    this.#listening = undefined
    try {
      const client = await listening
      await client?.end()
    } catch {
      // It was never opened, or is broken already.
    }
  }
}

/** A lock lets one of several starting instances create it. Answers whether its functions are those of this version. */
async function makeSchema(connections: Connections, schema: string): Promise<boolean> {
  return connections.transaction(reading(NAME, 'open the store'), async (client) => {
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 1))', [`perago:${schema}`])
    const { rows } = await client.query<{ state: string | null }>('SELECT to_regclass($1)::text AS state', [
      `${schema}.state`,
    ])
    if (rows[0]?.state === null) {
      await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
      await client.query(tablesSql(schema) + functionsSql(schema))
      return true
    }
    const state = await client.query<{ version: number }>(`SELECT version FROM ${schema}.state`)
    const version = state.rows[0]?.version
    if (version === SCHEMA_VERSION) return renewFunctions(client, schema)
    throw new InvalidError(
      'stores/unsupported-version',
      `open the store in schema ${schema}: it has version ${String(version)}, this program knows ${SCHEMA_VERSION}`,
      { details: { schema, version }, next: 'Use the version of perago that wrote it.' },
    )
  })
}

/** Older functions do the same, but slower: whoever may not replace them works with them. */
async function renewFunctions(client: PoolClient, schema: string): Promise<boolean> {
  const { rows } = await client.query<{ readonly version: string | null; readonly may: boolean }>(
    `SELECT obj_description(oid, 'pg_proc') AS version,
      pg_has_role(proowner, 'USAGE') AND has_schema_privilege(pronamespace, 'CREATE') AS may
    FROM pg_proc WHERE pronamespace = $1::regnamespace AND proname = 'clear_some'`,
    [schema],
  )
  const [found] = rows
  const version = Number(/^perago (\d+)$/.exec(found?.version ?? '')?.[1] ?? 1)
  if (version >= FUNCTIONS_VERSION) return true
  if (found?.may !== true) return false
  await client.query(functionsSql(schema))
  return true
}

function show({ key, value, revision, expires }: Row): StoreEntry {
  return { key, value: Uint8Array.from(value), revision: Number(revision), expires }
}
