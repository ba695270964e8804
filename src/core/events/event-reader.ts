/** Reads of the events of one execution. Events that have left the store are read from the archive. */

import { UnavailableError } from '../../base/errors.ts'
import type { ExecutionRecord } from '../namespaces/execution-record.ts'
import type { BoundScope } from '../namespaces/scopes.ts'
import type { EventArchive } from './archive-port.ts'
import { lookInArchive, readArchivedLatest } from './archived-events.ts'
import { checkFilter, type CheckedFilter, type EventFilter } from './event-filter.ts'
import { lookInStore, takeAll, takePage, type EventPage, type Portion } from './event-pages.ts'
import { checkType } from './event-types.ts'
import { decodeEvent, decodeHeldEvent, misplaced, type ExecutionEvent } from './event.ts'

/** Returns a promise only if it must wait: in memory the promise would cost more than the read. */
export function hasEvent(
  bound: BoundScope,
  archive: EventArchive | undefined,
  type: string,
): boolean | Promise<boolean> {
  const { store } = bound.scope
  const key = keyOf(bound, type)
  // Stored keys were validated when written, so only a type that is not found needs a check.
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
  if (entry !== undefined) {
    const event = decodeEvent(entry.value)
    if (event.type !== type) throw misplaced(key)
    return event
  }
  if (archive !== undefined) return (await readArchived(bound, archive, type)) ?? null
  noneIn(bound)
  return null
}

export async function queryEvents(
  bound: BoundScope,
  archive: EventArchive | undefined,
  filter: EventFilter | undefined,
): Promise<readonly ExecutionEvent[]> {
  return Object.freeze(await look(bound, { archive, filter, take: takeAll }))
}

export async function queryEventPage(
  bound: BoundScope,
  archive: EventArchive | undefined,
  filter: EventFilter | undefined,
): Promise<EventPage> {
  const { events, next } = await look(bound, { archive, filter, take: takePage })
  return Object.freeze({ events: Object.freeze(events), next })
}

interface Look<Found> {
  readonly archive: EventArchive | undefined
  readonly filter: EventFilter | undefined
  readonly take: (portions: AsyncIterable<Portion>, filter: CheckedFilter) => Promise<Found>
}

async function look<Found>(bound: BoundScope, { archive, filter, take }: Look<Found>): Promise<Found> {
  const checked = checkFilter(filter)
  const hot = await take(lookInStore(bound, checked), checked)
  // Checked after reading: events freed while we read were archived before.
  if (archive === undefined) noneIn(bound)
  if (archive === undefined || !(await isArchived(bound))) return hot
  return take(lookInArchive(archive, bound, checked), checked)
}

function keyOf({ scope }: BoundScope, type: string): string {
  try {
    return scope.keys.event(type)
  } catch (error) {
    // A text that cannot be part of a key is not a type either, and this error says so.
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
 * Without an archive, archived events must not look as if they had never happened. Uses the record as it was read last, which
 * costs nothing; opening an execution reads it.
 */
function noneIn({ scope, live }: BoundScope): false {
  const { known } = live
  if (known === undefined || !hasLeft(known.record)) return false
  throw new UnavailableError(
    'core/archive-not-given',
    `read events of execution ${scope.execution}: they are in an archive, and no archive is configured here`,
    { next: 'Configure the archive that the other instances use, with --archive or archive.address.' },
  )
}
