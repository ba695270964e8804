/** Who is calling: basic credentials or a bearer token from a login. Every comparison takes the same time. */

import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

import type { Clock } from '../../../base/clock.ts'
import { EMBEDDED_TOKEN_MS } from '../../limits.ts'
import { HttpProblem } from './answer.ts'
import { LoginBrake } from './login-brake.ts'

/** Both throw a 429, without looking at the credentials, when there were too many wrong ones. `address` is the caller's. */
export interface Authenticator {
  /** True when the `Authorization` header is valid. */
  accepts(header: string | undefined, address: string): boolean
  /** A token for the right credentials, otherwise undefined. */
  login(pair: LoginPair, address: string): { token: string; expiresAt: number } | undefined
}

interface LoginPair {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

export function createAuthenticator(options: {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Signs tokens; only this server knows it. */
  readonly signingSecret: string
  readonly clock: Clock
}): Authenticator {
  const expected = digestPair(options)
  const brake = new LoginBrake(options.clock)
  const sign = (payload: string): string =>
    createHmac('sha256', options.signingSecret).update(`bearer\n${payload}`).digest('base64url')

  function acceptsPair(pair: LoginPair, address: string): boolean {
    const waitMs = brake.waitMs(address, pair.accessKeyId)
    if (waitMs > 0) {
      throw new HttpProblem(429, 'Too many attempts, try again later', {
        'Retry-After': Math.ceil(waitMs / 1_000),
      })
    }
    const isKnown = timingSafeEqual(digestPair(pair), expected)
    if (isKnown) brake.accepted(address, pair.accessKeyId)
    else brake.failed(address, pair.accessKeyId)
    return isKnown
  }

  /** Never slowed: nobody guesses a signature. */
  function acceptsToken(token: string): boolean {
    const dot = token.indexOf('.')
    const payload = token.slice(0, Math.max(dot, 0))
    if (!sameText(token.slice(dot + 1), sign(payload))) return false
    const expiresAt = Number(payload)
    return Number.isFinite(expiresAt) && options.clock.now().getTime() < expiresAt
  }

  return {
    accepts(header, address) {
      const match = /^(basic|bearer) +(\S+)$/i.exec(header ?? '')
      const credentials = match?.[2] ?? ''
      if (match?.[1]?.toLowerCase() === 'bearer') return acceptsToken(credentials)
      if (match === null) return false
      const pair = Buffer.from(credentials, 'base64').toString('utf8')
      const colon = pair.indexOf(':')
      if (colon < 0) return false
      return acceptsPair(
        { accessKeyId: pair.slice(0, colon), secretAccessKey: pair.slice(colon + 1) },
        address,
      )
    },
    login(pair, address) {
      if (!acceptsPair(pair, address)) return undefined
      const expiresAt = options.clock.now().getTime() + EMBEDDED_TOKEN_MS
      return { token: `${String(expiresAt)}.${sign(String(expiresAt))}`, expiresAt }
    },
  }
}

/** Of equal length for every input, so that the time of the comparison shows nothing. */
function digestPair({ accessKeyId, secretAccessKey }: LoginPair): Buffer {
  return Buffer.concat([digest(accessKeyId), digest(secretAccessKey)])
}

/** Compares two strings in a time that does not depend on where they differ. */
export function sameText(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
