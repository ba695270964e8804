/** What Hono keeps with each request. */

import type { Context } from 'hono'
import type { Caller } from '../access/callers.ts'

export interface HttpEnvironment {
  /** The remote address of the connection. */
  readonly Bindings: { readonly address: string | undefined }
  readonly Variables: { caller: Caller }
}

export type Asked = Context<HttpEnvironment>
