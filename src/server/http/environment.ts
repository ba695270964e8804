/** What Hono keeps with each request. */

import type { Caller } from '../access/callers.ts'

/** What the server knows of a request. */
export interface HttpBindings {
  /** The remote address of the connection. */
  readonly address: string | undefined
}

export interface HttpEnvironment {
  readonly Bindings: HttpBindings
  readonly Variables: { caller: Caller }
}
