/** Reads of an execution whose events are in the archive. The results equal those of the store before. */

import { ARCHIVE_BATCH_EVENTS } from '../limits.ts'
import { decodeJson, encodeJson } from '../json.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Scope } from '../namespaces/scope.ts'
import type { ArchivePlace, EventArchive, EventRow } from './archive-port.ts'
import type { CheckedFilter } from './event-filter.ts'
import type { SourceKind } from './event-types.ts'
import type { ExecutionEvent } from './event.ts'

/** An event, and how large it is as recorded; without its names in the archive, which has them in columns. */
export interface FoundEvent {
  readonly event: ExecutionEvent
  readonly bytes: number
}

export function placeOf({ tenant, execution }: Pick<Scope, 'tenant' | 'execution'>): ArchivePlace {
  return { tenant: tenant ?? '', execution }
}

export async function readArchivedLatest(
  archive: EventArchive,
  scope: Scope,
  type: string,
): Promise<ExecutionEvent | undefined> {
  const query = { ...placeOf(scope), types: [type], order: 'descending', limit: 1 } as const
  const [row] = await archive.read(query)
  return row === undefined ? undefined : eventOfRow(row, scope)
}

/** Patterns are matched against the types that the execution has; the database does the rest. */
export async function* listArchived(
  archive: EventArchive,
  scope: Scope,
  filter: CheckedFilter,
): AsyncGenerator<FoundEvent, void, undefined> {
  const place = placeOf(scope)
  const { entityType: sourceType, entityId: sourceId, start, end, order } = filter
  const types = filter.types && (await findTypes(archive, place, filter))
  const limit = Math.min(filter.limit ?? ARCHIVE_BATCH_EVENTS, ARCHIVE_BATCH_EVENTS)
  const wanted = { ...place, types, sourceType, sourceId, start, end, order, limit }
  let { after } = filter
  for (;;) {
    const rows = await archive.read({ ...wanted, after })
    for (const row of rows) yield { event: eventOfRow(row, scope), bytes: Buffer.byteLength(row.payload) }
    if (rows.length < limit) return
    after = rows.at(-1)?.sequence
  }
}

async function findTypes(
  archive: EventArchive,
  place: ArchivePlace,
  { types = [], isType }: CheckedFilter,
): Promise<readonly string[]> {
  if (!types.some((type) => type.includes('*'))) return [...new Set(types)]
  return (await archive.listTypes(place)).filter(isType)
}

export function rowOfEvent(event: ExecutionEvent, scope: Scope): EventRow {
  return {
    id: event.id,
    ...placeOf(scope),
    sequence: event.sequence,
    type: event.type,
    sourceType: event.source.entityType,
    sourceId: event.source.entityId,
    payload: encodeJson(event.payload, { what: 'payload', bytesMax: Infinity }),
    timestamp: event.timestamp,
  }
}

function eventOfRow(row: EventRow, { execution }: Scope): ExecutionEvent {
  return Object.freeze({
    id: row.id,
    executionId: execution,
    sequence: row.sequence,
    type: row.type,
    source: Object.freeze({ entityType: row.sourceType as SourceKind, entityId: row.sourceId }),
    payload: decodeJson(row.payload) as JsonObject,
    timestamp: row.timestamp,
  })
}
