/**
 * One execution's part of the store. A scope is bound once; whatever is built on it has no way to name another.
 *
 * Together with `keys.ts` this is all that knows how an execution's id enters an address.
 */

import {
  checkpointsPrefix,
  endedKey,
  eventKeysOf,
  eventsPrefix,
  executionId,
  executionKey,
  executionOutboxPrefix,
  idempotencyKey,
  idempotencyPrefix,
  logEndKey,
  logKeysOf,
  logPrefix,
  markKey,
  marksPrefix,
  outboxKey,
  variableKeysOf,
  variablesPrefix,
  type EndedJob,
  type ExecutionId,
  type ExecutionScope,
  type TenantId,
} from '../keys.ts'
import type { Store } from '../ports.ts'

export interface Scope {
  readonly store: Store
  readonly execution: ExecutionId
  readonly tenant: TenantId | undefined
  readonly keys: ScopeKeys
  /** Whether events are put into the outbox too, for those outside who are told of them. */
  readonly outbox: boolean
}

export interface ScopeKeys {
  /** The execution's record in the registry. */
  readonly record: string
  readonly events: string
  readonly log: string
  /** Only where events have a time to live. */
  readonly logEnd: string
  readonly variables: string
  readonly marks: string
  readonly idempotency: string
  readonly checkpoints: string
  event(type: string): string
  entry(sequence: number): string
  variable(name: string): string
  mark(token: string): string
  idempotent(digest: string): string
  outbox(sequence: number): string
  /** Begins every key of the outbox that is about this execution. */
  readonly waiting: string
  /** Where the index says that this part is still to be done. */
  ended(job: EndedJob, endedAt: string): string
}

/** Refuses an id that is none, also at run time: there is no execution by default. */
export function bindScope(store: Store, place: ExecutionScope, outbox = false): Scope {
  executionId(place.execution)
  return {
    store,
    execution: place.execution,
    tenant: place.tenant,
    outbox,
    keys: {
      record: executionKey(place),
      events: eventsPrefix(place),
      log: logPrefix(place),
      logEnd: logEndKey(place),
      variables: variablesPrefix(place),
      marks: marksPrefix(place),
      idempotency: idempotencyPrefix(place),
      checkpoints: checkpointsPrefix(place),
      event: eventKeysOf(place),
      entry: logKeysOf(place),
      variable: variableKeysOf(place),
      mark: (token) => markKey(place, token),
      idempotent: (digest) => idempotencyKey(place, digest),
      outbox: (sequence) => outboxKey(place, sequence),
      waiting: executionOutboxPrefix(place),
      ended: (job, endedAt) => endedKey(place, job, endedAt),
    },
  }
}
