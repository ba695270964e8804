/** An event of an execution, as callers see it and as it is stored. */

import { DefectError, InvalidError } from '../../base/errors.ts'
import { EVENT_PAYLOAD_MAX_BYTES, NAME_MAX_CHARS } from '../limits.ts'
import { decodeJson, encodeJson, fromBytes, toBytes } from '../json.ts'
import type { JsonObject } from '../../base/json.ts'
import type { ExecutionId } from '../keys.ts'
import { show } from '../namespaces/names.ts'
import { SOURCE_KINDS, parseEventType, type SourceKind } from './event-types.ts'

export interface EventSource {
  readonly entityType: SourceKind
  /** The pipeline, node, task or outside system. */
  readonly entityId: string
}

/** An event to publish. The log sets id, sequence and time. */
export interface NewEvent {
  readonly type: string
  readonly source: EventSource
  readonly payload?: JsonObject
}

/** A recorded event. Never changes; deeply frozen. */
export interface ExecutionEvent {
  readonly id: string
  readonly executionId: ExecutionId
  /** Counts from 1 along the execution's log, without a gap. */
  readonly sequence: number
  readonly type: string
  readonly source: EventSource
  readonly payload: JsonObject
  /** ISO 8601, UTC. Never goes backwards along the log. */
  readonly timestamp: string
}

/** A new event that may be recorded, its payload as JSON text. */
export interface CheckedEvent {
  readonly type: string
  readonly source: EventSource
  readonly payload: string
  readonly payloadBytes: number
}

/** Throws `core/bad-event-type`, `core/bad-event`, `core/not-json` or `core/too-large`. */
export function checkEvent(event: NewEvent): CheckedEvent {
  // Not every caller has types.
  const { type, source, payload = {} }: { readonly [Member in keyof NewEvent]?: unknown } = event
  const { kind, node } = parseEventType(type)
  const checked = checkSource(source)
  if (checked.entityType !== kind) {
    throw bad(
      `record ${show(type)}: its source is of type ${show(checked.entityType)}, the name says ${kind}`,
    )
  }
  if (kind === 'node' && checked.entityId !== node) {
    throw bad(
      `record ${show(type)}: its source is node ${show(checked.entityId)}, the name says ${show(node)}`,
    )
  }
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) {
    throw bad(`record ${show(type)}: its payload must be an object`)
  }
  const text = encodeJson(payload, { what: `payload of ${show(type)}`, bytesMax: EVENT_PAYLOAD_MAX_BYTES })
  return { type: type as string, source: checked, payload: text, payloadBytes: Buffer.byteLength(text) }
}

function checkSource(source: unknown): EventSource {
  const { entityType, entityId } = (source ?? {}) as Partial<EventSource>
  if (!(SOURCE_KINDS as readonly unknown[]).includes(entityType)) {
    throw bad(
      `read ${show(entityType)} as the kind of an event's source: it must be one of ${SOURCE_KINDS.join(', ')}`,
    )
  }
  if (typeof entityId !== 'string' || entityId === '' || entityId.length > NAME_MAX_CHARS) {
    throw bad(
      `read ${show(entityId)} as the name of an event's source: it must have 1 to ${NAME_MAX_CHARS} characters`,
    )
  }
  return { entityType: entityType as SourceKind, entityId }
}

export interface EventPlace {
  readonly id: string
  readonly executionId: ExecutionId
  readonly sequence: number
  readonly timestamp: string
}

/** The stored form: JSON, with the same field names as the SQL table. */
export function encodeEvent(
  event: CheckedEvent,
  { id, executionId, sequence, timestamp }: EventPlace,
): Uint8Array {
  const { type, source, payload } = event
  const from = `{"entity_type":"${source.entityType}","entity_id":${quote(source.entityId)}}`
  // The payload's text is inserted unchanged: serialised again, -0 would become 0.
  return toBytes(
    `{"id":${quote(id)},"execution_id":${quote(executionId)},"sequence":${sequence},"type":${quote(type)},` +
      `"source":${from},"timestamp":${quote(timestamp)},"payload":${payload}}`,
  )
}

/** What needs no escapes in JSON. */
const PLAIN_TEXT = /^[\w .:-]*$/

function quote(text: string): string {
  return PLAIN_TEXT.test(text) ? `"${text}"` : JSON.stringify(text)
}

interface StoredEvent {
  readonly id: string
  readonly execution_id: ExecutionId
  readonly sequence: number
  readonly type: string
  readonly source: { readonly entity_type: SourceKind; readonly entity_id: string }
  readonly timestamp: string
  readonly payload: JsonObject
}

export function decodeEvent(bytes: Uint8Array): ExecutionEvent {
  const stored = readStored(bytes)
  const { id, execution_id: executionId, sequence, type, source, timestamp, payload } = stored
  if (
    id === undefined ||
    executionId === undefined ||
    sequence === undefined ||
    type === undefined ||
    source === undefined ||
    timestamp === undefined ||
    payload === undefined
  ) {
    throw notAnEvent()
  }
  return Object.freeze({
    id,
    executionId,
    sequence,
    type,
    source: Object.freeze({ entityType: source.entity_type, entityId: source.entity_id }),
    payload,
    timestamp,
  })
}

function readStored(bytes: Uint8Array): Partial<StoredEvent> {
  try {
    return decodeJson(fromBytes(bytes)) as unknown as Partial<StoredEvent>
  } catch (cause) {
    throw notAnEvent(cause)
  }
}

function notAnEvent(cause?: unknown): DefectError {
  return new DefectError('core/bad-record', 'read an event: the value is not an event', {
    next: 'Check whether another program writes to this store.',
    cause,
  })
}

/** Of an event that is stored under the key of another. */
export function misplaced(key: string): DefectError {
  return new DefectError('core/bad-record', `read ${JSON.stringify(key)}: it holds another event`, {
    details: { key },
    next: 'Check whether another program writes to this store.',
  })
}

const decoded = new WeakMap<Uint8Array, ExecutionEvent>()

/** Caches by identity; only for bytes that never change. */
export function decodeHeldEvent(bytes: Uint8Array): ExecutionEvent {
  const known = decoded.get(bytes)
  if (known !== undefined) return known
  const event = decodeEvent(bytes)
  decoded.set(bytes, event)
  return event
}

function bad(message: string): InvalidError {
  return new InvalidError('core/bad-event', message, { next: 'Correct the event.' })
}
