/** The archive of events in a SQLite file of its own. */

import { UnavailableError, isPeragoError } from '../../base/errors.ts'
import type { ArchivePlace, EventArchive, EventRow, EventRowQuery } from '../../core/events/archive-port.ts'
import { openArchiveDatabase } from './sqlite-archive-file.ts'

export interface SqliteArchiveOptions {
  /** Made when it is not there. Another file than the store's. */
  readonly file: string
}

const COLUMNS =
  'id, tenant, execution_id, sequence, event_type, source_type, source_id, json(payload) AS payload, timestamp'

interface Stored {
  readonly id: string
  readonly tenant: string
  readonly execution_id: string
  readonly sequence: number
  readonly event_type: string
  readonly source_type: string
  readonly source_id: string
  readonly payload: string
  readonly timestamp: string
}

/**
 * ```ts
 * const archive = openSqliteArchive({ file: 'events.db' })
 * ```
 */
export function openSqliteArchive({ file }: SqliteArchiveOptions): EventArchive {
  const db = openArchiveDatabase(file)
  // libsql's calls are synchronous: each has happened, or has surely not.
  const act = async <T>(doing: string, work: () => T): Promise<T> => {
    try {
      return await Promise.resolve(work())
    } catch (cause) {
      db.rollBack()
      if (isPeragoError(cause)) throw cause
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new UnavailableError('stores/archive-failed', `${doing} the archive ${file}: ${why}`, {
        next: 'Check the file and the space on its disk; then try again.',
        cause,
      })
    }
  }
  return {
    name: 'sqlite archive',
    write: (rows) =>
      act('write to', () => {
        db.exec('BEGIN IMMEDIATE')
        for (const row of rows) db.run(INSERT, ...valuesOf(row))
        db.exec('COMMIT')
      }),
    read: (query) =>
      act('read', () => {
        const { text, values } = selectOf(query)
        return db.all<Stored>(text, ...values).map(rowOf)
      }),
    listTypes: ({ tenant, execution }) =>
      act('read', () =>
        db
          .all<{ event_type: string }>(
            'SELECT DISTINCT event_type FROM events WHERE tenant = ? AND execution_id = ?',
            tenant,
            execution,
          )
          .map(({ event_type }) => event_type),
      ),
    count: (place) => act('read', () => count(place)),
    remove: (place) =>
      act('remove from', () =>
        db.run('DELETE FROM events WHERE tenant = ? AND execution_id = ?', place.tenant, place.execution),
      ),
    close: () => {
      db.close()
      return Promise.resolve()
    },
  }

  function count({ tenant, execution }: ArchivePlace): number {
    const sql = 'SELECT count(*) AS n FROM events WHERE tenant = ? AND execution_id = ?'
    return db.get<{ n: number }>(sql, tenant, execution)?.n ?? 0
  }
}

const INSERT = `INSERT INTO events
  (id, tenant, execution_id, sequence, event_type, source_type, source_id, payload, timestamp)
  VALUES (?, ?, ?, ?, ?, ?, ?, jsonb(?), ?) ON CONFLICT DO NOTHING`

function valuesOf(row: EventRow): readonly (string | number)[] {
  return [
    row.id,
    row.tenant,
    row.execution,
    row.sequence,
    row.type,
    row.sourceType,
    row.sourceId,
    row.payload,
    row.timestamp,
  ]
}

function rowOf(stored: Stored): EventRow {
  return {
    id: stored.id,
    tenant: stored.tenant,
    execution: stored.execution_id,
    sequence: stored.sequence,
    type: stored.event_type,
    sourceType: stored.source_type,
    sourceId: stored.source_id,
    payload: stored.payload,
    timestamp: stored.timestamp,
  }
}

function selectOf(query: EventRowQuery): {
  readonly text: string
  readonly values: readonly (string | number)[]
} {
  const { order } = query
  const wanted: readonly (readonly [string, string | number | undefined])[] = [
    ['tenant = ?', query.tenant],
    ['execution_id = ?', query.execution],
    ['event_type IN (SELECT value FROM json_each(?))', query.types && JSON.stringify(query.types)],
    ['source_type = ?', query.sourceType],
    ['source_id = ?', query.sourceId],
    ['timestamp >= ?', query.start],
    ['timestamp < ?', query.end],
    [order === 'ascending' ? 'sequence > ?' : 'sequence < ?', query.after],
  ]
  const given = wanted.flatMap(([condition, value]) => (value === undefined ? [] : [{ condition, value }]))
  const where = given.map(({ condition }) => condition).join(' AND ')
  return {
    text: `SELECT ${COLUMNS} FROM events WHERE ${where} ORDER BY sequence ${order === 'ascending' ? 'ASC' : 'DESC'} LIMIT ?`,
    values: [...given.map(({ value }) => value), query.limit],
  }
}
