/**
 * Webhooks: who outside is told of which events. They belong to a tenant and are an operator's right at the doors; nothing
 * that runs inside an execution can make one.
 */

import { createHash, randomBytes } from 'node:crypto'
import { systemClock, type Clock } from '../base/clock.ts'
import { InvalidError, MissingError, RefusedError, isPeragoError } from '../base/errors.ts'
import { IDEMPOTENCY_KEY_MAX_CHARS, STORE_PAGE_MAX_ENTRIES } from '../core/limits.ts'
import {
  API_TYPES_MAX,
  WEBHOOKS_PER_TENANT_MAX,
  WEBHOOK_ATTEMPTS,
  WEBHOOK_ATTEMPTS_MAX,
  WEBHOOK_FIRST_DELAY_MS,
  WEBHOOK_MAX_DELAY_MS,
  WEBHOOK_REVIVED_MAX,
  WEBHOOK_URL_MAX_CHARS,
} from './limits.ts'
import { requireRight, type Caller } from '../server/access/callers.ts'
import type { MakeSecret, RecordShelf } from '../server/http/ports.ts'

export interface WebhookRetry {
  /** Tries in all, the first included. */
  readonly attempts: number
  /** The wait before the second try; it doubles with each further one. */
  readonly firstDelayMs: number
}

export interface WebhookRecord {
  readonly id: string
  readonly tenant?: string
  readonly url: string
  /** Types, or patterns of them. */
  readonly types: readonly string[]
  /** What deliveries are signed with; told once. */
  readonly secret: string
  readonly retry: WebhookRetry
  readonly createdAt: string
}

/** One event on its way to one webhook. */
export interface DeliveryRecord {
  readonly id: string
  readonly webhook: string
  readonly executionId: string
  readonly eventType: string
  /** What is sent, as JSON. */
  readonly body: string
  /** Tries so far. */
  readonly attempts: number
  /** When it is tried next; in ISO 8601. */
  readonly nextAt: string
  readonly lastProblem?: string
  /** After its last try. */
  readonly gaveUpAt?: string
}

export interface NewWebhook {
  readonly url: string
  readonly types: readonly string[]
  readonly retry?: Partial<WebhookRetry>
}

/** A webhook as it may be shown. */
export type KnownWebhook = Omit<WebhookRecord, 'secret'>

export interface DeadPage {
  readonly deliveries: readonly DeliveryRecord[]
  /** The last one's id, where there are more. */
  readonly next: string | undefined
}

export interface Webhooks {
  /** The secret is told once, here. */
  add(caller: Caller, wanted: NewWebhook): Promise<WebhookRecord>
  /** Once for each key of the caller's tenant: who sends the same again is shown what there is, and no secret. */
  addOnce(
    caller: Caller,
    wanted: NewWebhook,
    idempotencyKey: string,
  ): Promise<{ readonly added: WebhookRecord } | { readonly known: KnownWebhook }>
  list(caller: Caller): Promise<readonly KnownWebhook[]>
  /** Throws `api/no-such-webhook`. */
  show(caller: Caller, id: string): Promise<KnownWebhook>
  /** Deliveries that wait for it are given up. */
  remove(caller: Caller, id: string): Promise<void>
  /** Deliveries that were given up after their last try, by their id. */
  dead(
    caller: Caller,
    id: string,
    page?: { readonly after?: string; readonly limit: number },
  ): Promise<DeadPage>
  /** Lets a dead delivery begin anew. */
  redeliver(caller: Caller, id: string, delivery: string): Promise<void>
  /** The same for all of a webhook, up to a bound: how many there were, and whether some are left. */
  redeliverAll(caller: Caller, id: string): Promise<{ readonly redelivered: number; readonly more: boolean }>
}

export interface WebhooksParts {
  readonly records: RecordShelf<WebhookRecord>
  readonly deliveries: DeliveryShelves
  /** Throws for what is no pattern. */
  readonly compilePattern: (pattern: string) => unknown
  /** Throws for an address that deliveries would not be sent to. */
  readonly checkAddress?: (url: URL) => void
  readonly clock?: Clock
  readonly makeSecret?: MakeSecret
}

