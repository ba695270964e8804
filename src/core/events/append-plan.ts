/**
 * Which of the waiting events are written together, and the batch that writes them.
 *
 * - EL-1 A place in the log is used once: the batch has the condition that the place is free.
 * - EL-2 No place is skipped: the first place of a batch follows the last event that was read or written.
 * - EL-3 The batch has the condition that the execution's record is unchanged: nothing is added to the log of an ended one.
 * - EL-4 Where events expire, the batch also has the condition that the end of the log is unchanged.
 * - EL-5 The events of one request are written in one batch, together with its operations and under its own conditions.
 */

import { isPeragoError } from '../../base/errors.ts'
import { EVENTS_PER_BATCH_MAX, STORE_BATCH_MAX_BYTES, STORE_BATCH_MAX_OPERATIONS } from '../limits.ts'
import { fromBytes, toBytes } from '../json.ts'
import { dropsOf, ENDED_JOBS, putsOfEnd } from '../namespaces/ended-index.ts'
import {
  decideStatus,
  encodeRecord,
  hasEnded,
  reopenRecord,
  type ExecutionRecord,
} from '../namespaces/execution-record.ts'
import type { SeenRecord } from '../namespaces/live-record.ts'
import type { Scope } from '../namespaces/scope.ts'
import type { StoreBatch, StoreCondition, StoreOperation, StorePut } from '../ports.ts'
import { encodeEvent, type CheckedEvent, type EventPlace } from './event.ts'

export interface AppendRequest {
  readonly id: string
  readonly event: CheckedEvent
  /** Events that follow this one, written together with it. */
  readonly more?: readonly { readonly id: string; readonly event: CheckedEvent }[] | undefined
  /** The sender's key for it, so that sending it twice records it once. */
  readonly idempotency?: { readonly digest: string; readonly fingerprint: string } | undefined
  /** Written together with the event, such as the outputs of the node that it completes. */
  readonly along?: readonly StoreOperation[] | undefined
  /** Where one of these does not hold, the request is refused as stale. */
  readonly conditions?: readonly StoreCondition[] | undefined
  /** An ended execution runs again. */
  readonly reopens?: boolean | undefined
}

/** The end of a log. */
export interface LogTail {
  readonly seen: SeenRecord
  readonly sequence: number
  readonly timestamp: string
  /** Revision of the entry that stores the end of the log, where events expire. */
  readonly endRevision?: number | undefined
}

export interface AppendPlan {
  readonly batch: StoreBatch
  readonly accepted: readonly { readonly request: AppendRequest; readonly place: EventPlace }[]
  readonly refused: readonly { readonly request: AppendRequest; readonly error: Error }[]
  /** The record after the batch, where the batch changes it. */
  readonly record: ExecutionRecord | undefined
  /** The place of the last event. */
  readonly last: EventPlace | undefined
}

/** The record, its entries in the index of ended executions, and the end of a log whose entries expire. */
const FURTHER_PUTS = 6
/** For the keys and conditions that are not counted one by one. */
const MARGIN_BYTES = 65_536

/** Takes as many requests from the front as fit; at least one is accepted or refused. */
export function planAppend(
  scope: Scope,
  tail: LogTail,
  requests: readonly AppendRequest[],
  now: string,
): AppendPlan {
  const timestamp = now > tail.timestamp ? now : tail.timestamp
  const puts = new Map<string, StoreOperation>()
  const conditions = new Map<string, StoreCondition>()
  const accepted: { request: AppendRequest; place: EventPlace }[] = []
  const refused: { request: AppendRequest; error: Error }[] = []
  const { eventTtlMs: ttlMs } = tail.seen.record
  let bytes = 0
  let eventCount = 0
  let lastPlace: EventPlace | undefined
  let record: ExecutionRecord | undefined
  for (const request of requests) {
    const events = eventsOf(request)
    const after = recordAfter(tail.seen.record, { request, events, timestamp })
    if (after instanceof Error) {
      refused.push({ request, error: after })
      continue
    }
    const places = events.map(({ id }, index) => ({
      id,
      executionId: scope.execution,
      sequence: tail.sequence + eventCount + index + 1,
      timestamp,
    }))
    const own = operationsOf(scope, request, { events, places, ttlMs })
    const ownBytes = countBytes(own)
    const isFull =
      eventCount + places.length > EVENTS_PER_BATCH_MAX ||
      puts.size + own.length + FURTHER_PUTS > STORE_BATCH_MAX_OPERATIONS ||
      bytes + ownBytes > STORE_BATCH_MAX_BYTES - MARGIN_BYTES
    const free = freeKeys(scope, request, places)
    const guards = request.conditions ?? NO_CONDITIONS
    const isTaken = (): boolean =>
      free.some((key) => conditions.has(key)) || guards.some(({ key }) => conditions.has(key))
    if (accepted.length > 0 && (isFull || isTaken())) break
    const [place] = places
    if (place === undefined) continue
    accepted.push({ request, place })
    eventCount += places.length
    bytes += ownBytes
    for (const each of own) puts.set(each.key, each)
    for (const key of free) conditions.set(key, { key, is: 'absent' })
    for (const guard of guards) conditions.set(guard.key, guard)
    lastPlace = places.at(-1)
    if (after.status !== tail.seen.record.status) {
      record = after
      break
    }
  }
  const { keys } = scope
  if (record !== undefined) {
    puts.set(keys.record, { do: 'put', key: keys.record, value: encodeRecord(record) })
    for (const each of indexChanges(scope, tail.seen.record, record)) puts.set(each.key, each)
  }
  if (lastPlace !== undefined && ttlMs !== undefined) {
    puts.set(keys.logEnd, putLogEnd(scope, lastPlace))
    // A free place proves nothing where its event may have expired.
    conditions.set(keys.logEnd, endAsSeen(keys.logEnd, tail))
  }
  const standing: StoreCondition = { key: keys.record, is: 'at', revision: tail.seen.revision }
  return {
    batch: { conditions: [standing, ...conditions.values()], operations: [...puts.values()] },
    accepted,
    refused,
    record,
    last: lastPlace,
  }
}

