/** Who looks, and what this server shows. */

import { signal } from '@preact/signals'
import { ApiError, get, isLoggedOut, post, type Schemas } from './api.ts'

export type Session = Schemas['Session']
export const session = signal<Session | undefined>(undefined)
/** Until it is known whether there is a session. */
export const isAsking = signal(true)

/** Takes the key that stands in the address, if there is one, or the session that is still open. */
export async function openFromAddress(): Promise<void> {
  const key = /^#key=([^&]+)$/.exec(location.hash)?.[1]
  // Before anything is asked: it must not stay in the history of the browser.
  if (key !== undefined) history.replaceState(null, '', '#/')
  try {
    session.value = key === undefined ? await get('/session') : await logIn({ address_key: key })
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error
    isLoggedOut.value = true
  } finally {
    isAsking.value = false
  }
}

export async function logIn(body: Schemas['SessionRequest']): Promise<Session> {
  const opened = await post('/session', { body })
  session.value = opened
  isLoggedOut.value = false
  return opened
}

export function mayOperate(): boolean {
  return session.value !== undefined && session.value.role !== 'viewer'
}
