/**
 * Webhooks: who outside is told of which events. They belong to a tenant and are an operator's right at the doors; nothing
 * that runs inside an execution can make one.
 */

import { randomBytes } from 'node:crypto'
import { systemClock, type Clock } from '../base/clock.ts'
import { InvalidError, MissingError, RefusedError } from '../base/errors.ts'
import {
  API_TYPES_MAX,
  WEBHOOKS_PER_TENANT_MAX,
  WEBHOOK_ATTEMPTS,
  WEBHOOK_ATTEMPTS_MAX,
  WEBHOOK_FIRST_DELAY_MS,
  WEBHOOK_MAX_DELAY_MS,
} from '../base/limits.ts'
import { requireRight, type Caller } from './callers.ts'
import type { MakeSecret, RecordShelf } from './ports.ts'

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
  readonly eventType: string
  /** What is sent, as JSON. */
  readonly body: string
  /** Tries so far. */
  readonly attempts: number
  /** When it is tried next; in ISO 8601. */
  readonly nextAt: string
  readonly lastProblem?: string
}

export interface NewWebhook {
  readonly url: string
  readonly types: readonly string[]
  readonly retry?: Partial<WebhookRetry>
}

export interface Webhooks {
  /** The secret is told once, here. */
  add(caller: Caller, wanted: NewWebhook): Promise<WebhookRecord>
  list(caller: Caller): Promise<readonly Omit<WebhookRecord, 'secret'>[]>
  /** Deliveries that wait for it are given up. */
  remove(caller: Caller, id: string): Promise<void>
  /** Deliveries that were given up after their last try. */
  dead(caller: Caller, id: string): Promise<readonly DeliveryRecord[]>
  /** Lets a dead delivery begin anew. */
  redeliver(caller: Caller, id: string, delivery: string): Promise<void>
}

export interface WebhooksParts {
  readonly records: RecordShelf<WebhookRecord>
  readonly deliveries: DeliveryShelves
  /** Throws for what is no pattern. */
  readonly compilePattern: (pattern: string) => unknown
  readonly clock?: Clock
  readonly makeSecret?: MakeSecret
}

export interface DeliveryShelves {
  dead(webhook: string): Promise<readonly DeliveryRecord[]>
  /** Back among those that wait, in one step; `false` where it is not dead. */
  revive(delivery: DeliveryRecord): Promise<boolean>
  /** All that waits or is dead of one webhook. */
  forget(webhook: string): Promise<void>
}

export function createWebhooks(parts: WebhooksParts): Webhooks {
  const { records, deliveries, clock = systemClock, makeSecret = randomBytes } = parts
  const ofTenant = async ({ tenant }: Caller) =>
    (await records.list()).filter((record) => record.tenant === tenant)
  const find = async (caller: Caller, id: string): Promise<WebhookRecord> => {
    requireRight(caller, 'manage webhooks')
    const found = (await ofTenant(caller)).find((record) => record.id === id)
    if (found !== undefined) return found
    throw new MissingError('api/no-such-webhook', `look for webhook ${JSON.stringify(id)}: there is none`, {
      next: 'List the webhooks, and give the id of one.',
    })
  }
  return {
    async add(caller, wanted) {
      requireRight(caller, 'manage webhooks')
      const { url, types, retry } = readWanted(wanted, parts.compilePattern)
      if ((await ofTenant(caller)).length >= WEBHOOKS_PER_TENANT_MAX) {
        throw new RefusedError(
          'api/too-many-webhooks',
          `add a webhook: there are ${WEBHOOKS_PER_TENANT_MAX}`,
          {
            next: 'Remove one that is not needed.',
          },
        )
      }
      const record: WebhookRecord = {
        id: `wh_${makeSecret(9).toString('base64url')}`,
        ...(caller.tenant === undefined ? {} : { tenant: caller.tenant }),
        url,
        types,
        secret: makeSecret(32).toString('base64url'),
        retry,
        createdAt: clock.now().toISOString(),
      }
      await records.add(record.id, record)
      return record
    },
    async list(caller) {
      requireRight(caller, 'manage webhooks')
      return (await ofTenant(caller)).map(hideSecret)
    },
    async remove(caller, id) {
      const { id: known } = await find(caller, id)
      await records.remove(known)
      await deliveries.forget(known)
    },
    async dead(caller, id) {
      return deliveries.dead((await find(caller, id)).id)
    },
    async redeliver(caller, id, delivery) {
      const { id: known } = await find(caller, id)
      const found = (await deliveries.dead(known)).find((dead) => dead.id === delivery)
      const fresh = found && { ...found, attempts: 0, nextAt: clock.now().toISOString() }
      if (fresh !== undefined && (await deliveries.revive(fresh))) return
      throw new MissingError(
        'api/no-such-delivery',
        `deliver ${JSON.stringify(delivery)} again: it is not dead`,
        {
          next: 'List the dead deliveries, and give the id of one.',
        },
      )
    },
  }
}

function hideSecret({
  id,
  tenant,
  url,
  types,
  retry,
  createdAt,
}: WebhookRecord): Omit<WebhookRecord, 'secret'> {
  return { id, ...(tenant === undefined ? {} : { tenant }), url, types, retry, createdAt }
}

function readWanted(
  { url, types, retry = {} }: NewWebhook,
  compilePattern: (pattern: string) => unknown,
): { readonly url: string; readonly types: readonly string[]; readonly retry: WebhookRetry } {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    throw bad('its address is no http or https address')
  if (parsed.username !== '' || parsed.password !== '') throw bad('its address contains credentials')
  if (types.length === 0 || types.length > API_TYPES_MAX) throw bad(`it names 1 to ${API_TYPES_MAX} types`)
  for (const type of types) compilePattern(type)
  const { attempts = WEBHOOK_ATTEMPTS, firstDelayMs = WEBHOOK_FIRST_DELAY_MS } = retry
  if (!(Number.isInteger(attempts) && attempts >= 1 && attempts <= WEBHOOK_ATTEMPTS_MAX)) {
    throw bad(`it is tried 1 to ${WEBHOOK_ATTEMPTS_MAX} times`)
  }
  if (!(firstDelayMs >= 0 && firstDelayMs <= WEBHOOK_MAX_DELAY_MS)) throw bad('its delay is at most an hour')
  return { url: parsed.href, types, retry: { attempts, firstDelayMs } }
}

function bad(problem: string): InvalidError {
  return new InvalidError('api/bad-webhook', `add a webhook: ${problem}`, { next: 'Correct it.' })
}
