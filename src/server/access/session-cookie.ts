/**
 * The cookie of a session, and which requests it may accompany.
 *
 * - SE-4 Scripts cannot read it, and browsers send it with requests of this origin only.
 * - SE-5 A request with a cookie that changes something is taken only if the browser says that a page of this origin sent it.
 */

import { RefusedError } from '../../base/errors.ts'
import type { OpenedSession } from './sessions.ts'

const NAME = 'perago_session'

/** Browsers do not tell the ports of a host apart; servers beside each other would end each other's sessions. */
function nameAt(url: string): string {
  const port = URL.canParse(url) ? new URL(url).port : ''
  return port === '' ? NAME : `${NAME}_${port}`
}

export function readSessionCookie({ headers, url }: Pick<Request, 'headers' | 'url'>): string | undefined {
  for (const pair of (headers.get('cookie') ?? '').split(';')) {
    const [name, value] = pair.trim().split('=', 2)
    if (name === nameAt(url) && value !== undefined && /^[A-Za-z0-9_-]{43}$/.test(value)) return value
  }
  return undefined
}

/** For the server at this address. Over TLS the browser never sends it in plain text. */
export function setSessionCookie({ id, endsAt }: OpenedSession, url: string): string {
  return cookie(id, url, `Expires=${endsAt.toUTCString()}`)
}

export function clearSessionCookie(url: string): string {
  return cookie('', url, 'Max-Age=0')
}

function cookie(value: string, url: string, end: string): string {
  const secure = url.startsWith('https:') ? '; Secure' : ''
  return `${nameAt(url)}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}; ${end}`
}

/** Throws `api/foreign-page`. */
export function requireOwnPage({ method, headers, url }: Request): void {
  if (method === 'GET' || method === 'HEAD') return
  const origin = headers.get('origin')
  const site = headers.get('sec-fetch-site')
  const isOwn = (site === null || site === 'same-origin') && origin !== null && hostOf(origin) === hostOf(url)
  if (isOwn) return
  throw new RefusedError(
    'api/foreign-page',
    'take a request with the cookie of a session: no page of this server sent it',
    {
      next: 'Programs send a token in the Authorization header instead.',
    },
  )
}

function hostOf(address: string): string | undefined {
  return URL.canParse(address) ? new URL(address).host : undefined
}
