/** Whether a webhook that somebody wants to add makes sense. */

import { InvalidError } from '../../base/errors.ts'
import { compileTypePattern } from '../../core/events/type-pattern.ts'
import {
  API_TYPES_MAX,
  WEBHOOK_ATTEMPTS,
  WEBHOOK_ATTEMPTS_MAX,
  WEBHOOK_FIRST_DELAY_MS,
  WEBHOOK_MAX_DELAY_MS,
  WEBHOOK_URL_MAX_CHARS,
} from '../limits.ts'
import type { WebhookRecord, WebhookRetry } from '../records.ts'
import { refusePrivate } from '../sending/check-address.ts'

export interface NewWebhook {
  readonly url: string
  readonly types: readonly string[]
  readonly retry?: Partial<WebhookRetry>
}

export type WantedWebhook = Pick<WebhookRecord, 'url' | 'types' | 'retry'>

/** Throws `api/bad-webhook`, `core/bad-type-pattern`, or `server/private-address` unless these are allowed. */
export function readNewWebhook(
  { url, types, retry = {} }: NewWebhook,
  { allowPrivate }: { readonly allowPrivate: boolean },
): WantedWebhook {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    throw badWebhook('its address must be an http or https address')
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw badWebhook('its address must not contain credentials')
  }
  if (url.length > WEBHOOK_URL_MAX_CHARS) {
    throw badWebhook(`its address must have at most ${WEBHOOK_URL_MAX_CHARS} characters`)
  }
  if (types.length === 0 || types.length > API_TYPES_MAX) {
    throw badWebhook(`it must name 1 to ${API_TYPES_MAX} types`)
  }
  for (const type of types) compileTypePattern(type)
  const { attempts = WEBHOOK_ATTEMPTS, firstDelayMs = WEBHOOK_FIRST_DELAY_MS } = retry
  if (!(Number.isInteger(attempts) && attempts >= 1 && attempts <= WEBHOOK_ATTEMPTS_MAX)) {
    throw badWebhook(`its number of attempts must be a whole number from 1 to ${WEBHOOK_ATTEMPTS_MAX}`)
  }
  if (!(Number.isInteger(firstDelayMs) && firstDelayMs >= 0 && firstDelayMs <= WEBHOOK_MAX_DELAY_MS)) {
    throw badWebhook(
      `its first delay must be a whole number of milliseconds from 0 to ${WEBHOOK_MAX_DELAY_MS}`,
    )
  }
  if (!allowPrivate) refusePrivate(parsed)
  return { url: parsed.href, types, retry: { attempts, firstDelayMs } }
}

export function badWebhook(problem: string): InvalidError {
  return new InvalidError('api/bad-webhook', `add a webhook: ${problem}`, { next: 'Correct it.' })
}
