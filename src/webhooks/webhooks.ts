/**
 * Webhooks of one store: programs outside that are sent events by HTTP. A webhook belongs to a tenant. Whether somebody may
 * manage webhooks is checked by the door; nothing that runs inside an execution can add one.
 */

import { randomUUID } from 'node:crypto'
import { systemClock, type Clock } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import { Leadership } from '../core/life-cycle/leadership.ts'
import type { MaintainedExecution } from '../core/life-cycle/maintenance.ts'
import type { Store } from '../core/ports.ts'
import { openRecordStore } from '../core/records/record-store.ts'
import { DeliveryStore } from './delivering/delivery-store.ts'
import { WebhookDispatcher, type DispatcherParts } from './delivering/dispatcher.ts'
import { WEBHOOK_LEASE_MS } from './limits.ts'
import { WEBHOOKS, type WebhookRecord } from './records.ts'
import { NameLookups } from './sending/name-lookups.ts'
import { sendDelivery } from './sending/send-delivery.ts'
import { TenantWebhooks } from './subscriptions/tenant-webhooks.ts'

export interface WebhooksParts {
  readonly store: Store
  readonly logger: Logger
  /** Whether receivers may have private addresses. */
  readonly allowPrivate?: boolean
  readonly clock?: Clock
  /** Who finds the addresses of receivers' names. */
  readonly names?: NameLookups
}

export interface Webhooks {
  /** The webhooks of one tenant; `undefined` is the default one. */
  ofTenant(tenant: string | undefined): TenantWebhooks
  /** Starts to deliver. Of all instances over the store one delivers at a time. */
  startDelivering(overrides?: Partial<DispatcherParts>): WebhookDispatcher
  /** Removes deliveries about executions whose events were swept. May be called again. */
  forgetExecutions(executions: readonly MaintainedExecution[]): Promise<void>
}

export function openWebhooks(parts: WebhooksParts): Webhooks {
  const { store, logger, allowPrivate = false, clock = systemClock } = parts
  const records = openRecordStore<WebhookRecord>(store, WEBHOOKS)
  const deliveries = new DeliveryStore(store)
  const { names = new NameLookups() } = parts
  return {
    ofTenant: (tenant) => new TenantWebhooks({ records, deliveries, tenant, allowPrivate, clock }),
    startDelivering: (overrides = {}) =>
      new WebhookDispatcher({
        deliveries,
        leadership: new Leadership({
          store,
          name: 'webhooks',
          owner: randomUUID(),
          clock,
          leaseMs: WEBHOOK_LEASE_MS,
        }),
        webhooks: () => records.list(),
        send: (webhook, delivery, signal) =>
          sendDelivery(webhook, delivery, {
            allowPrivate,
            signal,
            now: clock.now(),
            resolve: (host, until) => names.find(host, { tenant: webhook.tenant, signal: until }),
          }),
        logger,
        clock,
        ...overrides,
      }),
    async forgetExecutions(executions) {
      for (const { id, tenant } of await records.list()) {
        const places = executions.filter((place) => place.tenant === tenant)
        if (places.length === 0) continue
        await deliveries.forgetExecutions(id, new Set(places.map(({ execution }) => execution)))
      }
    },
  }
}
