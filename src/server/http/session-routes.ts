/** Logging in and out of a page in a browser. */

import { timingSafeEqual, createHash } from 'node:crypto'
import type { Hono } from 'hono'
import { z } from 'zod'
import { defined } from '../../base/defined.ts'
import { InvalidError, isPeragoError } from '../../base/errors.ts'
import type { Caller } from '../access/callers.ts'
import {
  clearSessionCookie,
  readSessionCookie,
  requireOwnPage,
  setSessionCookie,
} from '../access/session-cookie.ts'
import type { Identify, Sessions } from '../access/sessions.ts'
import { badToken, type Tokens } from '../access/tokens.ts'
import type { HttpEnvironment } from './environment.ts'
import { readJsonBody } from './read-body.ts'
import { readFields, readQuery } from './read-request.ts'

/** Keys that open a session besides tokens. Who has one may do everything in the default tenant: it opens the data itself. */
export interface PageKeys {
  /** Part of the address that the server prints at its start. */
  readonly address?: string | undefined
  /** Of the lakeFS that the server was given. */
  readonly lakefs?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined
}

export interface SessionRoutesParts {
  readonly tokens: Pick<Tokens, 'verify'>
  readonly keys: PageKeys
  readonly sessions: Sessions
  /** What this caller is shown. */
  readonly showsOf: (caller: Caller) => readonly string[]
  /** Counts a failure for who sends it. Throws `api/too-many-requests`. */
  readonly noteFailure: (address: string | undefined) => void
}

const text = (max: number) => z.string().min(1).max(max).optional()
const REQUEST = z.strictObject({
  token: text(512),
  address_key: text(128),
  access_key_id: text(128),
  secret_access_key: text(512),
})

/** Before everything that needs a known caller. */
export function addLogInRoute(app: Hono<HttpEnvironment>, parts: SessionRoutesParts): void {
  app.post('/session', async (asked) => {
    asked.env.visit?.enter('anybody')
    readQuery(asked.req.url, {})
    requireOwnPage(asked.req.raw)
    const identify = identifyBy(readFields('the session', REQUEST, await readJsonBody(asked.req.raw)), parts)
    try {
      const caller = await identify()
      const session = parts.sessions.open(identify)
      asked.header('set-cookie', setSessionCookie(session, asked.req.url))
      asked.header('cache-control', 'no-store')
      return asked.json(show(caller, parts, session.endsAt))
    } catch (error) {
      if (isPeragoError(error) && error.code === 'api/bad-token') parts.noteFailure(asked.env.address)
      throw error
    }
  })
}

/** For known callers. */
export function addSessionRoutes(app: Hono<HttpEnvironment>, parts: SessionRoutesParts): void {
  app.get('/session', (asked) => {
    readQuery(asked.req.url, {})
    const id = readSessionCookie(asked.req.raw)
    return asked.json(
      show(asked.get('caller'), parts, id === undefined ? undefined : parts.sessions.endOf(id)),
    )
  })
  app.delete('/session', (asked) => {
    readQuery(asked.req.url, {})
    const id = readSessionCookie(asked.req.raw)
    if (id !== undefined) parts.sessions.close(id)
    asked.header('set-cookie', clearSessionCookie(asked.req.url))
    return asked.body(null, 204)
  })
}

function show(caller: Caller, { showsOf }: SessionRoutesParts, endsAt: Date | undefined) {
  const { name, role, tenant } = caller
  return { name, role, shows: showsOf(caller), ...defined({ tenant, ends_at: endsAt?.toISOString() }) }
}

function identifyBy(given: z.output<typeof REQUEST>, { tokens, keys }: SessionRoutesParts): Identify {
  const { token, address_key: address, access_key_id: id, secret_access_key: secret } = given
  const ways = [token, address, id ?? secret].filter((way) => way !== undefined)
  if (ways.length !== 1 || (id === undefined) !== (secret === undefined)) {
    throw new InvalidError('api/missing-field', 'read the session: exactly one way to log in is needed', {
      next: 'Send a token, the key of the printed address, or both parts of a key of lakeFS.',
    })
  }
  if (token !== undefined) return () => tokens.verify(token)
  const isGood =
    address !== undefined
      ? isSame(address, keys.address)
      : isSame(
          `${id}\n${secret}`,
          keys.lakefs && `${keys.lakefs.accessKeyId}\n${keys.lakefs.secretAccessKey}`,
        )
  const caller: Caller = { name: address === undefined ? 'lakefs' : 'page', tenant: undefined, role: 'admin' }
  return () => (isGood ? Promise.resolve(caller) : Promise.reject(badToken()))
}

/** In constant time, also without anything to compare with. */
function isSame(given: string, known: string | undefined): boolean {
  const digest = (value: string): Buffer => createHash('sha256').update(value).digest()
  return timingSafeEqual(digest(given), digest(known ?? '')) && known !== undefined
}
