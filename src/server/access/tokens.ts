/**
 * Tokens for the doors.
 *
 * - TK-1 Only a digest is stored. A token has 256 random bits, so that a plain SHA-256 cannot be reversed.
 * - TK-2 A token belongs to one tenant and has one role; neither changes.
 * - TK-3 Comparing takes constant time, also for an id that does not exist. All refusals are the same: none tells whether
 *   the id, the secret or the date was wrong.
 */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { systemClock, type Clock } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import { InvalidError, MissingError, RefusedError } from '../../base/errors.ts'
import { TOKEN_LIFETIME_MAX_MS, TOKEN_NAME_MAX_CHARS } from '../limits.ts'
import { ROLES, type Caller, type Role } from './callers.ts'
import { isId } from '../../core/keys.ts'
import type { Store } from '../../core/ports.ts'
import { openRecordStore } from '../../core/records/record-store.ts'

/** What the store holds of a token. */
export interface TokenRecord {
  readonly id: string
  /** Tells people what it is for. */
  readonly name: string
  readonly tenant?: string
  readonly role: Role
  /** SHA-256 of its secret part, in hexadecimal. */
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
  /** The token is returned here and nowhere else. */
  create(wanted: NewToken): Promise<{ readonly token: string; readonly record: TokenRecord }>
  /** Whose token this is. Throws `api/bad-token`. */
  verify(token: string): Promise<Caller>
  /** It is refused from then on. Throws `api/no-such-token`. */
  revoke(id: string): Promise<void>
  list(): Promise<readonly TokenRecord[]>
}

const ID_BYTES = 9
const SECRET_BYTES = 32
const TOKEN = /^perago_([A-Za-z0-9_-]{12})_([A-Za-z0-9_-]{43})$/
const NO_DIGEST = Buffer.alloc(32)

export function openTokens(store: Store, clock: Clock = systemClock): Tokens {
  const records = openRecordStore<TokenRecord>(store, 'tokens')
  return {
    async create(wanted) {
      checkWanted(wanted)
      const { name, role, tenant, lifetimeMs } = wanted
      const nowMs = clock.now().getTime()
      const secret = randomBytes(SECRET_BYTES).toString('base64url')
      const record: TokenRecord = {
        id: randomBytes(ID_BYTES).toString('base64url'),
        name,
        ...defined({ tenant }),
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
      const stored = record === undefined ? NO_DIGEST : Buffer.from(record.digest, 'hex')
      const isSame = timingSafeEqual(digestOf(secret), stored)
      if (record === undefined || !isSame || isExpired(record, clock)) throw badToken()
      return { name: record.id, tenant: record.tenant, role: record.role }
    },

    async revoke(id) {
      if (await records.remove(id)) return
      throw new MissingError('api/no-such-token', `revoke token ${JSON.stringify(id)}: it does not exist`, {
        next: 'List the tokens, and give the id of one.',
      })
    },

    list: () => records.list(),
  }
}

export function badToken(): RefusedError {
  return new RefusedError('api/bad-token', 'check the token of a request: it is missing or not valid', {
    next: 'Send a token in the Authorization header, after the word Bearer; perago token create makes one.',
  })
}

function checkWanted({ name, role, tenant, lifetimeMs }: NewToken): void {
  const refuse = (what: string, rule: string): never => {
    throw new InvalidError('api/bad-token-request', `create a token: ${what} ${rule}`, {
      next: 'Correct it.',
    })
  }
  if (name.trim() === '' || name.length > TOKEN_NAME_MAX_CHARS || /\p{C}/u.test(name)) {
    refuse('its name', `must have 1 to ${TOKEN_NAME_MAX_CHARS} characters on one line`)
  }
  if (!ROLES.includes(role)) refuse('its role', `must be one of ${ROLES.join(', ')}`)
  if (tenant !== undefined && !isId(tenant)) {
    refuse('its tenant', 'must have 1 to 128 letters, digits, "_" and "-"')
  }
  if (lifetimeMs !== undefined && !(lifetimeMs > 0 && lifetimeMs <= TOKEN_LIFETIME_MAX_MS)) {
    refuse('its lifetime', 'must be more than zero and at most ten years')
  }
}

function isExpired({ expiresAt }: TokenRecord, clock: Clock): boolean {
  return expiresAt !== undefined && clock.now().toISOString() >= expiresAt
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
