/** Taking in an event of an outside system. */

import { InvalidError, type ErrorCode } from '../base/errors.ts'
import { EVENT_OUTSIDE_PAYLOAD_MAX_BYTES } from '../base/limits.ts'
import { suggest } from '../base/suggestion.ts'
import type { JsonObject } from '../core/json.ts'
import { requireRight, type Caller } from './callers.ts'
import type { ExecutionAccess } from './ports.ts'

export interface PublishedEvent {
  readonly event_id: string
  readonly execution_id: string
  readonly event_type: string
}

interface OutsideEvent {
  readonly execution: string
  readonly type: string
  readonly payload: JsonObject
  readonly source: string
}

/** Throws what is wrong with the request before anything is looked for. */
export async function publishOutsideEvent(
  access: ExecutionAccess,
  caller: Caller,
  request: { readonly body: unknown; readonly idempotencyKey: string | undefined },
): Promise<PublishedEvent> {
  requireRight(caller, 'publish events')
  const { execution, type, payload, source } = readOutsideEvent(request.body)
  const door = await access.open({ tenant: caller.tenant, execution })
  const event = { type, source: { entityType: 'external', entityId: source }, payload } as const
  const { idempotencyKey } = request
  const id = await door.publish(event, idempotencyKey === undefined ? {} : { idempotencyKey })
  return { event_id: id, execution_id: execution, event_type: type }
}

const FIELDS = ['execution_id', 'event_type', 'payload', 'source'] as const

function readOutsideEvent(body: unknown): OutsideEvent {
  if (!isObject(body)) throw refuse('api/wrong-type', 'the body is no object')
  for (const field of Object.keys(body)) {
    if (FIELDS.some((known) => known === field)) continue
    const near = suggest(field, FIELDS)
    const hint = near === undefined ? '' : `; "${near}" may be meant`
    throw refuse('api/unknown-field', `there is no field ${JSON.stringify(field.slice(0, 80))}${hint}`)
  }
  const execution = readText(body, 'execution_id')
  const type = readText(body, 'event_type')
  const payload = body['payload'] ?? {}
  if (body['payload'] === null || !isObject(payload)) throw refuse('api/wrong-type', '"payload" is no object')
  if (!type.startsWith('external.')) {
    throw refuse(
      'api/not-external',
      `"${type.slice(0, 80)}" does not begin with "external."; other events are the engine's own`,
    )
  }
  const bytes = Buffer.byteLength(JSON.stringify(payload))
  if (bytes > EVENT_OUTSIDE_PAYLOAD_MAX_BYTES) {
    throw new InvalidError(
      'api/payload-too-large',
      `read the event: its payload has ${bytes} bytes, at most ${EVENT_OUTSIDE_PAYLOAD_MAX_BYTES} are taken`,
      { next: 'Store the data elsewhere, and send its address.' },
    )
  }
  const source = body['source'] === undefined ? type.split('.')[1] : readText(body, 'source')
  return { execution, type, payload: payload as JsonObject, source: source ?? '' }
}

function readText(body: Readonly<Record<string, unknown>>, field: string): string {
  const value = body[field]
  if (value === undefined) throw refuse('api/missing-field', `"${field}" is missing`)
  if (typeof value !== 'string') throw refuse('api/wrong-type', `"${field}" is no text`)
  return value
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function refuse(code: ErrorCode, problem: string): InvalidError {
  return new InvalidError(code, `read the event: ${problem}`, {
    next: 'Correct the request; see /openapi.yaml.',
  })
}
