/** Who is calling: basic credentials or a bearer token from a login. Every comparison takes the same time. */

import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

import type { Clock } from '../../../base/clock.ts'
import { EMBEDDED_TOKEN_MS } from '../../limits.ts'

export interface Authenticator {
  /** True when the `Authorization` header is valid. */
  accepts(header: string | undefined): boolean
  /** A token for the right credentials, otherwise undefined. */
  login(accessKeyId: string, secretAccessKey: string): { token: string; expiresAt: number } | undefined
}

export function createAuthenticator(options: {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Signs tokens; only this server knows it. */
  readonly signingSecret: string
  readonly clock: Clock
}): Authenticator {
  const expected = digestPair(options.accessKeyId, options.secretAccessKey)
  const isKnown = (id: string, secret: string): boolean => timingSafeEqual(digestPair(id, secret), expected)
  const sign = (payload: string): string =>
    createHmac('sha256', options.signingSecret).update(`bearer\n${payload}`).digest('base64url')

  function acceptsToken(token: string): boolean {
    const dot = token.indexOf('.')
    const payload = token.slice(0, Math.max(dot, 0))
    if (!sameText(token.slice(dot + 1), sign(payload))) return false
    const expiresAt = Number(payload)
    return Number.isFinite(expiresAt) && options.clock.now().getTime() < expiresAt
  }

  return {
    accepts(header) {
      const match = /^(basic|bearer) +(\S+)$/i.exec(header ?? '')
      const credentials = match?.[2] ?? ''
      if (match?.[1]?.toLowerCase() === 'bearer') return acceptsToken(credentials)
      if (match === null) return false
      const pair = Buffer.from(credentials, 'base64').toString('utf8')
      const colon = pair.indexOf(':')
      return colon >= 0 && isKnown(pair.slice(0, colon), pair.slice(colon + 1))
    },
    login(accessKeyId, secretAccessKey) {
      if (!isKnown(accessKeyId, secretAccessKey)) return undefined
      const expiresAt = options.clock.now().getTime() + EMBEDDED_TOKEN_MS
      return { token: `${String(expiresAt)}.${sign(String(expiresAt))}`, expiresAt }
    },
  }
}

/** Of equal length for every input, so that the time of the comparison shows nothing. */
function digestPair(accessKeyId: string, secretAccessKey: string): Buffer {
  return Buffer.concat([digest(accessKeyId), digest(secretAccessKey)])
}

/** Compares two strings in a time that does not depend on where they differ. */
export function sameText(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
