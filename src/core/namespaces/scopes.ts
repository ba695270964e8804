/** The scopes of recently used executions, each bound once and shared by all callers. */

import { BoundedMap } from '../../base/bounded-map.ts'
import { EXECUTIONS_REMEMBERED } from '../limits.ts'
import type { ExecutionId, ExecutionScope, TenantId } from '../keys.ts'
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
  readonly #bound = new BoundedMap<ExecutionId, BoundScope>({
    max: EXECUTIONS_REMEMBERED,
    evict: 'least-recently-used',
  })
  /** Most calls name the same execution as the call before. */
  #latest: BoundScope | undefined

  constructor(store: Store, tenant?: TenantId, outbox = false) {
    this.store = store
    this.tenant = tenant
    this.#outbox = outbox
  }

  /** Throws `core/bad-id`, also for `undefined`. */
  of(execution: ExecutionId): BoundScope {
    const latest = this.#latest
    if (latest !== undefined && latest.scope.execution === execution) return latest
    this.#latest = this.#bound.getOrAdd(execution, () => this.#bind(execution))
    return this.#latest
  }

  #bind(execution: ExecutionId): BoundScope {
    const { store, tenant } = this
    const place = tenant === undefined ? { execution } : { tenant, execution }
    const scope = bindScope(store, place, this.#outbox)
    return { scope, live: new LiveRecord(scope) }
  }
}

/** Of an execution that is looked at once. Throws `core/bad-id`. */
export function scopeOf(store: Store, { tenant, execution }: ExecutionScope): Scope {
  return new Scopes(store, tenant).of(execution).scope
}
