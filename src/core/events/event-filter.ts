/** A query of events. All given conditions must hold. It cannot name another execution. */

import { InvalidError } from '../../base/errors.ts'
import { EVENT_QUERY_MAX_EVENTS } from '../limits.ts'
import { show } from '../namespaces/names.ts'
import { SOURCE_KINDS, type SourceKind } from './event-types.ts'
import type { ExecutionEvent } from './event.ts'
import { compileTypePattern } from './type-pattern.ts'

export interface EventFilter {
  /** Types, or patterns of them: `*` is one segment, `**` any number. */
  readonly types?: readonly string[]
  readonly source?: { readonly entityType?: SourceKind; readonly entityId?: string }
  /** ISO 8601. From the start, included, up to the end, excluded. */
  readonly timeRange?: { readonly start?: string; readonly end?: string }
  /** The order of the log: by time, then sequence. Default: ascending. */
  readonly order?: 'ascending' | 'descending'
  /** Only events after this sequence number, in the direction of the order: `next` of the page before. */
  readonly after?: number
  /** The most events to return. Default: all. */
  readonly limit?: number
  /** The list, or page, ends with the event that brings it to about this many bytes, as recorded. Default: no bound. */
  readonly bytesMax?: number
}

export interface CheckedFilter {
  readonly types: readonly string[] | undefined
  readonly isType: (type: string) => boolean
  readonly entityType: SourceKind | undefined
  readonly entityId: string | undefined
  /** In the stored form of timestamps, which sorts as text. */
  readonly start: string | undefined
  readonly end: string | undefined
  readonly order: 'ascending' | 'descending'
  readonly after: number | undefined
  readonly limit: number | undefined
  readonly bytesMax: number | undefined
}

const ORDERS = ['ascending', 'descending']

/** Throws `core/bad-filter` or `core/bad-type-pattern`. */
export function checkFilter(filter: EventFilter = {}): CheckedFilter {
  const { types, source = {}, timeRange = {}, order = 'ascending', after, limit, bytesMax } = filter
  const patterns = types?.map(compileTypePattern)
  if (!ORDERS.includes(order)) throw bad('order', order, ORDERS.join(' or '))
  if (source.entityType !== undefined && !SOURCE_KINDS.includes(source.entityType)) {
    throw bad('source', source.entityType, SOURCE_KINDS.join(', '))
  }
  if (after !== undefined && !(Number.isSafeInteger(after) && after >= 0)) {
    throw bad('after', after, 'a sequence number')
  }
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= EVENT_QUERY_MAX_EVENTS)) {
    throw bad('limit', limit, `a whole number from 1 to ${EVENT_QUERY_MAX_EVENTS}`)
  }
  if (bytesMax !== undefined && !(Number.isSafeInteger(bytesMax) && bytesMax >= 1)) {
    throw bad('bytesMax', bytesMax, 'a whole number from 1')
  }
  return {
    types,
    isType: (type) => patterns === undefined || patterns.some((isMeant) => isMeant(type)),
    entityType: source.entityType,
    entityId: source.entityId,
    start: instantOf('start', timeRange.start),
    end: instantOf('end', timeRange.end),
    order,
    after,
    limit,
    bytesMax,
  }
}

export function isListed(event: ExecutionEvent, filter: CheckedFilter): boolean {
  return (
    filter.isType(event.type) &&
    (filter.entityType === undefined || event.source.entityType === filter.entityType) &&
    (filter.entityId === undefined || event.source.entityId === filter.entityId) &&
    (filter.start === undefined || event.timestamp >= filter.start) &&
    (filter.end === undefined || event.timestamp < filter.end)
  )
}

function instantOf(what: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const ms = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : NaN
  if (Number.isNaN(ms)) throw bad(`time range's ${what}`, text, 'an instant in ISO 8601')
  return new Date(ms).toISOString()
}

function bad(what: string, found: unknown, rule: string): InvalidError {
  return new InvalidError(
    'core/bad-filter',
    `read ${typeof found === 'number' ? String(found) : show(found)} as the ${what} of a query: it must be ${rule}`,
    { next: 'Correct the filter.' },
  )
}

/** Every place of the log is listed then. */
export function isUnfiltered({ types, entityType, entityId, start, end }: CheckedFilter): boolean {
  return [types, entityType, entityId, start, end].every((condition) => condition === undefined)
}
