/**
 * Deliveries in the store. Each step is one commit: an event leaves the outbox together with the deliveries made of it, and a
 * delivery becomes dead in the same commit in which it stops waiting.
 *
 * The keys of waiting deliveries are ordered by webhook and then by due time. What is due now is at the start of a short page,
 * however many deliveries wait behind it.
 */

import { fromBytes, toBytes } from '../../core/json.ts'
import { STORE_PAGE_MAX_ENTRIES } from '../../core/limits.ts'
import { decodeEvent, type ExecutionEvent } from '../../core/events/event.ts'
import { OUTBOX_PREFIX, serverKey, serverPrefix, tenantOfOutboxKey } from '../../core/keys.ts'
import { readPages } from '../../core/read-pages.ts'
import type { Store, StoreCondition, StoreOperation } from '../../core/ports.ts'
import { OUTBOX_PAGE_EVENTS, WEBHOOK_DEAD_KEPT_MS } from '../limits.ts'
import { openRecordStore, type RecordStore } from '../../core/records/record-store.ts'
import { OVERFLOWS, WEBHOOKS, type DeliveryRecord, type OverflowRecord } from '../records.ts'

const WAITING = 'deliveries'
const DEAD = 'dead-deliveries'
/** Wide enough for every date there is. */
const DUE_DIGITS = 16

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

export interface PageRequest {
  readonly limit: number
  /** The id behind which to start. */
  readonly after?: string | undefined
}

export interface DeadPage {
  readonly deliveries: readonly DeliveryRecord[]
  /** The last one's id, where there are more. */
  readonly next: string | undefined
}

export class DeliveryStore {
  readonly #store: Store
  readonly #overflows: RecordStore<OverflowRecord>

