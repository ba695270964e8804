/**
 * The core over one store: executions, each in a scope of its own.
 *
 * ```ts
 * const core = openCore({ store })
 * const execution = await core.startExecution({ name: 'etl_pipeline', inputs: { start_date: '2025-01-01' } })
 * await execution.events.publish({ type: 'extract.started', source: { entityType: 'node', entityId: 'extract' } })
 * await execution.finish({ status: 'completed' })
 * ```
 */

import { systemClock, type Clock } from '../../base/clock.ts'
import { silentLogger, type Logger } from '../../base/logger.ts'
import { systemRandom, type Random } from '../../base/random.ts'
import type { EventArchive } from '../events/archive-port.ts'
import { createEventLog, type EventManager } from '../events/event-manager.ts'
import type { PayloadRule } from '../events/payload-advice.ts'
import { executionId, tenantId, type ExecutionId } from '../keys.ts'
import { makeId, type MakeId } from '../namespaces/make-id.ts'
import { Scopes } from '../namespaces/scopes.ts'
import type { Store } from '../ports.ts'
import { createVariableSpace, type VariableStore } from '../variables/variable-store.ts'
import { bindExecution, type Execution } from './execution.ts'
import { startExecution, type StartRequest } from './start-execution.ts'

export interface CoreOptions {
  /** Keeps the records, events and variables of the executions. */
  readonly store: Store
  /** The tenant of the executions. Default: the default tenant. */
  readonly tenant?: string
  /** The archive for events of ended executions. */
  readonly archive?: EventArchive
  /** Also puts each event into the outbox, in the same write, for webhooks. Something must then empty the outbox. */
  readonly outbox?: boolean
  /** What happens to payloads above the advised size. Default: `warn`. */
  readonly payloads?: PayloadRule
  /** For the times in records and the waits before a write is repeated. Default: the machine's clock. */
  readonly clock?: Clock
  /** For the waits before a write is repeated. Default: the operating system's randomness. */
  readonly random?: Random
  /** Makes the ids of executions and events; must never return one twice. Default: random ids that cannot be guessed. */
  readonly makeId?: MakeId
  /** Gets a warning for each payload above the advised size. Default: nothing is logged. */
  readonly logger?: Logger
}

export interface Core {
  /** For hosts: every call names its execution. */
  readonly events: EventManager
  /** For hosts: every call names its execution. Writes as the engine. */
  readonly variables: VariableStore
  /**
   * Creates an execution: its record, inputs, system variables and first event, all in one write. Throws
   * `core/execution-exists` where the given id is in use.
   */
  startExecution(request: StartRequest): Promise<Execution>
  /** Opens an existing execution. Throws `core/no-such-execution`. */
  openExecution(execution: ExecutionId | string): Promise<Execution>
}

export function openCore(options: CoreOptions): Core {
  const { store, archive, payloads, clock = systemClock, logger = silentLogger } = options
  const pace = { clock, random: options.random ?? systemRandom }
  const make = options.makeId ?? makeId
  const tenant = options.tenant === undefined ? undefined : tenantId(options.tenant)
  const scopes = new Scopes(store, tenant, options.outbox)
  const events = createEventLog({ scopes, archive, payloads, pace, makeId: make, logger })
  const variables = createVariableSpace(scopes, { pace, makeId: make })
  const parts = { scopes, events, variables, pace, makeId: make }
  return {
    events: events.manager,
    variables: variables.asWriter('engine'),
    startExecution: async (request) => {
      const bound = await startExecution(parts, request)
      return bindExecution(parts, bound, await bound.live.seen())
    },
    openExecution: async (execution) => {
      const bound = scopes.of(executionId(execution))
      return bindExecution(parts, bound, await bound.live.read())
    },
  }
}
