/** The executions that this process works with, each bound once and shared by all who ask; forgotten when many others came. */

import { EXECUTIONS_REMEMBERED } from '../limits.ts'
import type { ExecutionId, TenantId } from '../keys.ts'
import type { Store } from '../ports.ts'
import { LiveRecord } from './live-record.ts'
import { bindScope, type Scope } from './scope.ts'

export interface BoundScope {
  readonly scope: Scope
  readonly live: LiveRecord
}

export class Scopes {
  readonly store: Store
  readonly tenant: TenantId | undefined
  readonly #outbox: boolean
  readonly #bound = new Map<ExecutionId, BoundScope>()
  /** Nearly every call is about the same one as the call before. */
  #latest: BoundScope | undefined

  constructor(store: Store, tenant?: TenantId, outbox = false) {
    this.store = store
    this.tenant = tenant
    this.#outbox = outbox
  }

  /** Throws `core/bad-id` for what is no id, `undefined` among it. */
  of(execution: ExecutionId): BoundScope {
    const latest = this.#latest
    if (latest !== undefined && latest.scope.execution === execution) return latest
    const known = this.#bound.get(execution)
    const bound = known ?? this.#bind(execution)
    if (known !== undefined) this.#bound.delete(execution)
    this.#bound.set(execution, bound)
    if (this.#bound.size > EXECUTIONS_REMEMBERED) {
      for (const oldest of this.#bound.keys()) {
        this.#bound.delete(oldest)
        break
      }
    }
    this.#latest = bound
    return bound
  }

  #bind(execution: ExecutionId): BoundScope {
    const { store, tenant } = this
    const place = tenant === undefined ? { execution } : { tenant, execution }
    const scope = bindScope(store, place, this.#outbox)
    return { scope, live: new LiveRecord(scope) }
  }
}