export interface DeliveryShelves {
  dead(webhook: string, page: { readonly after?: string; readonly limit: number }): Promise<DeadPage>
  findDead(delivery: string): Promise<DeliveryRecord | undefined>
  /** Back among those that wait, in one step; `false` where it is not dead. */
  revive(delivery: DeliveryRecord): Promise<boolean>
  /** All that waits or is dead of one webhook. */
  forget(webhook: string): Promise<void>
}

const ID = /^[A-Za-z0-9_-]{1,128}$/
const ID_BYTES = 9
const FIRST_PAGE = { limit: STORE_PAGE_MAX_ENTRIES }

export function createWebhooks(parts: WebhooksParts): Webhooks {
  const { records, deliveries, clock = systemClock, makeSecret = randomBytes } = parts
  const ofTenant = async ({ tenant }: Caller): Promise<readonly WebhookRecord[]> =>
    (await records.list()).filter((record) => record.tenant === tenant)

  const find = async (caller: Caller, id: string): Promise<WebhookRecord> => {
    requireRight(caller, 'manage webhooks')
    const found = ID.test(id) ? await records.get(id) : undefined
    if (found !== undefined && found.tenant === caller.tenant) return found
    const shown = JSON.stringify(id.slice(0, 80))
    throw new MissingError('api/no-such-webhook', `look for webhook ${shown}: there is none`, {
      next: 'List the webhooks, and give the id of one.',
    })
  }

  const addAs = async (caller: Caller, id: string, wanted: NewWebhook): Promise<WebhookRecord> => {
    if ((await ofTenant(caller)).length >= WEBHOOKS_PER_TENANT_MAX) throw tooMany()
    const record: WebhookRecord = {
      id,
      ...(caller.tenant === undefined ? {} : { tenant: caller.tenant }),
      ...readWanted(wanted, parts),
      secret: makeSecret(32).toString('base64url'),
      createdAt: clock.now().toISOString(),
    }
    await records.add(id, record)
    // Others may have been added at the same time. More than this do not fit into one batch with an event.
    if ((await ofTenant(caller)).length > WEBHOOKS_PER_TENANT_MAX) {
      await records.remove(id)
      throw tooMany()
    }
    return record
  }

  const revive = (delivery: DeliveryRecord): Promise<boolean> => {
    const { id, webhook, executionId, eventType, body } = delivery
    const nextAt = clock.now().toISOString()
    return deliveries.revive({ id, webhook, executionId, eventType, body, attempts: 0, nextAt })
  }

  return {
    async add(caller, wanted) {
      requireRight(caller, 'manage webhooks')
      readWanted(wanted, parts)
      return addAs(caller, `wh_${makeSecret(ID_BYTES).toString('base64url')}`, wanted)
    },
    async addOnce(caller, wanted, idempotencyKey) {
      requireRight(caller, 'manage webhooks')
      const asked = readWanted(wanted, parts)
      // The key makes the id, so that the store itself lets one of two at the same time be first.
      const id = `wh_${digestOf(caller.tenant, idempotencyKey)}`
      const known = await records.get(id)
      if (known !== undefined) return { known: requireSame(known, asked) }
      try {
        return { added: await addAs(caller, id, wanted) }
      } catch (error) {
        const other = isPeragoError(error) && error.kind === 'refused' ? await records.get(id) : undefined
        if (other === undefined) throw error
        return { known: requireSame(other, asked) }
      }
    },
    async list(caller) {
      requireRight(caller, 'manage webhooks')
      return (await ofTenant(caller)).map(hideSecret)
    },
    async show(caller, id) {
      return hideSecret(await find(caller, id))
    },
    async remove(caller, id) {
      const { id: known } = await find(caller, id)
      await records.remove(known)
      await deliveries.forget(known)
    },
    async dead(caller, id, page = FIRST_PAGE) {
      const { id: known } = await find(caller, id)
      const { after, limit } = page
      if (after !== undefined && !ID.test(after)) {
        throw new InvalidError('api/bad-parameter', 'read the parameter "after": it is no id of a delivery', {
          next: 'Correct the request; see /openapi.yaml.',
        })
      }
      return deliveries.dead(known, { limit, ...(after === undefined ? {} : { after }) })
    },
    async redeliver(caller, id, delivery) {
      const { id: known } = await find(caller, id)
      const found = ID.test(delivery) ? await deliveries.findDead(delivery) : undefined
      if (found?.webhook === known && (await revive(found))) return
      const shown = JSON.stringify(delivery.slice(0, 128))
      throw new MissingError('api/no-such-delivery', `deliver ${shown} again: it is not dead`, {
        next: 'List the dead deliveries, and give the id of one.',
      })
    },
    async redeliverAll(caller, id) {
      const { id: known } = await find(caller, id)
      let redelivered = 0
      for (let after: string | undefined; ;) {
        const limit = Math.min(STORE_PAGE_MAX_ENTRIES, WEBHOOK_REVIVED_MAX - redelivered)
        const page = await deliveries.dead(known, { limit, ...(after === undefined ? {} : { after }) })
        for (const delivery of page.deliveries) if (await revive(delivery)) redelivered += 1
        after = page.next
        if (after === undefined) return { redelivered, more: false }
        if (redelivered >= WEBHOOK_REVIVED_MAX) return { redelivered, more: true }
      }
    },
  }
}

