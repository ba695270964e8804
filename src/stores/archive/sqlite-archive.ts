/** The archive of events in a separate SQLite file. */

import { UnavailableError, isPeragoError, messageOf } from '../../base/errors.ts'
import type { EventArchive, EventRow } from '../../core/events/archive-port.ts'
import type { SqlValue } from '../../base/sqlite-connection.ts'
import { nextAfter, sqliteTroubleOf } from '../../base/sqlite-trouble.ts'
import { corruptStore } from '../corruption.ts'
import { eventRowOf, selectEvents, type QueryDialect, type StoredRow } from './event-rows.ts'
import { openArchiveDatabase } from './sqlite-archive-file.ts'

export interface SqliteArchiveOptions {
  /** Created if it does not exist. Not the file of the store. */
  readonly file: string
}

/**
 * ```ts
 * const archive = openSqliteArchive({ file: 'events.db' })
 * ```
 */
export function openSqliteArchive({ file }: SqliteArchiveOptions): EventArchive {
  const db = openArchiveDatabase(file)
  // libsql is synchronous, so a failed call has done nothing.
  const act = async <T>(doing: string, work: () => T): Promise<T> => {
    try {
      return await Promise.resolve(work())
    } catch (cause) {
      db.rollBack()
      if (isPeragoError(cause)) throw cause
      const trouble = sqliteTroubleOf(cause)
      if (trouble === 'corrupt')
        throw corruptStore({ where: file, doing: `${doing} the archive`, what: messageOf(cause), cause })
      throw new UnavailableError(
        'stores/archive-failed',
        `${doing} the archive ${file}: ${messageOf(cause)}`,
        {
          next: nextAfter(trouble, file),
          cause,
        },
      )
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
        const types = query.types && JSON.stringify(query.types)
        const { text, values } = selectEvents({ ...query, types }, DIALECT)
        return db.all<StoredRow>(text, ...(values as readonly SqlValue[])).map(eventRowOf)
      }),
    listTypes: ({ tenant, execution }) =>
      act('read', () => {
        const sql = `SELECT DISTINCT event_type FROM events WHERE ${OF_EXECUTION}`
        return db.all<{ event_type: string }>(sql, tenant, execution).map(({ event_type }) => event_type)
      }),
    count: ({ tenant, execution }) =>
      act('read', () => {
        const sql = `SELECT count(*) AS n FROM events WHERE ${OF_EXECUTION}`
        return db.get<{ n: number }>(sql, tenant, execution)?.n ?? 0
      }),
    remove: ({ tenant, execution }) =>
      act('remove from', () => db.run(`DELETE FROM events WHERE ${OF_EXECUTION}`, tenant, execution)),
    close: () => {
      db.close()
      return Promise.resolve()
    },
  }
}

const OF_EXECUTION = 'tenant = ? AND execution_id = ?'

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

const DIALECT: QueryDialect = {
  table: 'events',
  payload: 'json(payload)',
  typeIn: 'event_type IN (SELECT value FROM json_each(?))',
  timestamp: '?',
  value: () => '?',
}
