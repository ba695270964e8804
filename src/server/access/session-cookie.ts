/**
 * The cookie of a session, and which requests it may accompany.
 *
 * - SE-4 Scripts cannot read it, and browsers send it with requests of this origin only.
 * - SE-5 A request with a cookie that changes something is taken only if the browser says that a page of this origin sent it.
 */

import { RefusedError } from '../../base/errors.ts'
import type { OpenedSession } from './sessions.ts'

const NAME = 'perago_session'

export function readSessionCookie(headers: Headers): string | undefined {
  for (const pair of (headers.get('cookie') ?? '').split(';')) {
    const [name, value] = pair.trim().split('=', 2)
    if (name === NAME && value !== undefined && /^[A-Za-z0-9_-]{43}$/.test(value)) return value
  }
  return undefined
}

/** `isTls`: the browser then never sends it in plain text. */
export function setSessionCookie(
  { id, endsAt }: OpenedSession,
  { isTls }: { readonly isTls: boolean },
): string {
  return cookie(id, isTls, `Expires=${endsAt.toUTCString()}`)
}

export function clearSessionCookie({ isTls }: { readonly isTls: boolean }): string {
  return cookie('', isTls, 'Max-Age=0')
}

function cookie(value: string, isTls: boolean, end: string): string {
  return `${NAME}=${value}; Path=/; HttpOnly; SameSite=Strict${isTls ? '; Secure' : ''}; ${end}`
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
