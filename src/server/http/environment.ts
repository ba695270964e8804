/** What a request brings along on its way through the HTTP API. */

import type { Caller } from '../access/callers.ts'

/** What the server around the app tells of a request. */
export interface HttpBindings {
  /** Where the connection comes from. */
  readonly address: string | undefined
}

export interface HttpEnvironment {
  readonly Bindings: HttpBindings
  readonly Variables: { caller: Caller }
}
