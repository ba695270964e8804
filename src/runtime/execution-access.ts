/** How the doors reach executions: one tenant's core at a time, one execution of it, and nothing that lists any. */

import { EXECUTION_TENANTS_REMEMBERED } from './limits.ts'
import { BoundedMap } from '../base/bounded-map.ts'
import type { Logger } from '../base/logger.ts'
import type { EventArchive } from '../core/events/archive-port.ts'
import type { EventFilter } from '../core/events/event-filter.ts'
import { compileTypePattern } from '../core/events/type-pattern.ts'
import type { ExecutionEvent, NewEvent } from '../core/events/event.ts'
import type { Json } from '../base/json.ts'
import { executionId, executionKeys, tenantId } from '../core/keys.ts'
import { openCore, type Core } from '../core/life-cycle/core.ts'
import type { Store } from '../core/ports.ts'

export interface ExecutionAccessParts {
  readonly store: Store
  readonly logger: Logger
  /** Where the events of executions that are over are read from, once they have left the store. */
  readonly archive?: EventArchive | undefined
  /** Events are put into the outbox too, for webhooks. */
  readonly outbox?: boolean
}

/** Meets the port of the doors. */
export interface OpenedAccess {
  open(place: { readonly tenant: string | undefined; readonly execution: string }): Promise<OpenedExecution>
  readonly compilePattern: (pattern: string) => (type: string) => boolean
}

export interface OpenedExecution {
  publish(event: NewEvent, options: { readonly idempotencyKey?: string }): Promise<string>
  event(type: string): Promise<ExecutionEvent | null>
  events(filter: EventFilter): Promise<readonly ExecutionEvent[]>
  variable(name: string): Promise<Json | undefined>
  variables(): Promise<readonly { readonly name: string; readonly value: Json }[]>
  changes(signal: AbortSignal): AsyncIterable<unknown>
}

export function openExecutionAccess(parts: ExecutionAccessParts): OpenedAccess {
  const { store, logger, archive, outbox = false } = parts
  const cores = new BoundedMap<string | undefined, Core>({
    max: EXECUTION_TENANTS_REMEMBERED,
    evict: 'least-recently-used',
  })
  const coreOf = (tenant: string | undefined): Core =>
    cores.getOrAdd(tenant, () =>
      openCore({
        store,
        logger,
        outbox,
        ...(archive === undefined ? {} : { archive }),
        ...(tenant === undefined ? {} : { tenant }),
      }),
    )
  return {
    compilePattern: compileTypePattern,
    open: async ({ tenant, execution }) => {
      const { id, events, variables } = await coreOf(tenant).openExecution(execution)
      const scope = {
        execution: executionId(id),
        ...(tenant === undefined ? {} : { tenant: tenantId(tenant) }),
      }
      return {
        publish: (event, options) => events.publish(event, options),
        event: (type) => events.get(type),
        events: (filter) => events.query(filter),
        variable: (name) => variables.get(name),
        variables: async () =>
          Object.entries(await variables.list()).map(([name, value]) => ({ name, value })),
        changes: (signal) => store.watch({ prefix: executionKeys(scope).log, signal }),
      }
    },
  }
}
