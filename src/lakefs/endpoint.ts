/** Where the server is, and how requests name things there. */

import type { QueryValue } from './api.ts'
import { InvalidError } from '../base/errors.ts'

export interface Endpoint {
  readonly origin: string
  /** The path of the API, without a slash at its end. */
  readonly apiPath: string
  /** Both together, safe to show. */
  readonly apiUrl: string
}

const API_PATH = '/api/v1'

/** Reads an endpoint as people write it: with or without `/api/v1`, with or without a slash at the end. */
export function parseEndpoint(text: string): Endpoint {
  let url: URL
  try {
    url = new URL(text)
  } catch (cause) {
    throw badEndpoint('it is not a URL', cause)
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw badEndpoint('it is neither http nor https')
  if (url.username !== '' || url.password !== '') throw badEndpoint('it contains credentials')
  if (url.search !== '' || url.hash !== '') throw badEndpoint('it has a query or a fragment')
  const base = url.pathname.replace(/\/+$/, '')
  const apiPath = base.endsWith(API_PATH) ? base : `${base}${API_PATH}`
  return { origin: url.origin, apiPath, apiUrl: `${url.origin}${apiPath}` }
}

/** Fills a path of the contract and adds the query. */
export function requestPath(
  endpoint: Endpoint,
  template: string,
  names: Readonly<Record<string, string>>,
  query: Readonly<Record<string, QueryValue>>,
): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? ''))
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    (Array.isArray(value) ? value : value === undefined ? [] : [value]).map(
      (one: string | number | boolean) => `${encodeURIComponent(key)}=${encodeURIComponent(one)}`,
    ),
  )
  return `${endpoint.apiPath}${path}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`
}

function badEndpoint(why: string, cause?: unknown): InvalidError {
  // The text itself is not shown: it may carry a password.
  return new InvalidError('lakefs/bad-endpoint', `read the lakeFS endpoint: ${why}`, {
    next: 'Write it like http://127.0.0.1:8000.',
    cause,
  })
}
