/** What is delivered of an event, to one webhook. */

import { defined } from '../../base/defined.ts'
import type { ExecutionEvent } from '../../core/events/event.ts'
import type { DeliveryRecord, WebhookRecord } from '../records.ts'
import { bodyOf, traceparentIn } from './delivery-body.ts'

export function makeDelivery({ id }: WebhookRecord, event: ExecutionEvent, nowMs: number): DeliveryRecord {
  return {
    id: `${id}-${event.id}`,
    webhook: id,
    executionId: event.executionId,
    eventType: event.type,
    body: bodyOf(event),
    ...defined({ traceparent: traceparentIn(event.payload) }),
    attempts: 0,
    nextAt: new Date(nowMs).toISOString(),
  }
}
