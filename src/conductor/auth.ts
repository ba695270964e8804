/**
 * A key and its secret, traded for a token. One trade at a time serves all callers that wait; the token is replaced shortly
 * before it expires and whenever the server refuses it. A server without access control has no such route: then requests
 * go without a token, and none is asked for again.
 */

import { unlessAborted } from '../base/abort-signals.ts'
import type { Clock } from '../base/clock.ts'
import { CONDUCTOR_TOKEN_LIFETIME_MS, CONDUCTOR_TOKEN_REFRESH_AHEAD_MS } from './limits.ts'

export interface ConductorKey {
  readonly keyId: string
  readonly keySecret: string
}

export interface TokenSource {
  /** The token to send, or `undefined` when the server wants none. */
  get(signal?: AbortSignal): Promise<string | undefined>
  /** The server refused this token: the next `get` gives another. */
  discard(token: string): void
}

interface Held {
  readonly token: string | undefined
  /** On the monotonic clock. */
  readonly refreshAtMs: number
  readonly endsAtMs: number
}

export function createTokenSource(options: {
  /** Asks the server; `undefined` when it has no access control. */
  readonly trade: () => Promise<string | undefined>
  readonly clock: Clock
}): TokenSource {
  const { trade, clock } = options
  let held: Held | undefined
  let trading: Promise<Held> | undefined

  const refresh = (): Promise<Held> => {
    trading ??= trade()
      .then((token) => (held = hold(token, clock)))
      .finally(() => {
        trading = undefined
      })
    return trading
  }

  return {
    async get(signal) {
      const nowMs = clock.monotonicMs()
      if (held !== undefined && nowMs < held.refreshAtMs) return held.token
      try {
        return (await unlessAborted(refresh(), signal)).token
      } catch (error) {
        // A token that has not expired yet is used on while the server cannot give a new one.
        if (signal?.aborted !== true && held !== undefined && clock.monotonicMs() < held.endsAtMs)
          return held.token
        throw error
      }
    },
    discard(token) {
      // Another request may have replaced it already.
      if (held?.token === token) held = undefined
    },
  }
}

function hold(token: string | undefined, clock: Clock): Held {
  const nowMs = clock.monotonicMs()
  if (token === undefined) return { token, refreshAtMs: Infinity, endsAtMs: Infinity }
  const lifetimeMs = readLifetime(token, clock.now()) ?? CONDUCTOR_TOKEN_LIFETIME_MS
  // A token that lives shorter than the usual lead time would be replaced at every request: then half its lifetime is the lead time.
  const aheadMs = Math.min(CONDUCTOR_TOKEN_REFRESH_AHEAD_MS, lifetimeMs / 2)
  return { token, refreshAtMs: nowMs + lifetimeMs - aheadMs, endsAtMs: nowMs + lifetimeMs }
}

/** What a JSON web token says of its end; `undefined` when it is none, or says nothing. */
function readLifetime(token: string, now: Date): number | undefined {
  const [, payload] = token.split('.')
  if (payload === undefined) return undefined
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))
    const end = (claims as { exp?: unknown } | null)?.exp
    return typeof end === 'number' ? Math.max(0, end * 1000 - now.getTime()) : undefined
  } catch {
    return undefined
  }
}
