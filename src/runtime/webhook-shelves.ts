/**
 * Webhooks and what is on its way to them, in the store. A step is one write: an event leaves the outbox together with the
 * deliveries that it becomes, and a delivery that is given up is dead in the moment it stops waiting.
 */

import { OUTBOX_PAGE_EVENTS, STORE_PAGE_MAX_ENTRIES, WEBHOOK_LEASE_MS } from '../base/limits.ts'
import { decodeEvent, type ExecutionEvent } from '../core/events/event.ts'
import { OUTBOX_PREFIX, leaseKey, serverKey, serverPrefix, tenantOfOutboxKey } from '../core/keys.ts'
import type { Store, StoreOperation } from '../core/ports.ts'

const WAITING = 'deliveries'
const DEAD = 'dead-deliveries'
const LEASE = leaseKey('webhooks')

/** As much of a delivery as the store must know. */
export interface KeptDelivery {
  /** Begins with the webhook's id and a dash. */
  readonly id: string
}

export interface OutboxEntry {
  readonly key: string
  readonly tenant: string | undefined
  readonly event: ExecutionEvent
}

/** Meets the ports of webhooks; `Delivery` is what they keep of one. */
export class WebhookShelves<Delivery extends KeptDelivery> {
  readonly #store: Store
  readonly #owner: string

  /** `owner` tells this instance from every other that delivers from the same store. */
  constructor(store: Store, owner: string) {
    this.#store = store
    this.#owner = owner
  }

  /** Takes the right to deliver, or renews it. A holder that stalls may overlap with the next: some are told twice. */
  async hold(): Promise<boolean> {
    const entry = await this.#store.get(LEASE)
    if (entry !== undefined && decode(entry.value) !== this.#owner) return false
    const outcome = await this.#store.commit({
      conditions: [
        entry === undefined
          ? { key: LEASE, is: 'absent' }
          : { key: LEASE, is: 'at', revision: entry.revision },
      ],
      operations: [{ do: 'put', key: LEASE, value: encode(this.#owner), ttlMs: WEBHOOK_LEASE_MS }],
    })
    return outcome.committed
  }

  /** Gives it back, so that another need not wait for it to expire. */
  async release(): Promise<void> {
    const entry = await this.#store.get(LEASE)
    if (entry === undefined || decode(entry.value) !== this.#owner) return
    await this.#store.commit({
      conditions: [{ key: LEASE, is: 'at', revision: entry.revision }],
      operations: [{ do: 'delete', key: LEASE }],
    })
  }

  async outbox(): Promise<readonly OutboxEntry[]> {
    const { entries } = await this.#store.range({ prefix: OUTBOX_PREFIX, limit: OUTBOX_PAGE_EVENTS })
    return entries.map(({ key, value }) => ({
      key,
      tenant: tenantOfOutboxKey(key),
      event: decodeEvent(value),
    }))
  }

  /** Yields when events may have come into the outbox. */
  arrivals(signal: AbortSignal): AsyncIterable<unknown> {
    return this.#store.watch({ prefix: OUTBOX_PREFIX, signal })
  }

  /** Once only, whoever else does the same. */
  async fanOut({ key }: OutboxEntry, deliveries: readonly Delivery[]): Promise<void> {
    await this.#store.commit({
      conditions: [{ key, is: 'present' }],
      operations: [{ do: 'delete', key }, ...deliveries.map((delivery) => put(WAITING, delivery))],
    })
  }

  waiting(): Promise<readonly Delivery[]> {
    return this.#list(serverPrefix(WAITING))
  }

  /** Nothing, where it does not wait any more: its webhook was removed. */
  async keepWaiting(delivery: Delivery): Promise<void> {
    await this.#replace(delivery.id, [put(WAITING, delivery)])
  }

  async delivered({ id }: Delivery): Promise<void> {
    await this.#replace(id, [{ do: 'delete', key: serverKey(WAITING, id) }])
  }

  async giveUp(delivery: Delivery): Promise<void> {
    await this.#replace(delivery.id, [
      { do: 'delete', key: serverKey(WAITING, delivery.id) },
      put(DEAD, delivery),
    ])
  }

  dead(webhook: string): Promise<readonly Delivery[]> {
    return this.#list(`${serverPrefix(DEAD)}${webhook}-`)
  }

  async revive(delivery: Delivery): Promise<boolean> {
    const key = serverKey(DEAD, delivery.id)
    const outcome = await this.#store.commit({
      conditions: [{ key, is: 'present' }],
      operations: [{ do: 'delete', key }, put(WAITING, delivery)],
    })
    return outcome.committed
  }

  async forget(webhook: string): Promise<void> {
    for (const shelf of [WAITING, DEAD]) await this.#store.clear(`${serverPrefix(shelf)}${webhook}-`)
  }

  async #replace(id: string, operations: readonly StoreOperation[]): Promise<void> {
    await this.#store.commit({ conditions: [{ key: serverKey(WAITING, id), is: 'present' }], operations })
  }

  async #list(prefix: string): Promise<readonly Delivery[]> {
    const found: Delivery[] = []
    let after: string | undefined
    do {
      const limit = STORE_PAGE_MAX_ENTRIES
      const page = await this.#store.range({ prefix, limit, ...(after === undefined ? {} : { after }) })
      for (const { value } of page.entries) found.push(JSON.parse(decode(value)) as Delivery)
      after = page.next
    } while (after !== undefined)
    return found
  }
}

function put(shelf: string, delivery: KeptDelivery): StoreOperation {
  return { do: 'put', key: serverKey(shelf, delivery.id), value: encode(JSON.stringify(delivery)) }
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
