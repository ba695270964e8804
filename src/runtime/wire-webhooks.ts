/** Webhooks of one store: what the doors do with them, and what delivers. */

import { randomUUID } from 'node:crypto'
import {
  createWebhooks,
  type DeliveryRecord,
  type WebhookRecord,
  type Webhooks,
} from '../webhooks/webhooks.ts'
import type { Logger } from '../base/logger.ts'
import type { Store } from '../core/ports.ts'
import type { OpenedAccess } from './execution-access.ts'
import { openRecordShelf } from '../core/records/record-store.ts'
import { WEBHOOKS, WebhookShelves } from '../webhooks/webhook-store.ts'
import { refuseInside } from '../webhooks/check-address.ts'
import { WebhookDispatcher } from '../webhooks/dispatcher.ts'
import { sendDelivery } from '../webhooks/send-delivery.ts'

export interface WiredWebhooks {
  readonly api: Webhooks
  /** Begins to deliver. */
  dispatch(): WebhookDispatcher
}

export function wireWebhooks(parts: {
  readonly store: Store
  readonly access: Pick<OpenedAccess, 'compilePattern'>
  readonly logger: Logger
  /** Whether receivers may have private addresses. */
  readonly allowPrivate: boolean
}): WiredWebhooks {
  const { store, access, logger, allowPrivate } = parts
  const records = openRecordShelf<WebhookRecord>(store, WEBHOOKS)
  const shelves = new WebhookShelves<DeliveryRecord>(store, randomUUID())
  const { compilePattern } = access
  return {
    api: createWebhooks({
      records,
      deliveries: shelves,
      compilePattern,
      ...(allowPrivate ? {} : { checkAddress: refuseInside }),
    }),
    dispatch: () =>
      new WebhookDispatcher({
        shelves,
        webhooks: () => records.list(),
        compilePattern,
        send: (webhook, delivery, signal) =>
          sendDelivery(webhook, delivery, { allowPrivate, signal, now: new Date() }),
        logger,
      }),
  }
}
