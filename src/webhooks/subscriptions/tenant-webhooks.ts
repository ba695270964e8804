/** Adding, listing and removing the webhooks of one tenant, and sending their dead deliveries again. */

import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import { InvalidError, MissingError, RefusedError, errorKindOf } from '../../base/errors.ts'
import { isId } from '../../core/keys.ts'
import { IDEMPOTENCY_KEY_MAX_CHARS, STORE_PAGE_MAX_ENTRIES } from '../../core/limits.ts'
import type { RecordStore } from '../../core/records/record-store.ts'
import type { DeadPage, DeliveryStore, PageRequest } from '../delivering/delivery-store.ts'
import { WEBHOOKS_PER_TENANT_MAX, WEBHOOK_REVIVED_MAX, WEBHOOK_WAITING_MAX } from '../limits.ts'
import {
  WEBHOOK_SECRET_PREFIX,
  type DeliveryRecord,
  type OverflowRecord,
  type WebhookRecord,
} from '../records.ts'
import { badWebhook, readNewWebhook, type NewWebhook, type WantedWebhook } from './read-new-webhook.ts'

/** A webhook as it may be shown. */
export interface KnownWebhook extends Omit<WebhookRecord, 'secret'> {
  /** While deliveries to it are dead at once because too many wait. */
  readonly overflow?: Omit<OverflowRecord, 'webhook'>
}

export interface TenantWebhooksParts {
  readonly records: RecordStore<WebhookRecord>
  readonly deliveries: DeliveryStore
  readonly tenant: string | undefined
  readonly allowPrivate: boolean
  readonly clock: Clock
}

const ID_BYTES = 9

export class TenantWebhooks {
  readonly #parts: TenantWebhooksParts

  constructor(parts: TenantWebhooksParts) {
    this.#parts = parts
  }

  /** The secret is returned here and nowhere else. */
  async add(wanted: NewWebhook): Promise<WebhookRecord> {
    return this.#addAs(newId(randomBytes(ID_BYTES)), readNewWebhook(wanted, this.#parts))
  }

