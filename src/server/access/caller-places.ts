/**
 * How much of the server one caller may hold: connections, requests that are not answered yet, and followers of events.
 *
 * - CP-1 No token, and no tenant, holds more than its part. The tokens of viewers leave a quarter of their tenant's to the others.
 * - CP-2 What is released twice counts once.
 */

import { once } from '../../base/once.ts'
import { UnavailableError, type ErrorCode } from '../../base/errors.ts'
import type { Caller } from './callers.ts'
import {
  TENANT_CONNECTIONS_MAX,
  TENANT_FOLLOWERS_MAX,
  TENANT_REQUESTS_MAX,
  TOKEN_CONNECTIONS_MAX,
  TOKEN_FOLLOWERS_MAX,
  TOKEN_REQUESTS_MAX,
} from '../limits.ts'

export type PlaceKind = 'connections' | 'requests' | 'followers'

export type PlaceLimits = Readonly<Record<PlaceKind, { readonly token: number; readonly tenant: number }>>

const PLACE_LIMITS: PlaceLimits = {
  connections: { token: TOKEN_CONNECTIONS_MAX, tenant: TENANT_CONNECTIONS_MAX },
  requests: { token: TOKEN_REQUESTS_MAX, tenant: TENANT_REQUESTS_MAX },
  followers: { token: TOKEN_FOLLOWERS_MAX, tenant: TENANT_FOLLOWERS_MAX },
}

const REFUSALS: Readonly<Record<PlaceKind, { readonly code: ErrorCode; readonly retryAfterMs: number }>> = {
  connections: { code: 'api/too-many-connections', retryAfterMs: 5_000 },
  requests: { code: 'api/too-many-at-once', retryAfterMs: 1_000 },
  followers: { code: 'api/too-many-followers', retryAfterMs: 10_000 },
}

const VIEWERS_SHARE = 3 / 4

export class CallerPlaces {
  readonly #limits: PlaceLimits
  /** Only of those who hold some. */
  readonly #held = new Map<string, number>()

  constructor(limits: Partial<PlaceLimits> = {}) {
    this.#limits = { ...PLACE_LIMITS, ...limits }
  }

  /** Returns how to give it back. Throws a refusal that says when to come back. */
  take(kind: PlaceKind, { name, tenant, role }: Caller): () => void {
    const limit = this.#limits[kind]
    const ofToken = `${kind} token ${name}`
    const ofTenant = `${kind} tenant ${tenant ?? ''}`
    const tenantMax = role === 'viewer' ? Math.floor(limit.tenant * VIEWERS_SHARE) : limit.tenant
    if (this.#count(ofToken) >= limit.token) throw tooMany(kind, 'this token', limit.token)
    if (this.#count(ofTenant) >= tenantMax) throw tooMany(kind, 'the tenant of this token', tenantMax)
    for (const key of [ofToken, ofTenant]) this.#held.set(key, this.#count(key) + 1)
    return once(() => {
      for (const key of [ofToken, ofTenant]) {
        const left = this.#count(key) - 1
        if (left > 0) this.#held.set(key, left)
        else this.#held.delete(key)
      }
    })
  }

  #count(key: string): number {
    return this.#held.get(key) ?? 0
  }
}

function tooMany(kind: PlaceKind, who: string, max: number): UnavailableError {
  const { code, retryAfterMs } = REFUSALS[kind]
  const what = kind === 'requests' ? 'requests in progress' : kind
  return new UnavailableError(code, `accept a request: ${who} has ${max} ${what}, which is the most`, {
    retryAfterMs,
    next: 'Wait as long as Retry-After says, and use fewer at the same time.',
  })
}
