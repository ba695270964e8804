/** One execution's part of the store. A scope is bound once; code that is given a scope cannot name another execution. */

import {
  executionKeys,
  type ExecutionId,
  type ExecutionKeys,
  type ExecutionScope,
  type TenantId,
} from '../keys.ts'
import type { Store } from '../ports.ts'

export interface Scope {
  readonly store: Store
  readonly execution: ExecutionId
  readonly tenant: TenantId | undefined
  readonly keys: ExecutionKeys
  /** Whether events are also put into the outbox, for webhooks. */
  readonly outbox: boolean
}

/** Throws `core/bad-id`, also for `undefined`: there is no default execution. */
export function bindScope(store: Store, place: ExecutionScope, outbox = false): Scope {
  const { execution, tenant } = place
  return { store, execution, tenant, outbox, keys: executionKeys(place) }
}
