/** The archive of events in a table of PostgreSQL. */

import { InvalidError } from '../../base/errors.ts'
import { once } from '../../base/once.ts'
import { ARCHIVE_STATEMENT_TIMEOUT_MS, STORE_CONNECTIONS_MAX } from '../limits.ts'
import type {
  ArchivePlace,
  EventRow,
  EventRowQuery,
  WalkableArchive,
} from '../../core/events/archive-port.ts'
import type { Work } from '../failures.ts'
import { Connections } from '../postgres/connections.ts'
import { eventRowOf, listEvents, selectEvents, type QueryDialect, type StoredRow } from './event-rows.ts'

export interface PostgresArchiveOptions {
  /** `postgresql://user:password@host:port/database` */
  readonly url: string
  /** The schema that holds the table `events`; created if it does not exist. */
  readonly schema?: string
}

const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/

/**
 * ```ts
 * const archive = await openPostgresArchive({ url: 'postgresql://…', schema: 'perago_archive' })
 * ```
 */
export async function openPostgresArchive(options: PostgresArchiveOptions): Promise<WalkableArchive> {
  const { url, schema = 'perago_archive' } = options
  if (!SCHEMA_NAME.test(schema)) {
    throw new InvalidError(
      'stores/bad-schema',
      `open an archive in schema ${JSON.stringify(schema)}: it is not a valid name`,
      { next: 'Use lower-case letters, digits and "_".' },
    )
  }
  const connections = await Connections.open({
    url,
    connections: STORE_CONNECTIONS_MAX,
    answerTimeoutMs: ARCHIVE_STATEMENT_TIMEOUT_MS,
  })
  return new PostgresArchive(connections, schema)
}

const OF_EXECUTION = 'WHERE tenant = $1 AND execution_id = $2'
const reading: Work = { store: 'postgres archive', doing: 'read events', changes: [] }

class PostgresArchive implements WalkableArchive {
  readonly name = 'postgres archive'
  readonly #connections: Connections
  readonly #schema: string
  #ready: Promise<void> | undefined
  readonly close = once(() => this.#connections.close())

  constructor(connections: Connections, schema: string) {
    this.#connections = connections
    this.#schema = schema
  }

  async write(rows: readonly EventRow[]): Promise<void> {
    await this.#prepare()
    const column = (value: (row: EventRow) => string | number | null): readonly unknown[] => rows.map(value)
    const work = { store: this.name, doing: 'write events', changes: rows.slice(0, 1).map(({ id }) => id) }
    await this.#connections.query(work, {
      name: `archive-write-${this.#schema}`,
      text: `INSERT INTO ${this.#schema}.events
          (id, tenant, execution_id, sequence, event_type, source_type, source_id, payload, payload_exact, timestamp)
          SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[],
            $8::jsonb[], $9::text[], $10::timestamptz[])
          ON CONFLICT DO NOTHING`,
      values: [
        column(({ id }) => id),
        column(({ tenant }) => tenant),
        column(({ execution }) => execution),
        column(({ sequence }) => sequence),
        column(({ type }) => type),
        column(({ sourceType }) => sourceType),
        column(({ sourceId }) => sourceId),
        column(({ payload }) => (isExactAsJsonb(payload) ? payload : asJsonb(payload))),
        column(({ payload }) => (isExactAsJsonb(payload) ? null : payload)),
        column(({ timestamp }) => timestamp),
      ],
    })
  }

  async read(query: EventRowQuery): Promise<readonly EventRow[]> {
    await this.#prepare()
    const { text, values } = selectEvents(query, dialectOf(this.#schema))
    return (await this.#connections.query<StoredRow>(reading, { name: '', text, values })).map(eventRowOf)
  }

  async list(request: Parameters<WalkableArchive['list']>[0]): Promise<readonly EventRow[]> {
    await this.#prepare()
    const { text, values } = listEvents(request, dialectOf(this.#schema))
    return (await this.#connections.query<StoredRow>(reading, { name: '', text, values })).map(eventRowOf)
  }

  async rewrite(rows: readonly EventRow[]): Promise<void> {
    await this.#prepare()
    const work = {
      store: this.name,
      doing: 'write events again',
      changes: rows.slice(0, 1).map(({ id }) => id),
    }
    await this.#connections.query(work, {
      name: `archive-rewrite-${this.#schema}`,
      text: `UPDATE ${this.#schema}.events
          SET source_type = new.source_type, source_id = new.source_id, payload = new.payload, payload_exact = NULL
          FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::jsonb[])
            AS new (id, tenant, execution_id, sequence, source_type, source_id, payload)
          WHERE events.id = new.id AND events.tenant = new.tenant AND events.execution_id = new.execution_id
            AND events.sequence = new.sequence`,
      values: (['id', 'tenant', 'execution', 'sequence', 'sourceType', 'sourceId', 'payload'] as const).map(
        (name) => rows.map((row) => row[name]),
      ),
    })
  }

  async listTypes(place: ArchivePlace): Promise<readonly string[]> {
    const text = `SELECT DISTINCT event_type FROM ${this.#schema}.events ${OF_EXECUTION}`
    const rows = await this.#ask<{ event_type: string }>(reading, { name: 'types', text, place })
    return rows.map(({ event_type }) => event_type)
  }

  async count(place: ArchivePlace): Promise<number> {
    const text = `SELECT count(*) AS n FROM ${this.#schema}.events ${OF_EXECUTION}`
    const [row] = await this.#ask<{ n: string }>(reading, { name: 'count', text, place })
    return Number(row?.n ?? 0)
  }

  async sizeBytes(): Promise<number> {
    const statement = {
      name: '',
      text: 'SELECT pg_total_relation_size(to_regclass($1)) AS bytes',
      values: [`${this.#schema}.events`],
    }
    const [row] = await this.#connections.query<{ bytes: string | null }>(reading, statement)
    return Number(row?.bytes ?? 0)
  }

  async remove(place: ArchivePlace): Promise<number> {
    const work = { store: this.name, doing: 'remove events', changes: [place.execution] }
    const text = `WITH removed AS (DELETE FROM ${this.#schema}.events ${OF_EXECUTION} RETURNING 1)
      SELECT count(*) AS n FROM removed`
    const [row] = await this.#ask<{ n: string }>(work, { name: 'remove', text, place })
    return Number(row?.n ?? 0)
  }

  /** Runs a statement about the events of one execution. */
  async #ask<Row extends object>(
    work: Work,
    { name, text, place }: { readonly name: string; readonly text: string; readonly place: ArchivePlace },
  ): Promise<readonly Row[]> {
    await this.#prepare()
    const values = [place.tenant, place.execution]
    return this.#connections.query<Row>(work, { name: `archive-${name}-${this.#schema}`, text, values })
  }

  /** Not when the archive is opened: a server can start and run while its archive does not respond. */
  #prepare(): Promise<void> {
    this.#ready ??= this.#makeSchema().catch((error: unknown) => {
      this.#ready = undefined
      throw error
    })
    return this.#ready
  }

  async #makeSchema(): Promise<void> {
    const work = { store: this.name, doing: 'make the table', changes: [] }
    const look = {
      name: '',
      text: 'SELECT to_regclass($1)::text AS there',
      values: [`${this.#schema}.events`],
    }
    const [row] = await this.#connections.query<{ there: string | null }>(work, look)
    if (row?.there !== null) return
    await this.#connections.transaction(work, async (client) => {
      // Two instances may start at the same time; "IF NOT EXISTS" alone does not exclude them.
      await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`${this.#schema}.events`])
      await client.query(schemaSql(this.#schema))
    })
  }
}

