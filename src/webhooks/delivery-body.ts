/** What a receiver is sent. A large payload is left out, and read by who wants it. */

import { showEvent } from '../server/http/read-execution.ts'
import { WEBHOOK_PAYLOAD_MAX_BYTES } from './limits.ts'
import type { ExecutionEvent } from '../core/events/event.ts'

export function bodyOf(event: ExecutionEvent): string {
  const { id, execution_id, sequence, type, source, timestamp, payload } = showEvent(event)
  const head = { id, event_type: type, execution_id, sequence, source, timestamp }
  const isSmall = Buffer.byteLength(JSON.stringify(payload)) <= WEBHOOK_PAYLOAD_MAX_BYTES
  return JSON.stringify(isSmall ? { ...head, payload } : { ...head, payload_omitted: true })
}
