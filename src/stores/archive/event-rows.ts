/** The table `events` of an archive, in both databases. */

import type { EventRow, EventRowQuery } from '../../core/events/archive-port.ts'

/** One row as a driver returns it. */
export interface StoredRow {
  readonly id: string
  readonly tenant: string
  readonly execution_id: string
  /** PostgreSQL's driver gives a bigint as text. */
  readonly sequence: number | string
  readonly event_type: string
  readonly source_type: string
  readonly source_id: string
  readonly payload: string
  readonly timestamp: string | Date
}

export function eventRowOf({ timestamp, ...stored }: StoredRow): EventRow {
  return {
    id: stored.id,
    tenant: stored.tenant,
    execution: stored.execution_id,
    sequence: Number(stored.sequence),
    type: stored.event_type,
    sourceType: stored.source_type,
    sourceId: stored.source_id,
    payload: stored.payload,
    timestamp: typeof timestamp === 'string' ? timestamp : timestamp.toISOString(),
  }
}

/** The parts of a query that differ between the two databases. */
export interface QueryDialect {
  readonly table: string
  /** The payload as JSON text. */
  readonly payload: string
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
    text: `SELECT id, tenant, execution_id, sequence, event_type, source_type, source_id,
      ${dialect.payload} AS payload, timestamp FROM ${dialect.table} WHERE ${where.join(' AND ')}
      ORDER BY sequence ${isAscending ? 'ASC' : 'DESC'} LIMIT ${dialect.value(given.length + 1)}`,
    values: [...given.map(([, value]) => value), query.limit],
  }
}
