/**
 * Tokens for the doors.
 *
 * - TK-1 Only a digest is kept. A token is 256 random bits, so that a plain SHA-256 cannot be turned back.
 * - TK-2 A token belongs to one tenant and has one role, for its whole life.
 * - TK-3 Comparing takes the same time wherever the difference is, and an id that does not exist is compared too. All
 *   refusals are alike: none tells whether the id, the secret or the date was wrong.
 */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { systemClock, type Clock } from '../../base/clock.ts'
import { InvalidError, MissingError, RefusedError } from '../../base/errors.ts'
import { TOKEN_LIFETIME_MAX_MS, TOKEN_NAME_MAX_CHARS } from '../limits.ts'
import { ROLES, type Caller, type Role } from './callers.ts'
import type { RecordStore } from '../../core/records/record-store.ts'

/** What is kept of a token. */
export interface TokenRecord {
  readonly id: string
  /** For people, to recognise it in a list. */
  readonly name: string
  readonly tenant?: string
  readonly role: Role
  /** SHA-256 of its secret half, in hexadecimal. */
  readonly digest: string
  readonly createdAt: string
  readonly expiresAt?: string
}

export interface NewToken {
  readonly name: string
  readonly role: Role
  readonly tenant?: string
  readonly lifetimeMs?: number
}

export interface Tokens {
  /** The token is told once, here, and never again. */
  create(wanted: NewToken): Promise<{ readonly token: string; readonly record: TokenRecord }>
  /** Whose token this is. Throws `api/bad-token`. */
  verify(token: string): Promise<Caller>
  /** Throws `api/no-such-token`. From now on it is refused. */
  revoke(id: string): Promise<void>
  list(): Promise<readonly TokenRecord[]>
}

export interface TokensParts {
  readonly records: RecordStore<TokenRecord>
  readonly clock?: Clock
}

const ID_BYTES = 9
const SECRET_BYTES = 32
const TOKEN = /^perago_([A-Za-z0-9_-]{12})_([A-Za-z0-9_-]{43})$/
const TENANT = /^[A-Za-z0-9_-]{1,128}$/
const NO_DIGEST = Buffer.alloc(32)

export function createTokens({ records, clock = systemClock }: TokensParts): Tokens {
  return {
    async create(wanted) {
      checkWanted(wanted)
      const { name, role, tenant, lifetimeMs } = wanted
      const nowMs = clock.now().getTime()
      const secret = randomBytes(SECRET_BYTES).toString('base64url')
      const record: TokenRecord = {
        id: randomBytes(ID_BYTES).toString('base64url'),
        name,
        ...(tenant === undefined ? {} : { tenant }),
        role,
        digest: digestOf(secret).toString('hex'),
        createdAt: new Date(nowMs).toISOString(),
        ...(lifetimeMs === undefined ? {} : { expiresAt: new Date(nowMs + lifetimeMs).toISOString() }),
      }
      await records.add(record.id, record)
      return { token: `perago_${record.id}_${secret}`, record }
    },

    async verify(token) {
      const [, id = '', secret = ''] = TOKEN.exec(token) ?? []
      const record = id === '' ? undefined : await records.get(id)
      const kept = record === undefined ? NO_DIGEST : Buffer.from(record.digest, 'hex')
      const isRight = timingSafeEqual(digestOf(secret), kept)
      if (record === undefined || !isRight || isExpired(record, clock)) throw badToken()
      return { name: record.id, tenant: record.tenant, role: record.role }
    },

    async revoke(id) {
      if (await records.remove(id)) return
      throw new MissingError('api/no-such-token', `revoke token ${JSON.stringify(id)}: there is none`, {
        next: 'List the tokens, and give the id of one.',
      })
    },

    list: () => records.list(),
  }
}

export function badToken(): RefusedError {
  return new RefusedError('api/bad-token', 'let a request in: it has no token that is good', {
    next: 'Send a token in the Authorization header, behind the word Bearer; perago token create makes one.',
  })
}

function checkWanted({ name, role, tenant, lifetimeMs }: NewToken): void {
  const refuse = (what: string, rule: string): never => {
    throw new InvalidError('api/bad-token-request', `create a token: ${what} ${rule}`, {
      next: 'Correct it.',
    })
  }
  if (name.trim() === '' || name.length > TOKEN_NAME_MAX_CHARS || /\p{C}/u.test(name)) {
    refuse('its name', `has 1 to ${TOKEN_NAME_MAX_CHARS} characters on one line`)
  }
  if (!ROLES.includes(role)) refuse('its role', `is one of ${ROLES.join(', ')}`)
  if (tenant !== undefined && !TENANT.test(tenant)) {
    refuse('its tenant', 'has 1 to 128 letters, digits, "_" and "-"')
  }
  if (lifetimeMs !== undefined && !(lifetimeMs > 0 && lifetimeMs <= TOKEN_LIFETIME_MAX_MS)) {
    refuse('its lifetime', 'is more than nothing and at most ten years')
  }
}

function isExpired({ expiresAt }: TokenRecord, clock: Clock): boolean {
  return expiresAt !== undefined && clock.now().toISOString() >= expiresAt
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
