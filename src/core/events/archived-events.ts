/** Reads of an execution whose events are in the archive. The results equal those of the store before. */

import { DefectError, InvalidError } from '../../base/errors.ts'
import { ARCHIVE_BATCH_EVENTS } from '../limits.ts'
import { decodeJson, encodeJson } from '../json.ts'
import type { JsonObject } from '../../base/json.ts'
import { nextTurn } from '../../base/turns.ts'
import type { Scope } from '../namespaces/scope.ts'
import type { BoundScope } from '../namespaces/scopes.ts'
import { SEALED_SOURCE, type ArchivePlace, type EventArchive, type EventRow } from './archive-port.ts'
import { isUnfiltered, type CheckedFilter } from './event-filter.ts'
import type { Looked, Portion } from './event-pages.ts'
import { SOURCE_KINDS, type SourceKind } from './event-types.ts'
import type { ExecutionEvent } from './event.ts'
import { LogCheck } from './log-check.ts'

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
export async function* lookInArchive(
  archive: EventArchive,
  bound: BoundScope,
  filter: CheckedFilter,
): AsyncGenerator<Portion, void, undefined> {
  const { scope } = bound
  const place = placeOf(scope)
  const check = isUnfiltered(filter) ? new LogCheck(bound, filter, 'archive') : undefined
  const { entityType: sourceType, entityId: sourceId, start, end, order } = filter
  const types = filter.types && (await findTypes(archive, place, filter))
  const wanted = { ...place, types, sourceType, sourceId, start, end, order }
  let { after } = filter
  // More each time: of what a sealed archive returns, most may be of other sources.
  for (let count = filter.limit ?? ARCHIVE_BATCH_EVENTS; ; count *= 2) {
    count = Math.min(count, ARCHIVE_BATCH_EVENTS)
    // One more tells whether there are more.
    const rows = await archive.read({ ...wanted, after, limit: count + 1 })
    const looked: Looked[] = []
    for (const row of rows.slice(0, count)) {
      await check?.see(row.sequence)
      looked.push({ event: eventOfRow(row, scope), bytes: Buffer.byteLength(row.payload) })
    }
    const isLast = rows.length <= count
    yield { looked, isLast }
    if (isLast) return check?.end()
    after = looked.at(-1)?.event.sequence
    await nextTurn()
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
    source: Object.freeze({ entityType: kindOf(row), entityId: row.sourceId }),
    payload: decodeJson(row.payload) as JsonObject,
    timestamp: row.timestamp,
  })
}

function kindOf({ sourceType, execution, sequence }: EventRow): SourceKind {
  const kind = SOURCE_KINDS.find((one) => one === sourceType)
  if (kind !== undefined) return kind
  const doing = `read event ${sequence} of execution ${execution} from the archive`
  if (sourceType === SEALED_SOURCE) {
    throw new InvalidError('core/archive-is-sealed', `${doing}: it is encrypted, and no key is configured`, {
      next: 'Set store.keys to the keys that the archive was sealed with.',
    })
  }
  throw new DefectError('core/bad-record', `${doing}: it has no valid source`, {
    next: 'See with perago store verify what is damaged, and restore it from a copy of the archive.',
  })
}
