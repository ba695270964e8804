/** Looks through the log of one execution in portions, and ends where enough was found or looked at. */

import { RefusedError } from '../../base/errors.ts'
import { turnToBegin } from '../../base/turns.ts'
import {
  EVENT_PAGE_MAX_BYTES,
  EVENT_PAGE_MAX_EVENTS,
  EVENT_QUERY_MAX_EVENTS,
  READ_PORTION_ENTRIES,
  STORE_PAGE_ENTRIES,
} from '../limits.ts'
import type { BoundScope } from '../namespaces/scopes.ts'
import { readRangePages } from '../read-pages.ts'
import { isListed, isUnfiltered, type CheckedFilter } from './event-filter.ts'
import { decodeEvent, misplaced, type ExecutionEvent } from './event.ts'
import { LogCheck } from './log-check.ts'

/** An event, and how large it is as recorded; without its names in the archive, which has them in columns. */
export interface Looked {
  readonly event: ExecutionEvent
  readonly bytes: number
}

/** Events in the order of the query; some of them may not match it. */
export interface Portion {
  readonly looked: readonly Looked[]
  /** Behind it there is nothing that could match. */
  readonly isLast: boolean
}

/**
 * A page may have fewer events than its limit, or none, although there are more: what is looked at for one page is bounded.
 * Only a page without `next` is the last one.
 */
export interface EventPage {
  readonly events: readonly ExecutionEvent[]
  /** The `after` of the next page. */
  readonly next: number | undefined
}

export async function* lookInStore(
  bound: BoundScope,
  filter: CheckedFilter,
): AsyncGenerator<Portion, void, undefined> {
  const { store, keys } = bound.scope
  const check = new LogCheck(bound, filter, 'store')
  // As many as are wanted, unless a filter may skip most of them.
  const wanted = (isUnfiltered(filter) ? filter.limit : undefined) ?? Infinity
  const range = {
    prefix: keys.log,
    order: filter.order,
    after: filter.after === undefined ? undefined : keys.entry(filter.after),
    first: Math.min(wanted, STORE_PAGE_ENTRIES),
    limit: Math.min(wanted, READ_PORTION_ENTRIES),
  }
  await turnToBegin()
  for await (const page of readRangePages(store, range)) {
    const looked: Looked[] = []
    let isOver = false
    for (const { key, value } of page.entries) {
      const event = decodeEvent(value)
      if (keys.entry(event.sequence) !== key) throw misplaced(key)
      const judged = check.see(event.sequence)
      if (judged !== undefined) await judged
      isOver = isBehind(event, filter)
      if (isOver) break
      looked.push({ event, bytes: value.byteLength })
    }
    yield { looked, isLast: isOver || page.next === undefined }
    if (isOver) return
  }
  await check.end()
}

export async function takePage(portions: AsyncIterable<Portion>, filter: CheckedFilter): Promise<EventPage> {
  const found = new Found(filter)
  const { events } = found
  let [lookedAt, bytes, last] = [0, 0, filter.after]
  const isFull = (): boolean =>
    found.isFull || lookedAt >= EVENT_PAGE_MAX_EVENTS || bytes >= EVENT_PAGE_MAX_BYTES
  for await (const { looked, isLast } of portions) {
    for (const one of looked) {
      if (isFull()) return { events, next: last }
      if (isListed(one.event, filter)) found.add(one)
      lookedAt += 1
      bytes += one.bytes
      last = one.event.sequence
    }
    if (isFull() && !isLast) return { events, next: last }
  }
  return { events, next: undefined }
}

/** Throws `core/too-many-events`. */
export async function takeAll(
  portions: AsyncIterable<Portion>,
  filter: CheckedFilter,
): Promise<readonly ExecutionEvent[]> {
  const found = new Found(filter)
  for await (const { looked } of portions) {
    for (const one of looked) {
      if (!isListed(one.event, filter)) continue
      if (found.events.length === EVENT_QUERY_MAX_EVENTS) throw tooMany()
      found.add(one)
      if (found.isFull) return found.events
    }
  }
  return found.events
}

/** What is listed, up to the bounds of the filter. */
class Found {
  readonly events: ExecutionEvent[] = []
  readonly #filter: CheckedFilter
  #bytes = 0

  constructor(filter: CheckedFilter) {
    this.#filter = filter
  }

  get isFull(): boolean {
    const { limit = Infinity, bytesMax = Infinity } = this.#filter
    return this.events.length >= limit || this.#bytes >= bytesMax
  }

  add({ event, bytes }: Looked): void {
    this.events.push(event)
    this.#bytes += bytes
  }
}

/** The log is ordered by time: no event after this one can match. */
function isBehind({ timestamp }: ExecutionEvent, { order, start, end }: CheckedFilter): boolean {
  return order === 'ascending'
    ? end !== undefined && timestamp >= end
    : start !== undefined && timestamp < start
}

function tooMany(): RefusedError {
  return new RefusedError(
    'core/too-many-events',
    `query events: there are more than ${EVENT_QUERY_MAX_EVENTS}`,
    { next: 'Read pages: pass "limit", and the last event\'s sequence as "after" for the next page.' },
  )
}
