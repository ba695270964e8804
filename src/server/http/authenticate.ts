/**
 * Whose request this is.
 *
 * - AU-1 Without a good token a request is refused, before anything of it is read.
 * - AU-2 Loopback is let in without a token only where that was asked for, and never through a proxy or from a page of a
 *   browser: both would lend the machine's own place to anybody.
 * - AU-3 An address that keeps failing is slowed down before its next token is looked at.
 */

import type { Caller, Role } from '../access/callers.ts'
import type { RateLimiter } from '../access/rate-limit.ts'
import { badToken, type Tokens } from '../access/tokens.ts'
import { isPeragoError } from '../../base/errors.ts'

export interface AuthenticateParts {
  readonly tokens: Pick<Tokens, 'verify'>
  /** Which role a request from loopback without a token has, if it is to be let in at all. */
  readonly openLoopback: Role | undefined
  readonly failures: RateLimiter
}

export interface Arriving {
  readonly headers: Headers
  /** Where the connection comes from. */
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

/** What a proxy adds, and what a browser does. */
const SIGNS_OF_OTHERS = [
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
  if (SIGNS_OF_OTHERS.some((name) => headers.has(name))) return false
  // A name that somebody pointed at 127.0.0.1 arrives as what it is.
  return LOOPBACK_HOST.test(headers.get('host') ?? '')
}

export function isLoopbackAddress(address: string): boolean {
  const plain = address.replace(/^::ffff:/i, '')
  return /^127(?:\.\d{1,3}){3}$/.test(plain) || plain === '::1' || plain === 'localhost'
}
