/**
 * Which of the waiting events are written together, and the batch that writes them.
 *
 * - EL-1 A place in the log is used once: the batch has the condition that the place is free.
 * - EL-2 No place is skipped: the first place of a batch follows the last event that was read or written.
 * - EL-3 The batch has the condition that the execution's record is unchanged: nothing is added to the log of an ended one.
 * - EL-4 Where events expire, the batch also has the condition that the end of the log is unchanged.
 */

import { isPeragoError } from '../../base/errors.ts'
import { EVENTS_PER_BATCH_MAX, STORE_BATCH_MAX_BYTES, STORE_BATCH_MAX_OPERATIONS } from '../limits.ts'
import { fromBytes, toBytes } from '../json.ts'
import { putsOfEnd } from '../namespaces/ended-index.ts'
import { decideStatus, encodeRecord, hasEnded, type ExecutionRecord } from '../namespaces/execution-record.ts'
import type { SeenRecord } from '../namespaces/live-record.ts'
import type { Scope } from '../namespaces/scope.ts'
import type { StoreBatch, StoreCondition, StorePut } from '../ports.ts'
import { encodeEvent, type CheckedEvent, type EventPlace } from './event.ts'

export interface AppendRequest {
  readonly id: string
  readonly event: CheckedEvent
  /** The sender's key for it, so that sending it twice records it once. */
  readonly idempotency?: { readonly digest: string; readonly fingerprint: string } | undefined
  /** Written together with the event, such as the outputs of the node that it completes. */
  readonly along?: readonly StorePut[] | undefined
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
  const puts = new Map<string, StorePut>()
  const conditions = new Map<string, StoreCondition>()
  const accepted: { request: AppendRequest; place: EventPlace }[] = []
  const refused: { request: AppendRequest; error: Error }[] = []
  const { eventTtlMs: ttlMs } = tail.seen.record
  let bytes = 0
  let record: ExecutionRecord | undefined
  for (const request of requests) {
    const status = statusAfter(tail.seen.record, request)
    if (status instanceof Error) {
      refused.push({ request, error: status })
      continue
    }
    const place = {
      id: request.id,
      executionId: scope.execution,
      sequence: tail.sequence + accepted.length + 1,
      timestamp,
    }
    const own = putsOf(scope, request, { place, ttlMs })
    const ownBytes = own.reduce((sum, { value }) => sum + value.byteLength, 0)
    const isFull =
      accepted.length === EVENTS_PER_BATCH_MAX ||
      puts.size + own.length + FURTHER_PUTS > STORE_BATCH_MAX_OPERATIONS ||
      bytes + ownBytes > STORE_BATCH_MAX_BYTES - MARGIN_BYTES
    const free = freeKeys(scope, request, place)
    if (accepted.length > 0 && (isFull || free.some((key) => conditions.has(key)))) break
    accepted.push({ request, place })
    bytes += ownBytes
    for (const put of own) puts.set(put.key, put)
    for (const key of free) conditions.set(key, { key, is: 'absent' })
    if (status !== tail.seen.record.status) {
      record = { ...tail.seen.record, status, ...(hasEnded({ status }) ? { endedAt: timestamp } : {}) }
      break
    }
  }
  const { keys } = scope
  if (record?.endedAt !== undefined) {
    puts.set(keys.record, { do: 'put', key: keys.record, value: encodeRecord(record) })
    for (const put of putsOfEnd(scope, record.endedAt)) puts.set(put.key, put)
  }
  const last = accepted.at(-1)
  if (last !== undefined && ttlMs !== undefined) {
    puts.set(keys.logEnd, putLogEnd(scope, last.place))
    // A free place proves nothing where its event may have expired.
    conditions.set(keys.logEnd, endAsSeen(keys.logEnd, tail))
  }
  const standing: StoreCondition = { key: keys.record, is: 'at', revision: tail.seen.revision }
  return {
    batch: { conditions: [standing, ...conditions.values()], operations: [...puts.values()] },
    accepted,
    refused,
    record,
  }
}

function statusAfter(record: ExecutionRecord, { event }: AppendRequest): ExecutionRecord['status'] | Error {
  try {
    return decideStatus(record, event.type)
  } catch (error) {
    if (isPeragoError(error)) return error
    throw error
  }
}

function putsOf(
  { keys, outbox }: Scope,
  { event, along = [], idempotency }: AppendRequest,
  { place, ttlMs }: { readonly place: EventPlace; readonly ttlMs: number | undefined },
): readonly StorePut[] {
  const value = encodeEvent(event, place)
  const puts: StorePut[] = [
    ...along,
    { do: 'put', key: keys.entry(place.sequence), value, ttlMs },
    { do: 'put', key: keys.event(event.type), value, ttlMs },
  ]
  if (idempotency !== undefined) {
    const note = Buffer.from(JSON.stringify({ id: place.id, fingerprint: idempotency.fingerprint }))
    puts.push({ do: 'put', key: keys.idempotent(idempotency.digest), value: note, ttlMs })
  }
  if (outbox) puts.push({ do: 'put', key: keys.outbox(place.sequence), value })
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
  { sequence }: EventPlace,
): readonly string[] {
  const entry = keys.entry(sequence)
  return idempotency === undefined ? [entry] : [entry, keys.idempotent(idempotency.digest)]
}
