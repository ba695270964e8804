/**
 * A key and its secret, traded for a token. One trade at a time serves everybody who waits; it is made anew shortly
 * before the token ends and whenever the server refuses one. A server without access control has no such route: then
 * there is no token, and none is asked for again.
 */

import { abortReason, type Clock } from '../base/clock.ts'
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

/** Without a key nothing is ever sent. */
export const NO_TOKEN: TokenSource = {
  get: () => Promise.resolve(undefined),
  discard: () => undefined,
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
        // The trade is shared: who gives up waiting must not take it from the others.
        return (await withSignal(refresh(), signal)).token
      } catch (error) {
        // A token that is still good for a while outlives a server that cannot give a new one just now.
        if (signal?.aborted !== true && held !== undefined && clock.monotonicMs() < held.endsAtMs)
          return held.token
        throw error
      }
    },
    discard(token) {
      // Somebody else may have traded anew since this one was read.
      if (held?.token === token) held = undefined
    },
  }
}

function hold(token: string | undefined, clock: Clock): Held {
  const nowMs = clock.monotonicMs()
  if (token === undefined) return { token, refreshAtMs: Infinity, endsAtMs: Infinity }
  const lifetimeMs = readLifetime(token, clock.now()) ?? CONDUCTOR_TOKEN_LIFETIME_MS
  // A token shorter than the usual lead would be traded at every request: half of its life is lead enough then.
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

function withSignal<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortReason(signal))
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort)
    })
  })
}