function hideSecret({ id, tenant, url, types, retry, createdAt }: WebhookRecord): KnownWebhook {
  return { id, ...(tenant === undefined ? {} : { tenant }), url, types, retry, createdAt }
}

interface Asked {
  readonly url: string
  readonly types: readonly string[]
  readonly retry: WebhookRetry
}

function readWanted(
  { url, types, retry = {} }: NewWebhook,
  { compilePattern, checkAddress }: Pick<WebhooksParts, 'compilePattern' | 'checkAddress'>,
): Asked {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    throw bad('its address is no http or https address')
  if (parsed.username !== '' || parsed.password !== '') throw bad('its address contains credentials')
  if (url.length > WEBHOOK_URL_MAX_CHARS)
    throw bad(`its address has more than ${WEBHOOK_URL_MAX_CHARS} characters`)
  if (types.length === 0 || types.length > API_TYPES_MAX) throw bad(`it names 1 to ${API_TYPES_MAX} types`)
  for (const type of types) compilePattern(type)
  const { attempts = WEBHOOK_ATTEMPTS, firstDelayMs = WEBHOOK_FIRST_DELAY_MS } = retry
  if (!(Number.isInteger(attempts) && attempts >= 1 && attempts <= WEBHOOK_ATTEMPTS_MAX)) {
    throw bad(`it is tried 1 to ${WEBHOOK_ATTEMPTS_MAX} times`)
  }
  if (!(Number.isInteger(firstDelayMs) && firstDelayMs >= 0 && firstDelayMs <= WEBHOOK_MAX_DELAY_MS))
    throw bad('its delay is a whole number of milliseconds, at most an hour')
  checkAddress?.(parsed)
  return { url: parsed.href, types, retry: { attempts, firstDelayMs } }
}

/** Throws `api/idempotency-conflict`. */
function requireSame(known: WebhookRecord, { url, types, retry }: Asked): KnownWebhook {
  const isSame = JSON.stringify([known.url, known.types, known.retry]) === JSON.stringify([url, types, retry])
  if (isSame) return hideSecret(known)
  throw new RefusedError(
    'api/idempotency-conflict',
    `add a webhook: its idempotency key was used for ${known.id}, which is another`,
    { next: 'Use a new key for another webhook.' },
  )
}

function digestOf(tenant: string | undefined, idempotencyKey: string): string {
  if (idempotencyKey.length === 0 || idempotencyKey.length > IDEMPOTENCY_KEY_MAX_CHARS) {
    throw bad(`its idempotency key has 1 to ${IDEMPOTENCY_KEY_MAX_CHARS} characters`)
  }
  const text = JSON.stringify([tenant ?? null, idempotencyKey])
  return createHash('sha256').update(text).digest().subarray(0, ID_BYTES).toString('base64url')
}

function tooMany(): RefusedError {
  return new RefusedError('api/too-many-webhooks', `add a webhook: there are ${WEBHOOKS_PER_TENANT_MAX}`, {
    next: 'Remove one that is not needed.',
  })
}

function bad(problem: string): InvalidError {
  return new InvalidError('api/bad-webhook', `add a webhook: ${problem}`, { next: 'Correct it.' })
}
