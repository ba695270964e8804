/** The JSON that a receiver is sent. A large payload is left out; the receiver reads it over the HTTP API if it needs it. */

import type { JsonObject } from '../../base/json.ts'
import { formatTraceparent, parseTraceparent } from '../../base/trace-context.ts'
import { WEBHOOK_PAYLOAD_MAX_BYTES } from '../limits.ts'
import type { ExecutionEvent } from '../../core/events/event.ts'

export function bodyOf({
  id,
  executionId,
  sequence,
  type,
  source,
  timestamp,
  payload,
}: ExecutionEvent): string {
  const isSmall = Buffer.byteLength(JSON.stringify(payload)) <= WEBHOOK_PAYLOAD_MAX_BYTES
  return JSON.stringify({
    id,
    event_type: type,
    execution_id: executionId,
    sequence,
    source: { entity_type: source.entityType, entity_id: source.entityId },
    timestamp,
    ...(isSmall ? { payload } : { payload_omitted: true }),
  })
}

/** Of an event of an execution whose trace is recorded. Anybody may write payloads: what is no trace context is not sent on. */
export function traceparentIn({ traceparent }: JsonObject): string | undefined {
  const context = typeof traceparent === 'string' ? parseTraceparent(traceparent) : undefined
  return context === undefined ? undefined : formatTraceparent(context)
}
