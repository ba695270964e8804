/** The table `events` of an archive, in both databases. */

import type { DefectError } from '../../base/errors.ts'
import type { EventRow, EventRowQuery, RowPlace, WalkableArchive } from '../../core/events/archive-port.ts'
import { corruptStore } from '../corruption.ts'

/** As SQLite's driver returns text that is read as bytes, since it ends the process on text that is not UTF-8. */
type Text = string | Buffer

/** One row as a driver returns it. */
export interface StoredRow {
  readonly id: Text
  readonly tenant: Text
  readonly execution_id: Text
  /** PostgreSQL's driver gives a bigint as text. */
  readonly sequence: number | string
  readonly event_type: Text
  readonly source_type: Text
  readonly source_id: Text
  /** `null` where it is damaged. */
  readonly payload: Text | null
  readonly timestamp: Text | Date
}

export function eventRowOf({ timestamp, payload, ...stored }: StoredRow): EventRow {
  return {
    id: stored.id.toString(),
    tenant: stored.tenant.toString(),
    execution: stored.execution_id.toString(),
    sequence: Number(stored.sequence),
    type: stored.event_type.toString(),
    sourceType: stored.source_type.toString(),
    sourceId: stored.source_id.toString(),
    payload: payload?.toString() ?? '',
    timestamp: timestamp instanceof Date ? timestamp.toISOString() : timestamp.toString(),
  }
}

/** Of a row whose payload is damaged. */
export function damagedRow(
  where: string,
  { tenant, execution, sequence }: RowPlace,
  what = 'its payload is changed',
): DefectError {
  const key = keyOfRow({ tenant, execution, sequence })
  return corruptStore({ where, doing: `read event ${sequence} of execution ${execution}`, what, key })
}

/** Names a row in messages. No key of a store begins so. */
export function keyOfRow({ tenant, execution, sequence }: RowPlace): string {
  return `archive:${tenant === '' ? '' : `${tenant}/`}${execution}:${sequence}`
}

/** The parts of a query that differ between the two databases. */
export interface QueryDialect {
  readonly table: string
  /** The columns of `StoredRow`. */
  readonly columns: string
  /** The condition that the type is in a list, which is one value. */
  readonly typeIn: string
  readonly timestamp: string
  /** The placeholder of a value, counted from 1. */
  readonly value: (place: number) => string
}

/** The statement for a query, and its values in order. */
export function selectEvents(
  { order, types, ...query }: Omit<EventRowQuery, 'types'> & { readonly types?: unknown },
  dialect: QueryDialect,
): { readonly text: string; readonly values: readonly unknown[] } {
  const isAscending = order === 'ascending'
  const wanted: readonly (readonly [string, unknown])[] = [
    ['tenant = ?', query.tenant],
    ['execution_id = ?', query.execution],
    [dialect.typeIn, types],
    ['source_type = ?', query.sourceType],
    ['source_id = ?', query.sourceId],
    [`timestamp >= ${dialect.timestamp}`, query.start],
    [`timestamp < ${dialect.timestamp}`, query.end],
    [isAscending ? 'sequence > ?' : 'sequence < ?', query.after],
  ]
  const given = wanted.filter(([, value]) => value !== undefined)
  const where = given.map(([condition], index) => condition.replace('?', dialect.value(index + 1)))
  return {
    text: `SELECT ${dialect.columns} FROM ${dialect.table} WHERE ${where.join(' AND ')}
      ORDER BY events.sequence ${isAscending ? 'ASC' : 'DESC'} LIMIT ${dialect.value(given.length + 1)}`,
    values: [...given.map(([, value]) => value), query.limit],
  }
}

/** The statement for a walk through all rows, and its values in order. */
export function listEvents(
  { after, limit }: Parameters<WalkableArchive['list']>[0],
  { table, columns, value }: Omit<QueryDialect, 'typeIn' | 'timestamp'>,
): { readonly text: string; readonly values: readonly (string | number)[] } {
  return {
    text: `SELECT ${columns} FROM ${table}
      WHERE (execution_id, tenant, sequence) > (${value(1)}, ${value(2)}, ${value(3)})
      ORDER BY events.execution_id, events.tenant, events.sequence LIMIT ${value(4)}`,
    values: [after?.execution ?? '', after?.tenant ?? '', after?.sequence ?? 0, limit],
  }
}
