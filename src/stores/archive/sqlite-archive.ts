/** The archive of events in a separate SQLite file. */

import { UnavailableError, isPeragoError, messageOf } from '../../base/errors.ts'
import type { EventRow, WalkableArchive } from '../../core/events/archive-port.ts'
import type { SqlValue } from '../../base/sqlite-connection.ts'
import { nextAfter, sqliteTroubleOf } from '../../base/sqlite-trouble.ts'
import { corruptStore } from '../corruption.ts'
import { sizeOfDatabase } from '../sqlite/file-size.ts'
import {
  damagedRow,
  eventRowOf,
  listEvents,
  selectEvents,
  type QueryDialect,
  type StoredRow,
} from './event-rows.ts'
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
export function openSqliteArchive({ file }: SqliteArchiveOptions): WalkableArchive {
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
    sizeBytes: () => act('measure', () => sizeOfDatabase(file)),
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
        const rows = db.all<StoredRow>(text, ...(values as readonly SqlValue[])).map(eventRowOf)
        const damaged = rows.find(({ payload }) => payload === '')
        if (damaged !== undefined) throw damagedRow(file, damaged)
        return rows
      }),
    list: (request) =>
      act('read', () => {
        const { text, values } = listEvents(request, DIALECT)
        return db.all<StoredRow>(text, ...values).map(eventRowOf)
      }),
    rewrite: (rows) =>
      act('write to', () => {
        db.transaction(() => {
          for (const row of rows) db.run(REWRITE, ...sealedValuesOf(row))
        })
        // What was there before would stay in the log.
        db.emptyLog()
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
      db.emptyLog()
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

const REWRITE = `UPDATE events SET source_type = ?, source_id = ?, payload = jsonb(?)
  WHERE id = ? AND tenant = ? AND execution_id = ? AND sequence = ?`

function sealedValuesOf(row: EventRow): readonly (string | number)[] {
  return [row.sourceType, row.sourceId, row.payload, row.id, row.tenant, row.execution, row.sequence]
}

const TEXTS = ['id', 'tenant', 'execution_id', 'event_type', 'source_type', 'source_id', 'timestamp']

const DIALECT: QueryDialect = {
  table: 'events',
  // Text as bytes: the driver ends the process on text that is not UTF-8.
  columns: [
    ...TEXTS.map((name) => `coalesce(CAST(${name} AS BLOB), x'') AS ${name}`),
    'CAST(sequence AS INTEGER) AS sequence',
    'CASE WHEN json_valid(payload, 8) THEN CAST(json(payload) AS BLOB) END AS payload',
  ].join(', '),
  typeIn: 'event_type IN (SELECT value FROM json_each(?))',
  timestamp: '?',
  value: () => '?',
}
