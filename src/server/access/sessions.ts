/**
 * Sessions of pages in a browser.
 *
 * - SE-1 The id has 256 random bits and is known to the browser alone; only a digest is kept here.
 * - SE-2 What opened a session is asked again with each request: with a token that is revoked or has expired, it ends.
 * - SE-3 A session ends after a fixed time, and with the server. When there are too many, the one used longest ago ends.
 */

import { createHash, randomBytes } from 'node:crypto'
import { BoundedMap } from '../../base/bounded-map.ts'
import { systemClock, type Clock } from '../../base/clock.ts'
import { RefusedError } from '../../base/errors.ts'
import { SESSION_LIFETIME_MS, SESSIONS_MAX } from '../limits.ts'
import type { Caller } from './callers.ts'

/** Whose session it is. Throws `api/bad-token` when it may not go on. */
export type Identify = () => Promise<Caller>

export interface OpenedSession {
  readonly id: string
  readonly endsAt: Date
}

interface Session {
  readonly identify: Identify
  readonly endsAt: Date
}

export class Sessions {
  readonly #clock: Clock
  readonly #open = new BoundedMap<string, Session>({ max: SESSIONS_MAX, evict: 'least-recently-used' })

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
  }

  open(identify: Identify): OpenedSession {
    const id = randomBytes(32).toString('base64url')
    const endsAt = new Date(this.#clock.now().getTime() + SESSION_LIFETIME_MS)
    this.#open.set(digestOf(id), { identify, endsAt })
    return { id, endsAt }
  }

  /** Throws `api/no-session`, or what `identify` throws. */
  async find(id: string): Promise<Caller> {
    const key = digestOf(id)
    const found = this.#open.get(key)
    if (found === undefined) throw noSession()
    if (this.#clock.now() >= found.endsAt) {
      this.#open.delete(key)
      throw noSession()
    }
    return found.identify()
  }

  /** `undefined`: there is none. */
  endOf(id: string): Date | undefined {
    return this.#open.get(digestOf(id))?.endsAt
  }

  close(id: string): void {
    this.#open.delete(digestOf(id))
  }
}

function noSession(): RefusedError {
  return new RefusedError('api/no-session', 'check the session of a page: it has ended', {
    next: 'Log in again.',
  })
}

function digestOf(id: string): string {
  return createHash('sha256').update(id).digest('base64url')
}
