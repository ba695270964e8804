/**
 * The core for an engine that keeps a state of its own beside the log: state, events and variables of a step are one write.
 *
 * - SP-1 A step names the entry of its state that it was decided from, its guard; after somebody else wrote that entry the step
 *   is refused as stale (`core/stale`), and nothing of it was written.
 * - SP-2 A step of an ended execution is refused, unless it reopens it, or says that it knows of the end and adds nothing to the log.
 */

import { RefusedError } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import { executionId, type ExecutionId, type ExecutionKeys, type TenantId } from '../keys.ts'
import type { NewEvent } from '../events/event.ts'
import { createEventLog, type EventManager } from '../events/event-manager.ts'
import { hasEnded, notActive, reopenRecord } from '../namespaces/execution-record.ts'
import { commitGuarded, type WritePace } from '../namespaces/guarded-write.ts'
import { makeId } from '../namespaces/make-id.ts'
import { Scopes, type BoundScope } from '../namespaces/scopes.ts'
import type { Store, StoreCondition, StoreOperation, StorePut } from '../ports.ts'
import type { WrittenBy } from '../variables/variable-history.ts'
import { createVariableSpace, type VariableStore } from '../variables/variable-store.ts'
import type { CoreOptions } from './core.ts'
import type { CoreParts } from './core-parts.ts'
import { startExecution, type StartRequest } from './start-execution.ts'
import { silentLogger } from '../../base/logger.ts'

export interface Step {
  /** The new value of the guarded entry. Each step writes a different one. */
  readonly state: StorePut
  /** The revision of the guarded entry that the step was decided from. */
  readonly from: number
  readonly along: readonly StoreOperation[]
  readonly events: readonly NewEvent[]
  /** The execution has ended and runs again. */
  readonly reopens?: boolean
  /** The execution has ended, and stays so: only its state changes. */
  readonly staysEnded?: boolean
}

export interface StepWriter {
  readonly store: Store
  readonly tenant: TenantId | undefined
  readonly events: EventManager
  readonly variables: VariableStore
  keysOf(execution: ExecutionId): ExecutionKeys
  /** Creates an execution together with its first state. Resolves with the revision of the state. */
  start(
    request: StartRequest & { readonly id: string },
    first: {
      readonly state: StorePut
      readonly along: (startedAt: string) => readonly StoreOperation[]
    },
  ): Promise<number>
  /** Throws where no step can be written any more, not even one that reopens it: a part of it was archived or removed. */
  requireWritable(execution: ExecutionId): Promise<void>
  /** Resolves with the new revision of the state. */
  write(execution: ExecutionId, step: Step): Promise<number>
  /** Puts of variables, to be written with a step. Throws what writing them would throw. */
  encodeVariables(execution: ExecutionId, values: Readonly<Record<string, Json>>): readonly StorePut[]
  /** What the history of the variables says of such puts; to be written with them. */
  recordVariables(execution: ExecutionId, puts: readonly StorePut[], by: WrittenBy): readonly StorePut[]
}

export function openStepWriter(
  options: Omit<CoreOptions, 'tenant' | 'clock' | 'random'> & {
    readonly tenant: TenantId | undefined
    readonly pace: WritePace
  },
): StepWriter {
  const { store, archive, payloads, logger = silentLogger, pace, tenant } = options
  const make = options.makeId ?? makeId
  const scopes = new Scopes(store, tenant, options.outbox)
  const events = createEventLog({ scopes, archive, payloads, pace, makeId: make, logger })
  const variables = createVariableSpace(scopes, { pace, makeId: make })
  const parts: CoreParts = { scopes, events, variables, pace, makeId: make }
  return {
    store,
    tenant,
    events: events.manager,
    variables: variables.asWriter('engine'),
    keysOf: (execution) => scopes.of(execution).scope.keys,
    start: async (request, { state, along }) => {
      await startExecution(parts, request, {
        along: (startedAt) => [state, ...along(startedAt)],
        conditions: [{ key: state.key, is: 'absent' }],
      })
      return readRevision(scopes.of(executionId(request.id)), state)
    },
    requireWritable: async (execution) => {
      reopenRecord((await scopes.of(execution).live.seen()).record)
    },
    write: async (execution, step) => writeStep(parts, scopes.of(execution), step),
    encodeVariables: (execution, values) => variables.encode(execution, 'engine', values),
    recordVariables: (execution, puts, by) => variables.record(execution, puts, by),
  }
}

async function writeStep({ events, pace }: CoreParts, bound: BoundScope, step: Step): Promise<number> {
  const { state, from, along, reopens } = step
  const [first, ...more] = step.events
  const guard: StoreCondition = { key: state.key, is: 'at', revision: from }
  const operations = [state, ...along]
  const revision =
    first === undefined
      ? await writeQuietly(bound, pace, { guard, operations, step })
      : (
          await events.append(bound.scope.execution, first, {
            more,
            along: operations,
            conditions: [guard],
            ...(reopens === undefined ? {} : { reopens }),
          })
        ).revision
  return revision ?? readRevision(bound, state)
}

/** A step without events. */
async function writeQuietly(
  { scope, live }: BoundScope,
  pace: WritePace,
  write: {
    readonly guard: StoreCondition
    readonly operations: readonly StoreOperation[]
    readonly step: Step
  },
): Promise<number | undefined> {
  const { state, from } = write.step
  const seen = await live.seen()
  if (hasEnded(seen.record)) {
    if (write.step.staysEnded !== true) throw notActive(seen.record, 'write a step')
    // Throws where a part of it was archived or removed.
    reopenRecord(seen.record)
  }
  const { committed, revision } = await commitGuarded(
    scope.store,
    {
      batch: { conditions: [live.conditionOn(seen), write.guard], operations: write.operations },
      hasHappened: async () => {
        const found = await scope.store.get(state.key)
        if (found?.revision === from) return (await live.find())?.revision === seen.revision ? 'open' : 'no'
        return found !== undefined && Buffer.compare(found.value, state.value) === 0 ? 'yes' : 'no'
      },
    },
    pace,
  )
  if (committed) return revision
  live.forget()
  throw stale(state.key)
}

/** The revision of a state that was written just now. Throws `core/stale` where somebody else has written it since. */
async function readRevision({ scope }: BoundScope, state: StorePut): Promise<number> {
  const found = await scope.store.get(state.key)
  if (found !== undefined && Buffer.compare(found.value, state.value) === 0) return found.revision
  throw stale(state.key)
}

function stale(key: string): RefusedError {
  return new RefusedError('core/stale', `write a step over ${key}: it has changed meanwhile`, {
    next: 'Read again, and decide anew.',
  })
}
