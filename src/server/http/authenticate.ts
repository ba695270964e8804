/**
 * Who sends a request.
 *
 * - AU-1 A request without a valid token is refused before anything of it is read.
 * - AU-2 Requests from loopback need no token only if that was configured, and never through a proxy or from a page in a
 *   browser: both could pass on requests of anybody.
 * - AU-3 An address that keeps failing is slowed down. A valid token is never refused for it: behind a proxy all clients may have
 *   one address.
 */

import { isPeragoError } from '../../base/errors.ts'
import type { Caller, Role } from '../access/callers.ts'
import { isPlainLoopback } from '../access/plain-loopback.ts'
import type { RateLimiter } from '../access/rate-limit.ts'
import { badToken, type Tokens } from '../access/tokens.ts'
import type { Arrival } from './environment.ts'

export interface AuthenticateParts {
  readonly tokens: Pick<Tokens, 'verify'>
  /** The role of requests from loopback without a token; `undefined`: they are refused. */
  readonly openLoopback: Role | undefined
  readonly failures: RateLimiter
}

export interface Arriving extends Pick<Arrival, 'address' | 'isProxied'> {
  readonly headers: Headers
}

/** Throws `api/bad-token`, or `api/too-many-requests`. */
export async function authenticate(parts: AuthenticateParts, request: Arriving): Promise<Caller> {
  try {
    return await identify(parts, request)
  } catch (error) {
    if (isPeragoError(error) && error.code === 'api/bad-token') {
      parts.failures.take(request.address ?? 'unknown')
    }
    throw error
  }
}

async function identify({ tokens, openLoopback }: AuthenticateParts, request: Arriving): Promise<Caller> {
  const header = request.headers.get('authorization')
  if (header !== null) {
    const [, token] = /^Bearer +(\S+) *$/i.exec(header) ?? []
    if (token === undefined) throw badToken()
    return tokens.verify(token)
  }
  if (openLoopback !== undefined && isPlainLoopback(request)) {
    return { name: 'loopback', tenant: undefined, role: openLoopback }
  }
  throw badToken()
}
