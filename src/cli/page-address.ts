/** The address of the page that a command prints, with the key that opens a session. It is new with each start. */

import { randomBytes } from 'node:crypto'
import { reachable } from './server-address.ts'
import type { Terminal } from './terminal.ts'

/** From here on the log does not show it. */
export function newPageKey(terminal: Terminal): string {
  const key = randomBytes(32).toString('base64url')
  terminal.keepSecret(key)
  return key
}

/** Behind the `#`, so that a browser sends it to nobody: the page reads it. */
export function pageAddress(url: string, key: string | undefined): string {
  return `${reachable(url)}/${key === undefined ? '' : `#key=${key}`}`
}