type SentEvents = readonly { readonly id: string; readonly event: CheckedEvent }[]

const NO_CONDITIONS: readonly StoreCondition[] = []

function eventsOf(request: AppendRequest): SentEvents {
  return request.more === undefined ? [request] : [request, ...request.more]
}

function countBytes(operations: readonly StoreOperation[]): number {
  let bytes = 0
  for (const operation of operations) if (operation.do === 'put') bytes += operation.value.byteLength
  return bytes
}

/** The record after the events of a request, or the error that refuses them. */
function recordAfter(
  record: ExecutionRecord,
  {
    request,
    events,
    timestamp,
  }: { readonly request: AppendRequest; readonly events: SentEvents; readonly timestamp: string },
): ExecutionRecord | Error {
  try {
    let current = request.reopens === true ? reopenRecord(record) : record
    for (const { event } of events) {
      const status = decideStatus(current, event.type)
      if (status === current.status) continue
      current = { ...current, status, ...(hasEnded({ status }) ? { endedAt: timestamp } : {}) }
    }
    return current
  } catch (error) {
    if (isPeragoError(error)) return error
    throw error
  }
}

/** What changes in the index of ended executions. */
function indexChanges(
  scope: Scope,
  before: ExecutionRecord,
  after: ExecutionRecord,
): readonly StoreOperation[] {
  return after.endedAt === undefined ? dropsOf(scope, before, ENDED_JOBS) : putsOfEnd(scope, after.endedAt)
}

function operationsOf(
  { keys, outbox }: Scope,
  { along, idempotency }: AppendRequest,
  {
    events,
    places,
    ttlMs,
  }: {
    readonly events: SentEvents
    readonly places: readonly EventPlace[]
    readonly ttlMs: number | undefined
  },
): readonly StoreOperation[] {
  const puts: StoreOperation[] = along === undefined ? [] : [...along]
  for (const [index, place] of places.entries()) {
    const event = events[index]?.event
    if (event === undefined) continue
    const value = encodeEvent(event, place)
    puts.push({ do: 'put', key: keys.entry(place.sequence), value, ttlMs })
    puts.push({ do: 'put', key: keys.event(event.type), value, ttlMs })
    if (outbox) puts.push({ do: 'put', key: keys.outbox(place.sequence), value, ttlMs: undefined })
  }
  if (idempotency !== undefined) {
    const note = Buffer.from(JSON.stringify({ id: events[0]?.id, fingerprint: idempotency.fingerprint }))
    puts.push({ do: 'put', key: keys.idempotent(idempotency.digest), value: note, ttlMs })
  }
  return puts
}

function endAsSeen(key: string, { endRevision }: LogTail): StoreCondition {
  return endRevision === undefined ? { key, is: 'absent' } : { key, is: 'at', revision: endRevision }
}

/** Does not expire, so that a writer who finds no entries does not start again at 1. */
export function putLogEnd(
  { keys }: Pick<Scope, 'keys'>,
  { sequence, timestamp }: Pick<EventPlace, 'sequence' | 'timestamp'>,
): StorePut {
  return { do: 'put', key: keys.logEnd, value: toBytes(JSON.stringify({ sequence, timestamp })) }
}

export function readLogEnd(value: Uint8Array): Pick<LogTail, 'sequence' | 'timestamp'> {
  return JSON.parse(fromBytes(value)) as Pick<LogTail, 'sequence' | 'timestamp'>
}

function freeKeys(
  { keys }: Scope,
  { idempotency }: AppendRequest,
  places: readonly EventPlace[],
): readonly string[] {
  const entries = places.map(({ sequence }) => keys.entry(sequence))
  return idempotency === undefined ? entries : [...entries, keys.idempotent(idempotency.digest)]
}
