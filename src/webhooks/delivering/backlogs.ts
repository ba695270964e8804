/**
 * How many deliveries wait for each webhook, counted by the instance that delivers, and what that means for further ones: beyond a
 * limit they are dead at once.
 *
 * - BL-1 Counting delays nobody: what waited before this instance delivered is counted when a further event comes, one page of it at
 *   once and the rest beside the deliveries.
 * - BL-2 Others may change what waits. So a limit that seems to be reached is counted again, but not often.
 */

import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import { STORE_PAGE_MAX_ENTRIES } from '../../core/limits.ts'
import { WEBHOOK_OVERFLOW_ENDS_PART, WEBHOOK_RECOUNT_MS, WEBHOOK_WAITING_MAX } from '../limits.ts'
import { WEBHOOK_WAITING_PER_TENANT_MAX } from '../limits.ts'
import type { WebhookRecord } from '../records.ts'
import type { DeliveryStore } from './delivery-store.ts'

export interface BacklogLimits {
  readonly perWebhook: number
  readonly perTenant: number
}

export interface BacklogParts {
  readonly deliveries: DeliveryStore
  readonly logger: Logger
  readonly clock: Clock
  readonly limits?: BacklogLimits | undefined
}

interface Backlog {
  readonly webhook: WebhookRecord
  waiting: number
  /** `undefined`: not yet as a whole. */
  countedAtMs: number | undefined
  counting: Promise<void> | undefined
  /** Whether the webhook is shown to be over a limit. */
  isMarked: boolean
}

export class Backlogs {
  readonly #parts: BacklogParts
  readonly #limits: BacklogLimits
  readonly #backlogs = new Map<string, Backlog>()

  constructor(parts: BacklogParts) {
    this.#parts = parts
    this.#limits = parts.limits ?? {
      perWebhook: WEBHOOK_WAITING_MAX,
      perTenant: WEBHOOK_WAITING_PER_TENANT_MAX,
    }
  }

  /** After another instance may have delivered. */
  async renew(webhooks: Iterable<WebhookRecord>): Promise<void> {
    const marked = new Set((await this.#parts.deliveries.overflows()).map(({ webhook }) => webhook))
    this.#backlogs.clear()
    for (const webhook of webhooks) this.#of(webhook).isMarked = marked.has(webhook.id)
  }

  /** Why one more delivery must not wait for a webhook; `undefined` where it may. */
  async refuse(webhook: WebhookRecord): Promise<string | undefined> {
    const backlog = this.#of(webhook)
    const nowMs = this.#parts.clock.monotonicMs()
    if (backlog.countedAtMs === undefined) await this.#countFirst(backlog)
    else if (this.#problemOf(backlog) !== undefined && nowMs - backlog.countedAtMs >= WEBHOOK_RECOUNT_MS)
      await this.#count(backlog)
    const problem = this.#problemOf(backlog)
    if (problem !== undefined) await this.#mark(backlog, problem)
    return problem
  }

  /** One more waits. */
  add(webhook: WebhookRecord): void {
    this.#of(webhook).waiting += 1
  }

  /** One ended. */
  async remove(webhook: WebhookRecord): Promise<void> {
    const backlog = this.#of(webhook)
    backlog.waiting = Math.max(0, backlog.waiting - 1)
    await this.#unmark(backlog)
  }

  /** Nothing waits. */
  async empty(webhook: WebhookRecord): Promise<void> {
    const backlog = this.#of(webhook)
    backlog.waiting = 0
    backlog.countedAtMs = this.#parts.clock.monotonicMs()
    await this.#unmark(backlog)
  }

  /** Ends when nothing is being counted. */
  async idle(): Promise<void> {
    await Promise.all([...this.#backlogs.values()].flatMap(({ counting }) => counting ?? []))
  }

  #of(webhook: WebhookRecord): Backlog {
    const known = this.#backlogs.get(webhook.id)
    if (known !== undefined) return known
    const backlog = { webhook, waiting: 0, countedAtMs: undefined, counting: undefined, isMarked: false }
    this.#backlogs.set(webhook.id, backlog)
    return backlog
  }

  #problemOf({ webhook, waiting }: Backlog, part = 1): string | undefined {
    const { perWebhook, perTenant } = this.#limits
    if (waiting >= perWebhook * part)
      return `${perWebhook} deliveries wait for this webhook, which is the most`
    let ofTenant = 0
    for (const other of this.#backlogs.values())
      if (other.webhook.tenant === webhook.tenant) ofTenant += other.waiting
    if (ofTenant < perTenant * part) return undefined
    return `${perTenant} deliveries wait for the webhooks of the tenant, which is the most`
  }

  async #countFirst(backlog: Backlog): Promise<void> {
    if (backlog.counting !== undefined) return
    const { deliveries, clock } = this.#parts
    const waiting = await deliveries.count(backlog.webhook.id, 1)
    if (waiting >= STORE_PAGE_MAX_ENTRIES) return void this.#count(backlog)
    backlog.waiting = waiting
    backlog.countedAtMs = clock.monotonicMs()
  }

  /** Never rejects: what the store does not tell now is counted with the next event. */
  #count(backlog: Backlog): Promise<void> {
    backlog.counting ??= this.#read(backlog)
      .catch((error: unknown) =>
        this.#parts.logger.warn('waiting webhook deliveries could not be counted', { error }),
      )
      .finally(() => (backlog.counting = undefined))
    return backlog.counting
  }

  async #read(backlog: Backlog): Promise<void> {
    const { deliveries, clock } = this.#parts
    backlog.waiting = await deliveries.count(backlog.webhook.id, this.#limits.perWebhook)
    backlog.countedAtMs = clock.monotonicMs()
  }

  async #mark(backlog: Backlog, problem: string): Promise<void> {
    if (backlog.isMarked) return
    const { deliveries, logger, clock } = this.#parts
    const webhook = backlog.webhook.id
    await deliveries.markOverflow({ webhook, since: clock.now().toISOString(), problem })
    backlog.isMarked = true
    logger.warn('too many deliveries wait for a webhook: further ones are dead at once', { webhook, problem })
  }

  /** Not at once when there is room for one. */
  async #unmark(backlog: Backlog): Promise<void> {
    if (!backlog.isMarked || backlog.countedAtMs === undefined) return
    if (this.#problemOf(backlog, WEBHOOK_OVERFLOW_ENDS_PART) !== undefined) return
    await this.#parts.deliveries.unmarkOverflow(backlog.webhook.id)
    backlog.isMarked = false
    this.#parts.logger.info('deliveries wait for a webhook again', { webhook: backlog.webhook.id })
  }
}
