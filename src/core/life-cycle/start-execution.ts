/** The first write of an execution. */

import { InvalidError, RefusedError } from '../../base/errors.ts'
import { EVENT_TTL_MIN_MS, STORE_TTL_MAX_MS, VARIABLES_TOGETHER_MAX } from '../limits.ts'
import { putLogEnd } from '../events/append-plan.ts'
import { checkEvent, encodeEvent } from '../events/event.ts'
import type { Json } from '../../base/json.ts'
import { executionId, type ExecutionId } from '../keys.ts'
import { decodeRecord, encodeRecord, type ExecutionRecord } from '../namespaces/execution-record.ts'
import { commitGuarded } from '../namespaces/guarded-write.ts'
import { checkName, checkNodeId, checkPipelineName, parseVariableName } from '../namespaces/names.ts'
import type { BoundScope } from '../namespaces/scopes.ts'
import { encodeVariable } from '../variables/variable-writes.ts'
import type { StoreCondition, StoreOperation, StorePut } from '../ports.ts'
import type { CoreParts } from './core-parts.ts'

export interface StartRequest {
  /** The pipeline, plan or graph that runs. */
  readonly name: string
  readonly version?: string
  /** Letters, digits, `_` and `-`. Default: a random id that cannot be guessed. */
  readonly id?: string
  /** Stored as `pipeline.input.NAME`; cannot be changed afterwards. */
  readonly inputs?: Readonly<Record<string, Json>>
  /**
   * Time to live of each event, also while the execution runs; for executions that run long and whose old events are not
   * needed. Default: events stay until they are swept.
   */
  readonly eventTtlMs?: number
  /** The execution and node that start this one as a child. It gets no access to the parent. */
  readonly parent?: { readonly execution: ExecutionId; readonly node: string }
}

/** Operations that are written together with the first event, and the conditions for all of it. */
export interface StartExtras {
  readonly along?: (startedAt: string) => readonly StoreOperation[]
  readonly conditions?: readonly StoreCondition[]
}

export async function startExecution(
  parts: CoreParts,
  request: StartRequest,
  { along = () => [], conditions = [] }: StartExtras = {},
): Promise<BoundScope> {
  const { scopes, pace, makeId } = parts
  const id = executionId(request.id === undefined ? makeId('exec') : request.id)
  const bound = scopes.of(id)
  const { scope, live } = bound
  const record = recordOf(parts, request, id)
  const { keys } = scope
  const event = encodeEvent(firstEventOf(request), {
    id: record.token,
    executionId: id,
    sequence: 1,
    timestamp: record.startedAt,
  })
  const value = encodeRecord(record)
  const { eventTtlMs: ttlMs } = record
  const written = await commitGuarded(
    scope.store,
    {
      batch: {
        conditions: [{ key: keys.record, is: 'absent' }, ...conditions],
        operations: [
          { do: 'put', key: keys.record, value },
          ...firstVariables(bound, record, request.inputs ?? {}),
          { do: 'put', key: keys.entry(1), value: event, ttlMs },
          { do: 'put', key: keys.event('pipeline.started'), value: event, ttlMs },
          ...(ttlMs === undefined ? [] : [putLogEnd(scope, { sequence: 1, timestamp: record.startedAt })]),
          ...along(record.startedAt),
          ...(scope.outbox ? [{ do: 'put', key: keys.outbox(1), value: event } as const] : []),
        ],
      },
      hasHappened: async () => {
        const found = await scope.store.get(keys.record)
        if (found === undefined) return 'open'
        return decodeRecord(found.value).token === record.token ? 'yes' : 'no'
      },
    },
    pace,
  )
  if (!written.committed) {
    throw new RefusedError('core/execution-exists', `start execution ${id}: the id is taken`, {
      details: { execution: id },
      next: 'Use another id, or none.',
    })
  }
  if (written.revision === undefined) await live.read()
  else live.note({ record, revision: written.revision })
  return bound
}

function recordOf(
  { scopes, pace, makeId }: CoreParts,
  request: StartRequest,
  id: ExecutionId,
): ExecutionRecord {
  const { name, version, parent } = request
  return {
    id,
    ...(scopes.tenant === undefined ? {} : { tenant: scopes.tenant }),
    name: checkPipelineName(name),
    ...(version === undefined ? {} : { version }),
    ...(parent === undefined
      ? {}
      : { parent: { execution: executionId(parent.execution), node: checkNodeId(parent.node) } }),
    ...(request.eventTtlMs === undefined ? {} : { eventTtlMs: checkTtl(request.eventTtlMs) }),
    status: 'running',
    startedAt: pace.clock.now().toISOString(),
    token: makeId('evt'),
    clearedUpTo: 0,
    events: 'hot',
    variables: 'kept',
    checkpoints: 'kept',
  }
}

function checkTtl(eventTtlMs: number): number {
  if (Number.isInteger(eventTtlMs) && eventTtlMs >= EVENT_TTL_MIN_MS && eventTtlMs <= STORE_TTL_MAX_MS) {
    return eventTtlMs
  }
  throw new InvalidError(
    'core/bad-time-to-live',
    `start an execution whose events live for ${String(eventTtlMs)} ms: it must be a whole number in the range`,
    { next: `Give whole milliseconds from ${EVENT_TTL_MIN_MS} to ${STORE_TTL_MAX_MS}, or none.` },
  )
}

function firstEventOf({ name, version }: StartRequest): ReturnType<typeof checkEvent> {
  return checkEvent({
    type: 'pipeline.started',
    source: { entityType: 'pipeline', entityId: name },
    payload: version === undefined ? {} : { version },
  })
}

function firstVariables(
  bound: BoundScope,
  { id, startedAt }: ExecutionRecord,
  inputs: Readonly<Record<string, Json>>,
): readonly StorePut[] {
  const names = Object.keys(inputs)
  if (names.length > VARIABLES_TOGETHER_MAX) {
    throw new InvalidError(
      'core/too-many-inputs',
      `start execution ${id}: it has ${names.length} inputs, the maximum is ${VARIABLES_TOGETHER_MAX}`,
      { next: 'Put several values into one input, an object.' },
    )
  }
  const values: Readonly<Record<string, Json | undefined>> = {
    'system.execution_id': id,
    'system.started_at': startedAt,
    ...Object.fromEntries(
      names.map((name) => [`pipeline.input.${checkName(name, 'name of an input')}`, inputs[name]]),
    ),
  }
  return Object.entries(values).map(([name, value]) => encodeVariable(bound, parseVariableName(name), value))
}
