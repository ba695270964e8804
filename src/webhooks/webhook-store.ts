/**
 * Webhooks and what is on its way to them, in the store. A step is one write: an event leaves the outbox together with the
 * deliveries that it becomes, and a delivery that is given up is dead in the moment it stops waiting.
 *
 * What waits lies by webhook and then by the time at which it is due, so that what is due now is the beginning of a short
 * page, however much waits behind it.
 */

import { STORE_PAGE_MAX_ENTRIES } from '../core/limits.ts'
import { OUTBOX_PAGE_EVENTS, WEBHOOK_DEAD_KEPT_MS, WEBHOOK_LEASE_MS } from './limits.ts'
import { decodeEvent, type ExecutionEvent } from '../core/events/event.ts'
import { OUTBOX_PREFIX, leaseKey, serverKey, serverPrefix, tenantOfOutboxKey } from '../core/keys.ts'
import type { Store, StoreCondition, StoreOperation } from '../core/ports.ts'

/** The shelf of the webhooks themselves. */
export const WEBHOOKS = 'webhooks'
const WAITING = 'deliveries'
const DEAD = 'dead-deliveries'
const LEASE = leaseKey('webhooks')
/** Wide enough for every date there is. */
const DUE_DIGITS = 16

/** As much of a delivery as the store must know. */
export interface KeptDelivery {
  /** Begins with the webhook's id and a dash. */
  readonly id: string
  readonly webhook: string
  /** When it is due; in ISO 8601. */
  readonly nextAt: string
}

export interface OutboxEntry {
  readonly key: string
  readonly tenant: string | undefined
  readonly event: ExecutionEvent
}

/** Which webhook has something that waits, and when it is due. */
export interface WaitingNotice {
  readonly webhook: string
  readonly atMs: number
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

