/**
 * Conductor's API for workers elsewhere, behind the same tokens as the rest. A worker gives its token as the secret of its key, as
 * it would to a Conductor with access control: `POST /api/token`, then the header `X-Authorization`.
 *
 * - WD-1 A caller reaches the tasks and definitions of its own tenant alone.
 */

import { z } from 'zod'
import { BoundedMap } from '../../base/bounded-map.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { Redactor } from '../../base/redaction.ts'
import type { Store } from '../../core/ports.ts'
import type { Engines } from '../../runtime/engines.ts'
import { ENGINE_TENANTS_MAX } from '../../runtime/limits.ts'
import { requireRight, type Caller } from '../access/callers.ts'
import { RateLimiter } from '../access/rate-limit.ts'
import { buildConductorApp } from '../conductor/conductor-app.ts'
import { openDefinitionShelf } from '../conductor/definition-shelf.ts'
import { API_FAILURES_AT_ONCE, API_FAILURES_PER_SECOND } from '../limits.ts'
import { authenticate, type AuthenticateParts } from './authenticate.ts'
import type { Arrival } from './environment.ts'
import { logFailure } from './log-failure.ts'
import { readJsonBody } from './read-body.ts'
import { readFields } from './read-request.ts'
import { showFailure } from './render-failure.ts'

export interface WorkerDoorParts extends Omit<AuthenticateParts, 'failures'> {
  readonly appOf: AppOf
  readonly logger: Logger
  readonly redactor: Redactor
  readonly clock: Clock
}

/** Conductor's API over the tasks and definitions of one tenant. */
export type AppOf = (tenant: string | undefined) => Promise<ReturnType<typeof buildConductorApp>>

export interface AppsParts extends Pick<WorkerDoorParts, 'logger' | 'redactor'> {
  readonly engines: Engines
  readonly store: Store
  readonly closing: AbortSignal
}

export type Answer = (request: Request, arrival: Arrival) => Promise<Response>

/** Which requests are for it. */
export function isForWorkers(url: string): boolean {
  return new URL(url).pathname.startsWith('/api/')
}

export function buildWorkerDoor(parts: WorkerDoorParts): Answer {
  const { tokens, openLoopback, logger, redactor, clock } = parts
  const failures = new RateLimiter(
    { atOnce: API_FAILURES_AT_ONCE, perSecond: API_FAILURES_PER_SECOND },
    clock,
  )
  const identify = (headers: Headers, { address, isProxied }: Arrival): Promise<Caller> =>
    authenticate({ tokens, openLoopback, failures }, { headers, address, isProxied })
  const { appOf } = parts
  const answer: Answer = async (request, arrival) => {
    const enter = async (headers: Headers): Promise<Caller> => {
      const caller = await identify(headers, arrival)
      arrival.visit?.enter(caller)
      return caller
    }
    if (new URL(request.url).pathname === '/api/token') return trade(request, enter)
    const caller = await enter(bearerOf(request.headers))
    requireRight(caller, 'work for the engine')
    return (await appOf(caller.tenant)).fetch(request)
  }
  return async (request, arrival) => {
    try {
      return await answer(request, arrival)
    } catch (error) {
      logFailure(logger, error, request)
      const { status, headers, body } = showFailure(error, redactor)
      return Response.json({ status, message: body.error.message, retryable: false }, { status, headers })
    }
  }
}

/** One for each tenant. */
export function openApps({ engines, store, logger, redactor, closing }: AppsParts): AppOf {
  const apps = new BoundedMap<string | undefined, ReturnType<typeof buildConductorApp>>({
    max: ENGINE_TENANTS_MAX,
    evict: 'least-recently-used',
  })
  return async (tenant: string | undefined) => {
    const { queue, control, reader } = await engines.of(tenant)
    return apps.getOrAdd(tenant, () => {
      const definitions = openDefinitionShelf(store, control, tenant)
      const served = { queue, control, reader, definitions, logger, redactor, closing }
      return buildConductorApp({ ...served, callersAreKnown: true })
    })
  }
}

const KEY = z.looseObject({ keySecret: z.string() })

async function trade(request: Request, identify: (headers: Headers) => Promise<Caller>): Promise<Response> {
  const { keySecret } = readFields('the key', KEY, await readJsonBody(request))
  await identify(new Headers({ authorization: `Bearer ${keySecret}` }))
  return Response.json({ token: keySecret })
}

function bearerOf(given: Headers): Headers {
  const headers = new Headers(given)
  const token = given.get('x-authorization')
  if (token !== null) headers.set('authorization', `Bearer ${token}`)
  return headers
}
