/** How long deliveries wait, and those that would wait longer because a clock was set back. */

import type { Logger } from '../../base/logger.ts'
import { WEBHOOK_BROUGHT_FORWARD, WEBHOOK_MAX_DELAY_MS } from '../limits.ts'
import type { DeliveryRecord, WebhookRecord } from '../records.ts'
import type { DeliveryStore } from './delivery-store.ts'

/** Before its next attempt. */
export function waitMs({ retry }: WebhookRecord, { attempts }: Pick<DeliveryRecord, 'attempts'>): number {
  return attempts === 0 ? 0 : Math.min(WEBHOOK_MAX_DELAY_MS, retry.firstDelayMs * 2 ** (attempts - 1))
}

/**
 * What is due later than any wait was written by a clock that was ahead. It becomes due now, the last first. Returns whether there
 * may be more.
 */
export async function bringForward(
  { deliveries, logger }: { readonly deliveries: DeliveryStore; readonly logger: Logger },
  webhook: WebhookRecord,
  { nowMs, isInFlight }: { readonly nowMs: number; readonly isInFlight: (id: string) => boolean },
): Promise<boolean> {
  const isTooFar = (delivery: DeliveryRecord): boolean =>
    Date.parse(delivery.nextAt) - nowMs > waitMs(webhook, delivery) && !isInFlight(delivery.id)
  // Of what waits in order only the last is read.
  if (!(await deliveries.last(webhook.id, 1)).some(isTooFar)) return false
  const last = await deliveries.last(webhook.id, WEBHOOK_BROUGHT_FORWARD)
  const tooFar = last.filter(isTooFar)
  const nextAt = new Date(nowMs).toISOString()
  for (const delivery of tooFar) await deliveries.keepWaiting(delivery, { ...delivery, nextAt })
  logger.warn('webhook deliveries were due after any wait, as when a clock was set back; they are due now', {
    webhook: webhook.id,
    deliveries: tooFar.length,
  })
  return last.length === WEBHOOK_BROUGHT_FORWARD
}
