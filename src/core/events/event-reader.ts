/** The three reads of one execution's events. What has left the store is read from the archive, with the same answers. */

import { RefusedError, UnavailableError } from '../../base/errors.ts'
import { EVENT_QUERY_MAX_EVENTS, STORE_PAGE_MAX_ENTRIES } from '../limits.ts'
import type { ExecutionRecord } from '../namespaces/execution-record.ts'
import type { BoundScope } from '../namespaces/scopes.ts'
import type { EventArchive } from './archive-port.ts'
import { listArchived, readArchivedLatest } from './archived-events.ts'
import { readPages } from '../read-pages.ts'
import { checkFilter, isListed, type CheckedFilter, type EventFilter } from './event-filter.ts'
import { checkType } from './event-types.ts'
import { decodeEvent, decodeHeldEvent, type ExecutionEvent } from './event.ts'

/** A promise only where there is something to wait for: in memory the promise would cost more than the look. */
export function hasEvent(
  bound: BoundScope,
  archive: EventArchive | undefined,
  type: string,
): boolean | Promise<boolean> {
  const { store } = bound.scope
  const key = keyOf(bound, type)
  // What is found under a name has it rightly: only what is not found may be misnamed.
  if (store.peek?.(key) !== undefined) return true
  checkType(type)
  const isArchived = (): boolean | Promise<boolean> =>
    archive === undefined
      ? noneIn(bound)
      : readArchived(bound, archive, type).then((event) => event !== undefined)
  if (store.peek !== undefined) return isArchived()
  return store.get(key).then((entry) => entry !== undefined || isArchived())
}

export async function getEvent(
  bound: BoundScope,
  archive: EventArchive | undefined,
  type: string,
): Promise<ExecutionEvent | null> {
  const { store } = bound.scope
  const key = keyOf(bound, type)
  const held = store.peek?.(key)
  if (held !== undefined) return decodeHeldEvent(held.value)
  checkType(type)
  const entry = store.peek === undefined ? await store.get(key) : undefined
  if (entry !== undefined) return decodeEvent(entry.value)
  if (archive !== undefined) return (await readArchived(bound, archive, type)) ?? null
  noneIn(bound)
  return null
}

export async function queryEvents(
  bound: BoundScope,
  archive: EventArchive | undefined,
  filter: EventFilter | undefined,
): Promise<readonly ExecutionEvent[]> {
  const checked = checkFilter(filter)
  const hot = await collect(listHot(bound, checked), checked)
  // Asked after reading: what was freed while we read was archived before.
  if (archive === undefined) noneIn(bound)
  if (archive === undefined || !(await isArchived(bound))) return hot
  return collect(listArchived(archive, bound.scope, checked), checked)
}

async function collect(
  events: AsyncIterable<ExecutionEvent>,
  { limit }: CheckedFilter,
): Promise<readonly ExecutionEvent[]> {
  const listed: ExecutionEvent[] = []
  for await (const event of events) {
    if (listed.length === EVENT_QUERY_MAX_EVENTS) throw tooMany()
    listed.push(event)
    if (listed.length === limit) break
  }
  return Object.freeze(listed)
}

async function* listHot(
  { scope }: BoundScope,
  filter: CheckedFilter,
): AsyncGenerator<ExecutionEvent, void, undefined> {
  const { store, keys } = scope
  const range = {
    prefix: keys.log,
    order: filter.order,
    after: filter.after === undefined ? undefined : keys.entry(filter.after),
    // As many as are wanted, unless a filter may skip most of them.
    limit: Math.min(
      (filter.types === undefined ? filter.limit : undefined) ?? Infinity,
      STORE_PAGE_MAX_ENTRIES,
    ),
  }
  for await (const page of readPages(store, range)) {
    for (const { value } of page) {
      const event = decodeEvent(value)
      // The log is in order of time, so behind the range's far end there is nothing.
      const isBehind =
        filter.order === 'ascending'
          ? filter.end !== undefined && event.timestamp >= filter.end
          : filter.start !== undefined && event.timestamp < filter.start
      if (isBehind) return
      if (isListed(event, filter)) yield event
    }
  }
}

function keyOf({ scope }: BoundScope, type: string): string {
  try {
    return scope.keys.event(type)
  } catch (error) {
    // What would blur a key is no type either, and is told as such.
    checkType(type)
    throw error
  }
}

async function readArchived(
  bound: BoundScope,
  archive: EventArchive,
  type: string,
): Promise<ExecutionEvent | undefined> {
  return (await isArchived(bound)) ? readArchivedLatest(archive, bound.scope, type) : undefined
}

async function isArchived({ live }: BoundScope): Promise<boolean> {
  const found = await live.find()
  return found !== undefined && hasLeft(found.record)
}

function hasLeft({ events }: ExecutionRecord): boolean {
  return events === 'archived' || events === 'cold'
}

/**
 * For a host without an archive: what went into one is not told as never having happened. By the record as it was seen last,
 * which costs nothing; whoever opens an execution anew has just read it.
 */
function noneIn({ scope, live }: BoundScope): false {
  const { known } = live
  if (known === undefined || !hasLeft(known.record)) return false
  throw new UnavailableError(
    'core/archive-not-given',
    `read events of execution ${scope.execution}: they went into an archive, and none is given here`,
    { next: 'Name the archive that the others use, with --archive or archive.address.' },
  )
}

function tooMany(): RefusedError {
  return new RefusedError(
    'core/too-many-events',
    `query events: there are more than ${EVENT_QUERY_MAX_EVENTS}`,
    { next: 'Ask for a page: give "limit", and the last event\'s sequence as "after" for the next one.' },
  )
}
