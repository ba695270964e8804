/** Taking in an event of an outside system. */

import { InvalidError } from '../../base/errors.ts'
import { EVENT_OUTSIDE_PAYLOAD_MAX_BYTES } from '../limits.ts'
import type { JsonObject } from '../../base/json.ts'
import { requireRight, type Caller } from '../access/callers.ts'
import type { ExecutionAccess } from './ports.ts'
import { BodyReader } from './read-fields.ts'

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

const FIELDS = ['execution_id', 'event_type', 'payload', 'source']

function readOutsideEvent(body: unknown): OutsideEvent {
  const fields = new BodyReader('the event', body, FIELDS)
  const execution = fields.text('execution_id')
  const type = fields.text('event_type')
  const payload = fields.has('payload') ? fields.object('payload') : {}
  if (!type.startsWith('external.')) {
    throw fields.refuse(
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
  const source = fields.has('source') ? fields.text('source') : type.split('.')[1]
  return { execution, type, payload: payload as JsonObject, source: source ?? '' }
}
