/**
 * Sends recorded events to webhooks, from the outbox, independently of whoever records them.
 *
 * - WH-1 An event leaves the outbox in the same commit that writes its deliveries; a crash loses none and duplicates none.
 * - WH-2 A delivery ends in one of two ways: its receiver accepted it, or it is dead after its last attempt. It may arrive more
 *   than once, always under the same id.
 * - WH-3 Each webhook has its own limit of simultaneous deliveries, so that a slow receiver delays no other.
 * - WH-4 Of several instances over one store one delivers.
 * - WH-5 Only what is due is read: the dispatcher knows when each webhook is due next, learns of new deliveries by watching the
 *   store, and sleeps until then.
 * - WH-6 No delivery waits longer than its webhook says because a clock was set back: due times are compared with a time that never goes
 *   back, and one that is further ahead than any wait was written by another clock, and is due now.
 */

import { setMaxListeners } from 'node:events'
import { systemClock, type Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import { once } from '../../base/once.ts'
import { SteadyTime } from '../../base/steady-time.ts'
import { compileTypePattern } from '../../core/events/type-pattern.ts'
import type { Leadership } from '../../core/life-cycle/leadership.ts'
import { OUTBOX_PAGE_EVENTS, WEBHOOK_IN_FLIGHT, WEBHOOK_LOOK_MS, WEBHOOK_MAX_DELAY_MS } from '../limits.ts'
import type { DeliveryRecord, WebhookRecord } from '../records.ts'
import { Backlogs, type BacklogLimits } from './backlogs.ts'
import type { DeliveryStore, OutboxEntry } from './delivery-store.ts'
import { makeDelivery } from './make-delivery.ts'
import { DueTimes } from './due-times.ts'
import { bringForward, waitMs } from './waits.ts'

export interface DispatcherParts {
  readonly deliveries: DeliveryStore
  readonly leadership: Leadership
  readonly webhooks: () => Promise<readonly WebhookRecord[]>
  /** Calls a receiver: `undefined` when it accepted the delivery, else what was wrong. Never rejects. */
  readonly send: (
    webhook: WebhookRecord,
    delivery: DeliveryRecord,
    signal: AbortSignal,
  ) => Promise<string | undefined>
  readonly logger: Logger
  readonly clock?: Clock
  readonly lookMs?: number
  readonly backlogLimits?: BacklogLimits
  /** Called whenever it has got on, also where that is only to see that another instance delivers. */
  readonly onProgress?: () => void
}

export class WebhookDispatcher {
  readonly #parts: DispatcherParts
  readonly #clock: Clock
  readonly #lookMs: number
  readonly #time: SteadyTime
  readonly #closing = new AbortController()
  readonly #inFlight = new Map<string, { readonly webhook: string; readonly done: Promise<void> }>()
  /** When each webhook is due next. */
  readonly #due = new DueTimes()
  readonly #backlogs: Backlogs
  /** Whether the outbox may hold something new. */
  #isOutboxNew = true
  /** Whether anything may wait for any webhook, known or not. */
  #isAllNew = true
  /** Whether there may be something new since the last pass began. */
  #isWoken = false
  #sleep = new AbortController()
  readonly #loops: Promise<unknown>
  /** Aborts deliveries in flight; the instance that delivers next makes them again. May be called twice. */
  readonly close = once(() => this.#close())

  constructor(parts: DispatcherParts) {
    // Every delivery in flight listens to it.
    setMaxListeners(0, this.#closing.signal)
    this.#parts = parts
    this.#clock = parts.clock ?? systemClock
    this.#lookMs = parts.lookMs ?? WEBHOOK_LOOK_MS
    this.#time = new SteadyTime(this.#clock)
    const { deliveries, logger, backlogLimits: limits } = parts
    this.#backlogs = new Backlogs({ deliveries, logger, clock: this.#clock, limits })
    this.#loops = Promise.all([this.#work(), this.#watchOutbox(), this.#watchWaiting()])
  }

  async #close(): Promise<void> {
    this.#closing.abort()
    this.#sleep.abort()
    await this.#loops
    await Promise.all([...[...this.#inFlight.values()].map(({ done }) => done), this.#backlogs.idle()])
    await this.#parts.leadership.release().catch((error: unknown) => this.#warn(error))
  }

  async #work(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      this.#isWoken = false
      try {
        if (await this.#lead()) await this.#pass()
        this.#noteProgress()
        await this.#rest(this.#restMs())
      } catch (error) {
        this.#warn(error)
        // The pass may have stopped half-way: look at everything again.
        this.#isOutboxNew = this.#isAllNew = true
        await this.#pause()
      }
    }
  }

  /** Whether this instance delivers. */
  async #lead(): Promise<boolean> {
    const held = await this.#parts.leadership.hold()
    // Another instance may have delivered meanwhile.
    if (held === 'taken') this.#isOutboxNew = this.#isAllNew = true
    return held !== false
  }

  async #pass(): Promise<void> {
    const isAllNew = this.#isAllNew
    this.#isAllNew = false
    const entries = this.#isOutboxNew ? await this.#takeOutboxPage() : []
    const nowMs = this.#time.nowMs()
    if (entries.length === 0 && !isAllNew && this.#due.nextMs > nowMs) return
    // Read after the outbox, so that a webhook that was added before an event was recorded gets the event.
    const webhooks = new Map((await this.#parts.webhooks()).map((webhook) => [webhook.id, webhook]))
    if (isAllNew) await this.#backlogs.renew(webhooks.values())
    for (const entry of entries) await this.#fanOut(entry, [...webhooks.values()])
    if (isAllNew) for (const webhook of webhooks.values()) await this.#lookAtAll(webhook)
    for (const id of this.#due.take(this.#time.nowMs())) {
      const webhook = webhooks.get(id)
      if (webhook !== undefined) await this.#deliverDue(webhook)
    }
  }

  /** One page at a time, so that a long outbox does not delay deliveries that are due. */
  async #takeOutboxPage(): Promise<readonly OutboxEntry[]> {
    this.#isOutboxNew = false
    const entries = await this.#parts.deliveries.outbox()
    if (entries.length === OUTBOX_PAGE_EVENTS) this.#noteOutbox()
    return entries
  }

  async #fanOut(entry: OutboxEntry, webhooks: readonly WebhookRecord[]): Promise<void> {
    const subscribed = webhooks.filter(
      ({ tenant, types }) =>
        tenant === entry.tenant && types.some((pattern) => compileTypePattern(pattern)(entry.event.type)),
    )
    const nowMs = this.#time.nowMs()
    const deliveries: DeliveryRecord[] = []
    for (const webhook of subscribed) {
      const delivery = makeDelivery(webhook, entry.event, nowMs)
      const lastProblem = await this.#backlogs.refuse(webhook)
      const gaveUpAt = this.#clock.now().toISOString()
      deliveries.push(lastProblem === undefined ? delivery : { ...delivery, lastProblem, gaveUpAt })
    }
    // One of the webhooks was removed meanwhile: the next pass tries again with the others.
    if (!(await this.#parts.deliveries.fanOut(entry, deliveries))) {
      this.#noteOutbox()
      return
    }
    for (const [at, { gaveUpAt }] of deliveries.entries()) {
      const webhook = subscribed[at]
      if (webhook === undefined || gaveUpAt !== undefined) continue
      this.#backlogs.add(webhook)
      this.#due.note(webhook.id, nowMs)
    }
    this.#noteProgress()
  }

  /** After another instance may have delivered, with another clock. */
  async #lookAtAll(webhook: WebhookRecord): Promise<void> {
    const nowMs = this.#time.nowMs()
    this.#due.note(webhook.id, nowMs)
    const isInFlight = (id: string): boolean => this.#inFlight.has(id)
    if (!(await bringForward(this.#parts, webhook, { nowMs, isInFlight }))) return
    // The next pass does the rest.
    this.#isAllNew = true
    this.#wake()
  }

  /** Begins the earliest deliveries of one webhook, as many as its limit leaves room for. */
  async #deliverDue(webhook: WebhookRecord): Promise<void> {
    // As of now: one that ends while the page is being read may still be on it.
    const inFlight = new Set<string>()
    for (const [id, other] of this.#inFlight) if (other.webhook === webhook.id) inFlight.add(id)
    let room = WEBHOOK_IN_FLIGHT - inFlight.size
    // The next one that ends looks again.
    if (room <= 0) return
    const nowMs = this.#time.nowMs()
    // Those in flight come first on the page, so it is twice as long.
    const next = await this.#parts.deliveries.next(webhook.id, 2 * WEBHOOK_IN_FLIGHT)
    if (next.length === 0) await this.#backlogs.empty(webhook)
    for (const delivery of next) {
      if (inFlight.has(delivery.id)) continue
      const dueMs = Date.parse(delivery.nextAt)
      if (dueMs > nowMs) {
        this.#due.note(webhook.id, dueMs)
        return
      }
      if (room === 0) return
      room -= 1
      this.#begin(webhook, delivery)
    }
  }

  #begin(webhook: WebhookRecord, delivery: DeliveryRecord): void {
    const done = this.#deliver(webhook, delivery).then((isStored) => {
      this.#inFlight.delete(delivery.id)
      this.#due.note(webhook.id, this.#time.nowMs() + (isStored ? 0 : this.#lookMs))
      this.#wake()
    })
    this.#inFlight.set(delivery.id, { webhook: webhook.id, done })
  }

  /** Never rejects. `false`: the outcome could not be stored, so the delivery is made again after a while. */
  async #deliver(webhook: WebhookRecord, delivery: DeliveryRecord): Promise<boolean> {
    const { deliveries, send, logger } = this.#parts
    const { signal } = this.#closing
    try {
      const problem = await send(webhook, delivery, signal)
      if (problem === undefined) {
        await deliveries.delivered(delivery)
        await this.#backlogs.remove(webhook)
        return true
      }
      // Aborted by `close`: not the receiver's failure.
      if (signal.aborted) return true
      const attempts = delivery.attempts + 1
      const tried = { ...delivery, attempts, lastProblem: problem.slice(0, 500) }
      if (attempts >= webhook.retry.attempts) {
        logger.warn('a webhook delivery was given up', { delivery: delivery.id, attempts, problem })
        await deliveries.giveUp(delivery, { ...tried, gaveUpAt: this.#clock.now().toISOString() })
        await this.#backlogs.remove(webhook)
        return true
      }
      const nextAt = new Date(this.#time.nowMs() + waitMs(webhook, tried)).toISOString()
      await deliveries.keepWaiting(delivery, { ...tried, nextAt })
      return true
    } catch (error) {
      this.#warn(error)
      return false
    }
  }

  /** Until something is due, or the lease must be renewed. */
  #restMs(): number {
    const renewMs = this.#parts.leadership.renewInMs()
    if (renewMs === undefined) return this.#lookMs
    return Math.max(0, Math.min(renewMs, this.#due.nextMs - this.#time.nowMs()))
  }

  /** Sleeps, unless there is something new; `#wake` ends it early. */
  async #rest(durationMs: number): Promise<void> {
    if (this.#isWoken || this.#closing.signal.aborted) return
    this.#sleep = new AbortController()
    await this.#clock.sleep(durationMs, this.#sleep.signal).catch(() => undefined)
  }

  /** After a failure of the store; new events do not end it early. */
  async #pause(): Promise<void> {
    await this.#clock.sleep(this.#lookMs, this.#closing.signal).catch(() => undefined)
  }

  /** An instance that does not deliver is not woken: it would only ask for the lease again. */
  #wake(): void {
    if (this.#parts.leadership.renewInMs() === undefined) return
    this.#isWoken = true
    this.#sleep.abort()
  }

  #noteOutbox(): void {
    this.#isOutboxNew = true
    this.#wake()
  }

  #watchOutbox(): Promise<void> {
    return this.#watch(
      (signal) => this.#parts.deliveries.arrivals(signal),
      () => this.#noteOutbox(),
    )
  }

  #watchWaiting(): Promise<void> {
    return this.#watch(
      (signal) => this.#parts.deliveries.newlyWaiting(signal),
      (waiting) => {
        const longestMs = this.#time.nowMs() + WEBHOOK_MAX_DELAY_MS
        // Another instance has another time.
        if (waiting?.every(({ atMs }) => atMs <= longestMs) !== true) this.#isAllNew = true
        for (const { webhook, atMs } of waiting ?? []) this.#due.note(webhook, atMs)
        this.#wake()
      },
    )
  }

  /** Until it closes. A watch that ends is opened again, and then first reports that anything may be new. */
  async #watch<T>(open: (signal: AbortSignal) => AsyncIterable<T>, note: (notice: T) => void): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      try {
        for await (const notice of open(signal)) note(notice)
      } catch (error) {
        this.#warn(error)
      }
      await this.#pause()
    }
  }

  #noteProgress(): void {
    this.#parts.onProgress?.()
  }

  #warn(error: unknown): void {
    if (this.#closing.signal.aborted) return
    this.#parts.logger.warn('delivering webhooks failed; it is tried again', { error })
  }
}
