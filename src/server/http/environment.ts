/** What Hono keeps with each request. */

import type { Context } from 'hono'
import type { Caller } from '../access/callers.ts'
import type { Visit } from './visits.ts'

/** What is known of a request besides what it says. */
export interface Arrival {
  /** The client's address: that of the connection, or the one that a trusted proxy names. */
  readonly address: string | undefined
  /** It came through a trusted proxy, or as HTTP/1.0, which proxies speak. */
  readonly isProxied?: boolean | undefined
  /** Where the request came over a connection. */
  readonly visit?: Visit | undefined
}

export interface HttpEnvironment {
  readonly Bindings: Arrival
  readonly Variables: { caller: Caller }
}

export type Asked = Context<HttpEnvironment>