function schemaSql(schema: string): string {
  return `
CREATE SCHEMA IF NOT EXISTS ${schema};
CREATE TABLE IF NOT EXISTS ${schema}.events (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  execution_id text COLLATE "C" NOT NULL,
  event_type text COLLATE "C" NOT NULL,
  source_type text NOT NULL,
  source_id text NOT NULL,
  sequence bigint NOT NULL,
  payload jsonb NOT NULL,
  payload_exact text,
  timestamp timestamptz NOT NULL
);
COMMENT ON COLUMN ${schema}.events.payload_exact IS
  'The payload as text, where jsonb cannot hold it exactly: the character U+0000, halves of surrogate pairs, -0.';
CREATE UNIQUE INDEX IF NOT EXISTS events_by_execution ON ${schema}.events (execution_id, tenant, sequence);
CREATE INDEX IF NOT EXISTS events_by_type ON ${schema}.events (event_type, execution_id, tenant, sequence);
`
}

/** Text that jsonb may refuse (U+0000, halves of surrogate pairs) or change (-0); some matches are false alarms. */
const NOT_IN_JSONB = /\\u0000|\\ud[89a-f][0-9a-f]{2}|-0(?![.\d])/i

function isExactAsJsonb(payload: string): boolean {
  return !NOT_IN_JSONB.test(payload)
}

function asJsonb(payload: string): string {
  return payload.replaceAll(/\\u0000|\\ud[89a-f][0-9a-f]{2}/gi, '\\ufffd')
}

function dialectOf(schema: string): QueryDialect {
  return {
    table: `${schema}.events`,
    columns: `id, tenant, execution_id, sequence, event_type, source_type, source_id,
      coalesce(payload_exact, payload::text) AS payload, timestamp`,
    typeIn: 'event_type = ANY(?::text[])',
    timestamp: '?::timestamptz',
    value: (place) => `$${place}`,
  }
}