  constructor(store: Store) {
    this.#store = store
    this.#overflows = openRecordStore(store, OVERFLOWS)
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

  /** Yields when events may have come into the outbox, and once when it has begun to watch. */
  async *arrivals(signal: AbortSignal): AsyncGenerator<void, void, undefined> {
    for await (const notice of this.#store.watch({ prefix: OUTBOX_PREFIX, signal })) {
      if (notice.kind !== 'changes' || notice.changes.some(({ kind }) => kind === 'put')) yield
    }
  }

  /** Yields what has begun to wait. `undefined`: anything may have, at the beginning and when changes were missed. */
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
   * Happens once, even if several instances try. `false`: one of the webhooks was removed, and nothing was written, so that
   * nothing waits for a webhook that does not exist. Those that are given up already are dead at once.
   */
  async fanOut({ key }: Pick<OutboxEntry, 'key'>, deliveries: readonly DeliveryRecord[]): Promise<boolean> {
    const outcome = await this.#store.commit({
      conditions: [{ key, is: 'present' }, ...deliveries.map(({ webhook }) => exists(webhook))],
      operations: [
        { do: 'delete', key },
        ...deliveries.map((delivery) =>
          delivery.gaveUpAt === undefined ? putWaiting(delivery) : putDead(delivery),
        ),
      ],
    })
    return outcome.committed || outcome.unmet.some((unmet) => unmet.key === key)
  }

  /** What waits for one webhook, in the order of due times. */
  async next(webhook: string, limit: number): Promise<readonly DeliveryRecord[]> {
    const { entries } = await this.#store.range({ prefix: prefixOf(WAITING, webhook), limit })
    return entries.map(({ value }) => readDelivery(value))
  }

  /** What waits for it longest, the last first. */
  async last(webhook: string, limit: number): Promise<readonly DeliveryRecord[]> {
    const prefix = prefixOf(WAITING, webhook)
    const { entries } = await this.#store.range({ prefix, limit, order: 'descending' })
    return entries.map(({ value }) => readDelivery(value))
  }

  /** How many wait for it, counted up to about `most`. */
  async count(webhook: string, most: number): Promise<number> {
    let count = 0
    const range = { prefix: prefixOf(WAITING, webhook), limit: STORE_PAGE_MAX_ENTRIES }
    for await (const page of readPages(this.#store, range)) {
      count += page.length
      if (count >= most) break
    }
    return count
  }

  /** Webhooks for which too many wait. */
  overflows(): Promise<readonly OverflowRecord[]> {
    return this.#overflows.list()
  }

  /** Nothing is kept about a webhook that is gone. */
  async markOverflow(overflow: OverflowRecord): Promise<void> {
    const { webhook } = overflow
    const value = toBytes(JSON.stringify(overflow))
    await this.#store.commit({
      conditions: [exists(webhook)],
      operations: [{ do: 'put', key: serverKey(OVERFLOWS, webhook), value }],
    })
  }

  async unmarkOverflow(webhook: string): Promise<void> {
    await this.#overflows.remove(webhook)
  }

  /** Does nothing where it no longer waits because its webhook was removed; so do the next two. */
  async keepWaiting(before: DeliveryRecord, after: DeliveryRecord): Promise<void> {
    const isMoved = waitingKey(before) !== waitingKey(after)
    await this.#replace(before, isMoved ? [remove(before), putWaiting(after)] : [putWaiting(after)])
  }

  async delivered(delivery: DeliveryRecord): Promise<void> {
    await this.#replace(delivery, [remove(delivery)])
  }

  async giveUp(before: DeliveryRecord, after: DeliveryRecord): Promise<void> {
    await this.#replace(before, [remove(before), putDead(after)])
  }

  /** By id. */
  async dead(webhook: string, page: PageRequest): Promise<DeadPage> {
    const prefix = prefixOf(DEAD, webhook)
    const after = page.after === undefined ? prefix : deadKey(page.after)
    // The id of another webhook's delivery, behind all of this one.
    if (after > prefix && !after.startsWith(prefix)) return { deliveries: [], next: undefined }
    const limit = Math.min(page.limit, STORE_PAGE_MAX_ENTRIES)
    const { entries, next } = await this.#store.range({ prefix, limit, after })
    const deliveries = entries.map(({ value }) => readDelivery(value))
    return { deliveries, next: next === undefined ? undefined : deliveries.at(-1)?.id }
  }

  async findDead(id: string): Promise<DeliveryRecord | undefined> {
    const entry = await this.#store.get(deadKey(id))
    return entry === undefined ? undefined : readDelivery(entry.value)
  }

  /** Moves it back to those that wait, in one commit; `false` where it is not dead. */
  async revive(delivery: DeliveryRecord): Promise<boolean> {
    const key = deadKey(delivery.id)
    const outcome = await this.#store.commit({
      conditions: [{ key, is: 'present' }, exists(delivery.webhook)],
      operations: [{ do: 'delete', key }, putWaiting(delivery)],
    })
    return outcome.committed
  }

  /** Removes all deliveries of a webhook. */
  async forget(webhook: string): Promise<void> {
    for (const kind of [WAITING, DEAD]) await this.#store.clear(prefixOf(kind, webhook))
    await this.unmarkOverflow(webhook)
  }

  /** Removes the deliveries of a webhook that are about these executions. */
  async forgetExecutions(webhook: string, executions: ReadonlySet<string>): Promise<void> {
    for (const kind of [WAITING, DEAD]) {
      const range = { prefix: prefixOf(kind, webhook), limit: STORE_PAGE_MAX_ENTRIES }
      for await (const page of readPages(this.#store, range)) {
        for (const { key, value, revision } of page) {
          if (!executions.has(readDelivery(value).executionId)) continue
          // One that has changed since is being delivered now, and ends without help.
          await this.#store.commit({
            conditions: [{ key, is: 'at', revision }],
            operations: [{ do: 'delete', key }],
          })
        }
      }
    }
  }

  async #replace(delivery: DeliveryRecord, operations: readonly StoreOperation[]): Promise<void> {
    await this.#store.commit({ conditions: [{ key: waitingKey(delivery), is: 'present' }], operations })
  }
}

function waitingKey({ id, webhook, nextAt }: DeliveryRecord): string {
  const due = String(Date.parse(nextAt)).padStart(DUE_DIGITS, '0')
  return serverKey(WAITING, `${webhook}-${due}-${id.slice(webhook.length + 1)}`)
}

function readWaitingKey(id: string): readonly WaitingNotice[] {
  const [, webhook, due] = /^(.+?)-(\d{16})-/.exec(id) ?? []
  return webhook === undefined ? [] : [{ webhook, atMs: Number(due) }]
}

function exists(webhook: string): StoreCondition {
  return { key: serverKey(WEBHOOKS, webhook), is: 'present' }
}

function deadKey(id: string): string {
  return serverKey(DEAD, id)
}

function prefixOf(kind: string, webhook: string): string {
  return `${serverPrefix(kind)}${webhook}-`
}

function putWaiting(delivery: DeliveryRecord): StoreOperation {
  return { do: 'put', key: waitingKey(delivery), value: write(delivery) }
}

function putDead(delivery: DeliveryRecord): StoreOperation {
  return { do: 'put', key: deadKey(delivery.id), value: write(delivery), ttlMs: WEBHOOK_DEAD_KEPT_MS }
}

function remove(delivery: DeliveryRecord): StoreOperation {
  return { do: 'delete', key: waitingKey(delivery) }
}

function write(delivery: DeliveryRecord): Uint8Array {
  return toBytes(JSON.stringify(delivery))
}

function readDelivery(bytes: Uint8Array): DeliveryRecord {
  return JSON.parse(fromBytes(bytes)) as DeliveryRecord
}