  /** Adds one webhook for each key: if the same is sent again, what exists is returned, without the secret. */
  async addOnce(
    wanted: NewWebhook,
    idempotencyKey: string,
  ): Promise<{ readonly added: WebhookRecord } | { readonly known: KnownWebhook }> {
    const { records, tenant } = this.#parts
    const read = readNewWebhook(wanted, this.#parts)
    // The id is made from the key, so that the store decides which of two simultaneous requests is first.
    const id = newId(digestOf(tenant, idempotencyKey))
    const known = await records.get(id)
    if (known !== undefined) return { known: requireSame(known, read) }
    try {
      return { added: await this.#addAs(id, read) }
    } catch (error) {
      const other = errorKindOf(error) === 'refused' ? await records.get(id) : undefined
      if (other === undefined) throw error
      return { known: requireSame(other, read) }
    }
  }

  async list(): Promise<readonly KnownWebhook[]> {
    return this.#showAll(await this.#all())
  }

  /** Throws `api/no-such-webhook`, as every method below does. */
  async show(id: string): Promise<KnownWebhook> {
    const [shown] = await this.#showAll([await this.#find(id)])
    return shown as KnownWebhook
  }

  /** Deliveries that wait for it are removed too. */
  async remove(id: string): Promise<void> {
    await this.#find(id)
    await this.#parts.records.remove(id)
    await this.#parts.deliveries.forget(id)
  }

  /** Deliveries whose last attempt failed, by id. */
  async dead(id: string, page: PageRequest = { limit: STORE_PAGE_MAX_ENTRIES }): Promise<DeadPage> {
    await this.#find(id)
    if (page.after !== undefined && !isId(page.after)) {
      throw new InvalidError(
        'api/bad-parameter',
        'read the parameter "after": it must be the id of a delivery',
        {
          next: 'Correct the request; see /openapi.yaml.',
        },
      )
    }
    return this.#parts.deliveries.dead(id, page)
  }

  /** Starts a dead delivery over, with all its attempts. */
  async redeliver(id: string, delivery: string): Promise<void> {
    await this.#find(id)
    const found = isId(delivery) ? await this.#parts.deliveries.findDead(delivery) : undefined
    if (found?.webhook === id && (await this.#revive(found))) return
    const shown = JSON.stringify(delivery.slice(0, 128))
    throw new MissingError(
      'api/no-such-delivery',
      `deliver ${shown} again: it is not among the dead deliveries`,
      {
        next: 'List the dead deliveries, and give the id of one.',
      },
    )
  }

  /**
   * The same for all dead deliveries of a webhook, as many as may wait for it and up to a limit: how many there were, and whether
   * more are left.
   */
  async redeliverAll(id: string): Promise<{ readonly redelivered: number; readonly more: boolean }> {
    await this.#find(id)
    const { deliveries } = this.#parts
    const room = WEBHOOK_WAITING_MAX - (await deliveries.count(id, WEBHOOK_WAITING_MAX))
    const most = Math.max(0, Math.min(WEBHOOK_REVIVED_MAX, room))
    let redelivered = 0
    for (let after: string | undefined; ;) {
      // One, to see whether there are more, where there is no room.
      const limit = Math.max(1, Math.min(STORE_PAGE_MAX_ENTRIES, most - redelivered))
      const page = await deliveries.dead(id, { limit, after })
      if (redelivered >= most) return { redelivered, more: page.deliveries.length > 0 }
      for (const delivery of page.deliveries) if (await this.#revive(delivery)) redelivered += 1
      after = page.next
      if (after === undefined) return { redelivered, more: false }
      if (redelivered >= most) return { redelivered, more: true }
    }
  }

  async #addAs(id: string, wanted: WantedWebhook): Promise<WebhookRecord> {
    const { records, tenant, clock } = this.#parts
    if ((await this.#all()).length >= WEBHOOKS_PER_TENANT_MAX) throw tooMany()
    const record: WebhookRecord = {
      id,
      ...defined({ tenant }),
      ...wanted,
      secret: `${WEBHOOK_SECRET_PREFIX}${randomBytes(32).toString('base64')}`,
      createdAt: clock.now().toISOString(),
    }
    await records.add(id, record)
    // Others may have been added at the same time. More than this many do not fit into one commit with an event.
    if ((await this.#all()).length > WEBHOOKS_PER_TENANT_MAX) {
      await records.remove(id)
      throw tooMany()
    }
    return record
  }

  async #showAll(webhooks: readonly WebhookRecord[]): Promise<readonly KnownWebhook[]> {
    const overflows = new Map(
      (await this.#parts.deliveries.overflows()).map((found) => [found.webhook, found]),
    )
    return webhooks.map((webhook) => {
      const overflow = overflows.get(webhook.id)
      if (overflow === undefined) return hideSecret(webhook)
      return { ...hideSecret(webhook), overflow: { since: overflow.since, problem: overflow.problem } }
    })
  }

  async #all(): Promise<readonly WebhookRecord[]> {
    return (await this.#parts.records.list()).filter(({ tenant }) => tenant === this.#parts.tenant)
  }

  async #find(id: string): Promise<WebhookRecord> {
    const found = isId(id) ? await this.#parts.records.get(id) : undefined
    if (found !== undefined && found.tenant === this.#parts.tenant) return found
    const shown = JSON.stringify(id.slice(0, 80))
    throw new MissingError('api/no-such-webhook', `find webhook ${shown}: it does not exist`, {
      next: 'List the webhooks, and give the id of one.',
    })
  }

  #revive({ id, webhook, executionId, eventType, body }: DeliveryRecord): Promise<boolean> {
    const nextAt = this.#parts.clock.now().toISOString()
    return this.#parts.deliveries.revive({ id, webhook, executionId, eventType, body, attempts: 0, nextAt })
  }
}

function newId(bytes: Buffer): string {
  return `wh_${bytes.toString('base64url')}`
}

function hideSecret({ id, tenant, url, types, retry, createdAt }: WebhookRecord): KnownWebhook {
  return { id, ...defined({ tenant }), url, types, retry, createdAt }
}

/** Throws `api/idempotency-conflict`. */
function requireSame(known: WebhookRecord, { url, types, retry }: WantedWebhook): KnownWebhook {
  const isSame = JSON.stringify([known.url, known.types, known.retry]) === JSON.stringify([url, types, retry])
  if (isSame) return hideSecret(known)
  throw new RefusedError(
    'api/idempotency-conflict',
    `add a webhook: its idempotency key was used for another one, ${known.id}`,
    { next: 'Use a new key for another webhook.' },
  )
}

function digestOf(tenant: string | undefined, idempotencyKey: string): Buffer {
  if (idempotencyKey.length === 0 || idempotencyKey.length > IDEMPOTENCY_KEY_MAX_CHARS) {
    throw badWebhook(`its idempotency key must have 1 to ${IDEMPOTENCY_KEY_MAX_CHARS} characters`)
  }
  const text = JSON.stringify([tenant ?? null, idempotencyKey])
  return createHash('sha256').update(text).digest().subarray(0, ID_BYTES)
}

function tooMany(): RefusedError {
  return new RefusedError(
    'api/too-many-webhooks',
    `add a webhook: the tenant has ${WEBHOOKS_PER_TENANT_MAX} webhooks, which is the most`,
    { next: 'Remove one that is not needed.' },
  )
}
