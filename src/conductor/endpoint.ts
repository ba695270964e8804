/** Where the API is, as people write it: with or without `/api`, behind a prefix or not. */

import { InvalidError } from '../base/errors.ts'

export interface Endpoint {
  readonly origin: string
  /** What stands before `/api`: empty, or beginning with a slash and not ending with one. */
  readonly prefix: string
}

/**
 * ```ts
 * parseEndpoint('http://localhost:8080/api') // { origin: 'http://localhost:8080', prefix: '' }
 * ```
 */
export function parseEndpoint(text: string): Endpoint {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw badEndpoint('it is no http or https address')
  if (url.username !== '' || url.password !== '')
    throw badEndpoint('a key belongs into its own settings, not into the address')
  if (url.search !== '' || url.hash !== '') throw badEndpoint('it has a query or a fragment')
  const prefix = url.pathname
    .replace(/\/+$/, '')
    .replace(/\/api$/, '')
    .replace(/\/+$/, '')
  return { origin: url.origin, prefix }
}

/** The text itself is not quoted: it may hold a password. */
function badEndpoint(why: string): InvalidError {
  return new InvalidError('conductor/bad-endpoint', `read the Conductor endpoint: ${why}`, {
    next: 'Give the address of the API, such as http://localhost:8080/api.',
  })
}
