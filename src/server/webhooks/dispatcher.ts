/**
 * Tells those outside what happened, from the outbox and apart from whatever records events.
 *
 * - WH-1 An event leaves the outbox in the one write that makes its deliveries; a crash loses none and makes none twice.
 * - WH-2 A delivery ends in one of two ways: its receiver took it, or it is dead after its last try. It may arrive more than
 *   once, always under the same id.
 * - WH-3 Each webhook has places of its own, so that one that is slow holds up nobody but itself.
 * - WH-4 Of several instances over one store one delivers.
 */

import type { DeliveryRecord, WebhookRecord } from '../../api/webhooks.ts'
import { systemClock, type Clock } from '../../base/clock.ts'
import {
  WEBHOOK_IN_FLIGHT,
  WEBHOOK_LOOK_MS,
  WEBHOOK_MAX_DELAY_MS,
  WEBHOOK_PAYLOAD_MAX_BYTES,
} from '../../base/limits.ts'
import type { Logger } from '../../base/logger.ts'
import type { OutboxEntry, WebhookShelves } from '../../runtime/webhook-shelves.ts'
import { showEvent } from '../../api/read-execution.ts'

export interface DispatcherParts {
  readonly shelves: WebhookShelves<DeliveryRecord>
  readonly webhooks: () => Promise<readonly WebhookRecord[]>
  readonly compilePattern: (pattern: string) => (type: string) => boolean
  /** Calls a receiver: `undefined` when it took the delivery, else what was wrong. Never rejects. */
  readonly send: (
    webhook: WebhookRecord,
    delivery: DeliveryRecord,
    signal: AbortSignal,
  ) => Promise<string | undefined>
  readonly logger: Logger
  readonly clock?: Clock
  readonly lookMs?: number
}

export class WebhookDispatcher {
  readonly #parts: DispatcherParts
  readonly #clock: Clock
  readonly #closing = new AbortController()
  readonly #underWay = new Map<string, { readonly webhook: string; readonly done: Promise<void> }>()
  /** Whether there may be something new since the last pass began. */
  #isWoken = false
  #rested = new AbortController()
  readonly #loops: Promise<unknown>
  #closed: Promise<void> | undefined

  constructor(parts: DispatcherParts) {
    this.#parts = parts
    this.#clock = parts.clock ?? systemClock
    this.#loops = Promise.all([this.#work(), this.#listen()])
  }

  /** Calls that are under way are aborted; they are made again by whoever delivers next. May be called twice. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#closing.abort()
    this.#wake()
    await this.#loops
    await Promise.all([...this.#underWay.values()].map(({ done }) => done))
    await this.#parts.shelves.release().catch((error: unknown) => this.#warn(error))
  }

  async #work(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      try {
        if (await this.#parts.shelves.hold()) await this.#pass()
      } catch (error) {
        this.#warn(error)
      }
      await this.#rest()
    }
  }

  async #pass(): Promise<void> {
    const webhooks = await this.#parts.webhooks()
    for (let entries = await this.#parts.shelves.outbox(); entries.length > 0;) {
      for (const entry of entries) await this.#fanOut(entry, webhooks)
      if (this.#closing.signal.aborted) return
      entries = await this.#parts.shelves.outbox()
    }
    const known = new Map(webhooks.map((webhook) => [webhook.id, webhook]))
    const now = this.#clock.now().toISOString()
    for (const delivery of await this.#parts.shelves.waiting()) {
      const webhook = known.get(delivery.webhook)
      if (webhook === undefined || delivery.nextAt > now || this.#underWay.has(delivery.id)) continue
      const taken = [...this.#underWay.values()].filter((other) => other.webhook === webhook.id)
      if (taken.length >= WEBHOOK_IN_FLIGHT) continue
      const done = this.#deliver(webhook, delivery).finally(() => {
        this.#underWay.delete(delivery.id)
        this.#wake()
      })
      this.#underWay.set(delivery.id, { webhook: webhook.id, done })
    }
  }

  async #fanOut(entry: OutboxEntry, webhooks: readonly WebhookRecord[]): Promise<void> {
    const { compilePattern, shelves } = this.#parts
    const told = webhooks.filter(
      ({ tenant, types }) =>
        tenant === entry.tenant && types.some((pattern) => compilePattern(pattern)(entry.event.type)),
    )
    const nextAt = this.#clock.now().toISOString()
    const deliveries = told.map(({ id }) => ({
      id: `${id}-${entry.event.id}`,
      webhook: id,
      eventType: entry.event.type,
      body: bodyOf(entry),
      attempts: 0,
      nextAt,
    }))
    await shelves.fanOut(entry, deliveries)
  }

  /** Never rejects: what the store does not take now is tried again with the next look. */
  async #deliver(webhook: WebhookRecord, delivery: DeliveryRecord): Promise<void> {
    const { shelves, send, logger } = this.#parts
    const { signal } = this.#closing
    try {
      const problem = await send(webhook, delivery, signal)
      if (problem === undefined) {
        await shelves.delivered(delivery)
        return
      }
      // Cut short by ourselves, which is no fault of the receiver.
      if (signal.aborted) return
      const attempts = delivery.attempts + 1
      const tried = { ...delivery, attempts, lastProblem: problem.slice(0, 500) }
      if (attempts >= webhook.retry.attempts) {
        logger.warn('a webhook was given up', { delivery: delivery.id, attempts, problem })
        await shelves.giveUp(tried)
        return
      }
      const delayMs = Math.min(WEBHOOK_MAX_DELAY_MS, webhook.retry.firstDelayMs * 2 ** (attempts - 1))
      const nextAt = new Date(this.#clock.now().getTime() + delayMs).toISOString()
      await shelves.keepWaiting({ ...tried, nextAt })
    } catch (error) {
      this.#warn(error)
    }
  }

  /** Until somebody wakes it, or it is time to look. */
  async #rest(): Promise<void> {
    if (!this.#isWoken) {
      this.#rested = new AbortController()
      // Closing wakes it too.
      const { signal } = this.#rested
      await this.#clock.sleep(this.#parts.lookMs ?? WEBHOOK_LOOK_MS, signal).catch(() => undefined)
    }
    this.#isWoken = false
  }

  #wake(): void {
    this.#isWoken = true
    this.#rested.abort()
  }

  /** Wakes the work when events arrive; without it they are found by looking. */
  async #listen(): Promise<void> {
    const { signal } = this.#closing
    try {
      const arrivals = this.#parts.shelves.arrivals(signal)[Symbol.asyncIterator]()
      while ((await arrivals.next()).done !== true) this.#wake()
    } catch (error) {
      if (!signal.aborted) this.#warn(error)
    }
  }

  #warn(error: unknown): void {
    this.#parts.logger.warn('webhooks cannot be looked after just now', { error })
  }
}

/** What a receiver is sent. A large payload is left out, and read by who wants it. */
function bodyOf({ event }: OutboxEntry): string {
  const { id, execution_id, sequence, type, source, timestamp, payload } = showEvent(event)
  const head = { id, event_type: type, execution_id, sequence, source, timestamp }
  const isSmall = Buffer.byteLength(JSON.stringify(payload)) <= WEBHOOK_PAYLOAD_MAX_BYTES
  return JSON.stringify(isSmall ? { ...head, payload } : { ...head, payload_omitted: true })
}
