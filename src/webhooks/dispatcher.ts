/**
 * Tells those outside what happened, from the outbox and apart from whatever records events.
 *
 * - WH-1 An event leaves the outbox in the one write that makes its deliveries; a crash loses none and makes none twice.
 * - WH-2 A delivery ends in one of two ways: its receiver took it, or it is dead after its last try. It may arrive more than
 *   once, always under the same id.
 * - WH-3 Each webhook has places of its own, so that one that is slow holds up nobody but itself.
 * - WH-4 Of several instances over one store one delivers.
 * - WH-5 What is read is what is due: the dispatcher knows when each webhook is to be looked at, is told by the store what
 *   comes in between, and sleeps until then.
 */

import type { DeliveryRecord, WebhookRecord } from './webhooks.ts'
import { systemClock, type Clock } from '../base/clock.ts'
import {
  OUTBOX_PAGE_EVENTS,
  WEBHOOK_IN_FLIGHT,
  WEBHOOK_LEASE_MS,
  WEBHOOK_LEASE_ROUNDS,
  WEBHOOK_LOOK_MS,
  WEBHOOK_MAX_DELAY_MS,
} from './limits.ts'
import type { Logger } from '../base/logger.ts'
import type { OutboxEntry, WebhookShelves } from './webhook-store.ts'
import { bodyOf } from './delivery-body.ts'
import { DueTimes } from './due-times.ts'

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
  readonly #lookMs: number
  readonly #closing = new AbortController()
  readonly #underWay = new Map<string, { readonly webhook: string; readonly done: Promise<void> }>()
  /** When each webhook is to be looked at. */
  readonly #due = new DueTimes()
  /** Whether there may be something in the outbox. */
  #isOutboxNew = true
  /** Whether anything may wait for any webhook, known or not. */
  #isAllNew = true
  /** By the monotonic clock; before that the lease is good without being renewed. `undefined`: another delivers. */
  #renewAtMs: number | undefined
  /** Whether there may be something new since the last pass began. */
  #isWoken = false
  #rested = new AbortController()
  readonly #loops: Promise<unknown>
  #closed: Promise<void> | undefined

  constructor(parts: DispatcherParts) {
    this.#parts = parts
    this.#clock = parts.clock ?? systemClock
    this.#lookMs = parts.lookMs ?? WEBHOOK_LOOK_MS
    this.#loops = Promise.all([this.#work(), this.#hearOfArrivals(), this.#hearOfWaiting()])
  }

  /** Calls that are under way are aborted; they are made again by whoever delivers next. May be called twice. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#closing.abort()
    this.#rested.abort()
    await this.#loops
    await Promise.all([...this.#underWay.values()].map(({ done }) => done))
    await this.#parts.shelves.release().catch((error: unknown) => this.#warn(error))
  }

  async #work(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      this.#isWoken = false
      try {
        if (await this.#hold()) await this.#pass()
        await this.#rest(this.#restMs())
      } catch (error) {
        this.#warn(error)
        // What the pass had taken in hand is not known any more.
        this.#isOutboxNew = this.#isAllNew = true
        await this.#pause()
      }
    }
  }

  /** Whether this instance delivers. */
  async #hold(): Promise<boolean> {
    // Before it is asked for: it is not held for longer than that.
    const nowMs = this.#clock.monotonicMs()
    if (this.#renewAtMs !== undefined && nowMs < this.#renewAtMs) return true
    this.#renewAtMs = undefined
    const held = await this.#parts.shelves.hold()
    if (held === false) return false
    this.#renewAtMs = nowMs + WEBHOOK_LEASE_MS / WEBHOOK_LEASE_ROUNDS
    // Others may have been at work meanwhile.
    if (held === 'taken') this.#isOutboxNew = this.#isAllNew = true
    return true
  }

  async #pass(): Promise<void> {
    const { shelves } = this.#parts
    const isAllNew = this.#isAllNew
    this.#isAllNew = false
    const entries = this.#isOutboxNew ? await this.#takeOutboxPage() : []
    const nowMs = this.#clock.now().getTime()
    if (entries.length === 0 && !isAllNew && this.#due.nextMs > nowMs) return
    // Behind the outbox: who was added before an event was recorded is told of it.
    const webhooks = new Map((await this.#parts.webhooks()).map((webhook) => [webhook.id, webhook]))
    if (isAllNew) for (const id of webhooks.keys()) this.#due.note(id, nowMs)
    for (const entry of entries) await this.#fanOut(entry, [...webhooks.values()])
    for (const id of this.#due.take(this.#clock.now().getTime())) {
      const webhook = webhooks.get(id)
      if (webhook !== undefined) await this.#deliverDue(webhook, shelves)
    }
  }

  /** A page at a time, so that what waits is not held up by a long row of events. */
  async #takeOutboxPage(): Promise<readonly OutboxEntry[]> {
    this.#isOutboxNew = false
    const entries = await this.#parts.shelves.outbox()
    if (entries.length === OUTBOX_PAGE_EVENTS) this.#hearOfOutbox()
    return entries
  }

  async #fanOut(entry: OutboxEntry, webhooks: readonly WebhookRecord[]): Promise<void> {
    const { compilePattern, shelves } = this.#parts
    const told = webhooks.filter(
      ({ tenant, types }) =>
        tenant === entry.tenant && types.some((pattern) => compilePattern(pattern)(entry.event.type)),
    )
    const now = this.#clock.now()
    const deliveries = told.map(({ id }) => ({
      id: `${id}-${entry.event.id}`,
      webhook: id,
      executionId: entry.event.executionId,
      eventType: entry.event.type,
      body: bodyOf(entry.event),
      attempts: 0,
      nextAt: now.toISOString(),
    }))
    // A webhook that was removed meanwhile: the event goes to those that are left.
    if (!(await shelves.fanOut(entry, deliveries))) this.#hearOfOutbox()
    for (const { id } of told) this.#due.note(id, now.getTime())
  }

  /** The earliest calls of one webhook that it has places for. */
  async #deliverDue(webhook: WebhookRecord, shelves: DispatcherParts['shelves']): Promise<void> {
    // Those under way now: one that ends while the page is on its way may still stand in it.
    const underWay = new Set<string>()
    for (const [id, other] of this.#underWay) if (other.webhook === webhook.id) underWay.add(id)
    let places = WEBHOOK_IN_FLIGHT - underWay.size
    // The next that ends looks again.
    if (places <= 0) return
    const nowMs = this.#clock.now().getTime()
    // Those under way wait in front, and there are others enough behind them.
    for (const delivery of await shelves.next(webhook.id, 2 * WEBHOOK_IN_FLIGHT)) {
      if (underWay.has(delivery.id)) continue
      const dueMs = Date.parse(delivery.nextAt)
      if (dueMs > nowMs) {
        this.#due.note(webhook.id, dueMs)
        return
      }
      if (places === 0) return
      places -= 1
      this.#begin(webhook, delivery)
    }
  }

  #begin(webhook: WebhookRecord, delivery: DeliveryRecord): void {
    const done = this.#deliver(webhook, delivery).then((isSettled) => {
      this.#underWay.delete(delivery.id)
      this.#due.note(webhook.id, this.#clock.now().getTime() + (isSettled ? 0 : this.#lookMs))
      this.#wake()
    })
    this.#underWay.set(delivery.id, { webhook: webhook.id, done })
  }

  /** Never rejects. `false`: the store did not take the outcome, so that it is called again after a while. */
  async #deliver(webhook: WebhookRecord, delivery: DeliveryRecord): Promise<boolean> {
    const { shelves, send, logger } = this.#parts
    const { signal } = this.#closing
    try {
      const problem = await send(webhook, delivery, signal)
      if (problem === undefined) {
        await shelves.delivered(delivery)
        return true
      }
      // Cut short by ourselves, which is no fault of the receiver.
      if (signal.aborted) return true
      const attempts = delivery.attempts + 1
      const tried = { ...delivery, attempts, lastProblem: problem.slice(0, 500) }
      const now = this.#clock.now()
      if (attempts >= webhook.retry.attempts) {
        logger.warn('a webhook was given up', { delivery: delivery.id, attempts, problem })
        await shelves.giveUp(delivery, { ...tried, gaveUpAt: now.toISOString() })
        return true
      }
      const delayMs = Math.min(WEBHOOK_MAX_DELAY_MS, webhook.retry.firstDelayMs * 2 ** (attempts - 1))
      const nextAt = new Date(now.getTime() + delayMs).toISOString()
      await shelves.keepWaiting(delivery, { ...tried, nextAt })
      return true
    } catch (error) {
      this.#warn(error)
      return false
    }
  }

  #restMs(): number {
    if (this.#renewAtMs === undefined) return this.#lookMs
    const untilRenewal = this.#renewAtMs - this.#clock.monotonicMs()
    return Math.max(0, Math.min(untilRenewal, this.#due.nextMs - this.#clock.now().getTime()))
  }

  /** Until somebody wakes it, or it is time to look. */
  async #rest(durationMs: number): Promise<void> {
    if (this.#isWoken || this.#closing.signal.aborted) return
    this.#rested = new AbortController()
    await this.#clock.sleep(durationMs, this.#rested.signal).catch(() => undefined)
  }

  /** Where the store fails, whatever happens meanwhile. */
  async #pause(): Promise<void> {
    await this.#clock.sleep(this.#lookMs, this.#closing.signal).catch(() => undefined)
  }

  /** An instance that does not deliver is not woken: it would only look whose turn it is. */
  #wake(): void {
    if (this.#renewAtMs === undefined) return
    this.#isWoken = true
    this.#rested.abort()
  }

  #hearOfOutbox(): void {
    this.#isOutboxNew = true
    this.#wake()
  }

  #hearOfArrivals(): Promise<void> {
    return this.#listen(
      (signal) => this.#parts.shelves.arrivals(signal),
      () => this.#hearOfOutbox(),
    )
  }

  #hearOfWaiting(): Promise<void> {
    return this.#listen(
      (signal) => this.#parts.shelves.newlyWaiting(signal),
      (waiting) => {
        if (waiting === undefined) this.#isAllNew = true
        else for (const { webhook, atMs } of waiting) this.#due.note(webhook, atMs)
        this.#wake()
      },
    )
  }

  /** Listens until it closes. A watch that ends is opened again, and then begins by saying that anything may be new. */
  async #listen<T>(
    open: (signal: AbortSignal) => AsyncIterable<T>,
    hear: (notice: T) => void,
  ): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      try {
        for await (const notice of open(signal)) hear(notice)
      } catch (error) {
        this.#warn(error)
      }
      await this.#pause()
    }
  }

  #warn(error: unknown): void {
    if (this.#closing.signal.aborted) return
    this.#parts.logger.warn('webhooks cannot be looked after just now', { error })
  }
}