  /**
   * Takes the right to deliver, or renews it; `false` where another has it. A holder that stalls may overlap with the next:
   * some are told twice.
   */
  async hold(): Promise<'taken' | 'renewed' | false> {
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
    if (!outcome.committed) return false
    return entry === undefined ? 'taken' : 'renewed'
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

  /** One page. */
  async outbox(): Promise<readonly OutboxEntry[]> {
    const { entries } = await this.#store.range({ prefix: OUTBOX_PREFIX, limit: OUTBOX_PAGE_EVENTS })
    return entries.map(({ key, value }) => ({
      key,
      tenant: tenantOfOutboxKey(key),
      event: decodeEvent(value),
    }))
  }

  /** Yields when events may have come into the outbox, and once when it has begun to look. */
  async *arrivals(signal: AbortSignal): AsyncGenerator<void, void, undefined> {
    for await (const notice of this.#store.watch({ prefix: OUTBOX_PREFIX, signal })) {
      if (notice.kind !== 'changes' || notice.changes.some(({ kind }) => kind === 'put')) yield
    }
  }

  /** Yields what has begun to wait, and `undefined` where anything may: at the beginning, and when some was missed. */
  async *newlyWaiting(
    signal: AbortSignal,
  ): AsyncGenerator<readonly WaitingNotice[] | undefined, void, undefined> {
    const prefix = serverPrefix(WAITING)
    for await (const notice of this.#store.watch({ prefix, signal })) {
      if (notice.kind !== 'changes') yield undefined
      else {
        const put = notice.changes.filter(({ kind }) => kind === 'put')
        if (put.length > 0) yield put.flatMap(({ key }) => readWaitingKey(key.slice(prefix.length)))
      }
    }
  }

  /**
   * Once only, whoever else does the same. `false`: one of the webhooks has gone, and nothing was done. So nothing is ever
   * left waiting for a webhook that is not there.
   */
  async fanOut({ key }: Pick<OutboxEntry, 'key'>, deliveries: readonly Delivery[]): Promise<boolean> {
    const outcome = await this.#store.commit({
      conditions: [{ key, is: 'present' }, ...deliveries.map(({ webhook }) => isThere(webhook))],
      operations: [{ do: 'delete', key }, ...deliveries.map(putWaiting)],
    })
    return outcome.committed || outcome.unmet.some((unmet) => unmet.key === key)
  }

  /** What waits for one webhook, what has been due for longest first. */
  async next(webhook: string, limit: number): Promise<readonly Delivery[]> {
    const { entries } = await this.#store.range({ prefix: prefixOf(WAITING, webhook), limit })
    return entries.map(({ value }) => JSON.parse(decode(value)) as Delivery)
  }

  /** Nothing, where it does not wait any more: its webhook was removed. */
  async keepWaiting(before: Delivery, after: Delivery): Promise<void> {
    const isMoved = waitingKey(before) !== waitingKey(after)
    await this.#replace(before, isMoved ? [remove(before), putWaiting(after)] : [putWaiting(after)])
  }

  async delivered(delivery: Delivery): Promise<void> {
    await this.#replace(delivery, [remove(delivery)])
  }

  async giveUp(before: Delivery, after: Delivery): Promise<void> {
    const value = encode(JSON.stringify(after))
    const dead: StoreOperation = { do: 'put', key: deadKey(after.id), value, ttlMs: WEBHOOK_DEAD_KEPT_MS }
    await this.#replace(before, [remove(before), dead])
  }

  /** By id, from behind `after` on. `next` is the last one's id where there are more. */
  async dead(
    webhook: string,
    page: { readonly limit: number; readonly after?: string },
  ): Promise<{ readonly deliveries: readonly Delivery[]; readonly next: string | undefined }> {
    const prefix = prefixOf(DEAD, webhook)
    const after = page.after === undefined ? prefix : deadKey(page.after)
    // Some other webhook's, behind all of this one.
    if (after > prefix && !after.startsWith(prefix)) return { deliveries: [], next: undefined }
    const limit = Math.min(page.limit, STORE_PAGE_MAX_ENTRIES)
    const { entries, next } = await this.#store.range({ prefix, limit, after })
    const deliveries = entries.map(({ value }) => JSON.parse(decode(value)) as Delivery)
    return { deliveries, next: next === undefined ? undefined : deliveries.at(-1)?.id }
  }

  async findDead(id: string): Promise<Delivery | undefined> {
    const entry = await this.#store.get(deadKey(id))
    return entry === undefined ? undefined : (JSON.parse(decode(entry.value)) as Delivery)
  }

  async revive(delivery: Delivery): Promise<boolean> {
    const key = deadKey(delivery.id)
    const outcome = await this.#store.commit({
      conditions: [{ key, is: 'present' }, isThere(delivery.webhook)],
      operations: [{ do: 'delete', key }, putWaiting(delivery)],
    })
    return outcome.committed
  }

  async forget(webhook: string): Promise<void> {
    for (const shelf of [WAITING, DEAD]) await this.#store.clear(prefixOf(shelf, webhook))
  }

  async #replace(delivery: Delivery, operations: readonly StoreOperation[]): Promise<void> {
    await this.#store.commit({ conditions: [{ key: waitingKey(delivery), is: 'present' }], operations })
  }
}

function waitingKey({ id, webhook, nextAt }: KeptDelivery): string {
  const due = String(Date.parse(nextAt)).padStart(DUE_DIGITS, '0')
  return serverKey(WAITING, `${webhook}-${due}-${id.slice(webhook.length + 1)}`)
}

function readWaitingKey(id: string): readonly WaitingNotice[] {
  const [, webhook, due] = /^(.+?)-(\d{16})-/.exec(id) ?? []
  return webhook === undefined ? [] : [{ webhook, atMs: Number(due) }]
}

function isThere(webhook: string): StoreCondition {
  return { key: serverKey(WEBHOOKS, webhook), is: 'present' }
}

function deadKey(id: string): string {
  return serverKey(DEAD, id)
}

function prefixOf(shelf: string, webhook: string): string {
  return `${serverPrefix(shelf)}${webhook}-`
}

function putWaiting(delivery: KeptDelivery): StoreOperation {
  return { do: 'put', key: waitingKey(delivery), value: encode(JSON.stringify(delivery)) }
}

function remove(delivery: KeptDelivery): StoreOperation {
  return { do: 'delete', key: waitingKey(delivery) }
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
