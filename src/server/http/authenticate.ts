/**
 * Who sends a request.
 *
 * - AU-1 A request without a valid token is refused before anything of it is read.
 * - AU-2 Requests from loopback need no token only if that was configured, and never through a proxy or from a page in a
 *   browser: both could pass on requests of anybody.
 * - AU-3 An address that keeps failing is slowed down before its next token is checked.
 */

import type { Caller, Role } from '../access/callers.ts'
import type { RateLimiter } from '../access/rate-limit.ts'
import { badToken, type Tokens } from '../access/tokens.ts'
import { isPeragoError } from '../../base/errors.ts'
import { isLoopbackAddress } from '../../base/listen.ts'

export interface AuthenticateParts {
  readonly tokens: Pick<Tokens, 'verify'>
  /** The role of requests from loopback without a token; `undefined`: they are refused. */
  readonly openLoopback: Role | undefined
  readonly failures: RateLimiter
}

export interface Arriving {
  readonly headers: Headers
  /** The remote address of the connection. */
  readonly address: string | undefined
}

/** Throws `api/bad-token`, or `api/too-many-requests`. */
export async function authenticate(parts: AuthenticateParts, request: Arriving): Promise<Caller> {
  const who = request.address ?? 'unknown'
  parts.failures.check(who)
  try {
    return await identify(parts, request)
  } catch (error) {
    if (isPeragoError(error) && error.code === 'api/bad-token') parts.failures.take(who)
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

/** Headers that a proxy or a browser adds. */
const FOREIGN_HEADERS = [
  'forwarded',
  'x-forwarded-for',
  'x-real-ip',
  'via',
  'origin',
  'sec-fetch-site',
] as const
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i

function isPlainLoopback({ headers, address }: Arriving): boolean {
  if (address === undefined || !isLoopbackAddress(address)) return false
  if (FOREIGN_HEADERS.some((name) => headers.has(name))) return false
  // A foreign name that resolves to 127.0.0.1 shows in this header.
  return LOOPBACK_HOST.test(headers.get('host') ?? '')
}
