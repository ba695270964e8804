/** A handle of one execution, with its id bound once: no parameter can name another execution, and nothing lists them. */

import { InvalidError } from '../../base/errors.ts'
import { VARIABLES_TOGETHER_MAX } from '../limits.ts'
import { describeFailure } from './describe-failure.ts'
import type { EventFilter } from '../events/event-filter.ts'
import type { PublishOptions } from '../events/event-manager.ts'
import type { EventPage } from '../events/event-pages.ts'
import { parseEventType } from '../events/event-types.ts'
import type { ExecutionEvent, NewEvent } from '../events/event.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import type { ExecutionId } from '../keys.ts'
import type { ExecutionStatus } from '../namespaces/execution-record.ts'
import type { SeenRecord } from '../namespaces/live-record.ts'
import { checkName, checkNodeId } from '../namespaces/names.ts'
import type { BoundScope } from '../namespaces/scopes.ts'
import type { VariableFilter, VariablePage } from '../variables/list-variables.ts'
import type { VariableHistory } from '../variables/read-history.ts'
import type { WrittenBy } from '../variables/variable-history.ts'
import type { VariableStore } from '../variables/variable-store.ts'
import type { VariableNotice, WatchOptions } from '../variables/watch-variables.ts'
import type { CoreParts } from './core-parts.ts'

export interface ExecutionState {
  readonly status: ExecutionStatus
  readonly startedAt: string
  readonly endedAt: string | undefined
}

export interface EventReads {
  has(type: string): Promise<boolean>
  get(type: string): Promise<ExecutionEvent | null>
  query(filter?: EventFilter): Promise<readonly ExecutionEvent[]>
  /** One page; go on with its `next` as `after` until that is `undefined`. A page may be empty although there are more. */
  queryPage(filter?: EventFilter): Promise<EventPage>
}

export interface ExecutionPublishOptions extends PublishOptions {
  /** Variables by their full names, written in the same step as the event. */
  readonly variables?: Readonly<Record<string, Json>>
}

export interface ExecutionEvents extends EventReads {
  publish(event: NewEvent, options?: ExecutionPublishOptions): Promise<string>
}

export interface VariableReads {
  get(name: string): Promise<Json | undefined>
  exists(name: string): Promise<boolean>
  list(namespace?: string): Promise<Readonly<Record<string, Json>>>
  /** One page, by name; go on with its `next` as `after` until that is `undefined`. */
  listPage(filter?: VariableFilter): Promise<VariablePage>
  /** What was written to a variable, the latest first; bounded. Values that look like a secret are left out. */
  history(name: string): Promise<VariableHistory>
  resolve(template: Json): Promise<Json>
  watch(options: WatchOptions): AsyncIterable<VariableNotice>
}

export interface ExecutionVariables extends VariableReads {
  set(name: string, value: Json): Promise<void>
  update(name: string, change: (current: Json | undefined) => Json): Promise<Json>
  remove(name: string): Promise<boolean>
}

export type ExecutionEnd =
  | {
      readonly status: 'completed'
      readonly outputs?: Readonly<Record<string, Json>>
      readonly payload?: JsonObject
    }
  | { readonly status: 'failed'; readonly error: unknown; readonly payload?: JsonObject }
  | { readonly status: 'cancelled'; readonly reason?: string; readonly payload?: JsonObject }

/** What a node may do: read everything of its execution, write variables under its own id, record its own events. */
export interface NodeScope {
  readonly node: string
  readonly events: EventReads & {
    /** Only events of this node and its task: `NODE.retrying`, `NODE.task.running`. */
    publish(type: string, payload?: JsonObject, options?: PublishOptions): Promise<string>
  }
  readonly variables: ExecutionVariables
}

/** The handle of an execution for its engine. */
export interface Execution {
  readonly id: ExecutionId
  readonly name: string
  readState(): Promise<ExecutionState>
  readonly events: ExecutionEvents
  readonly variables: ExecutionVariables
  node(id: string): NodeScope
  /** Ends the execution: outputs, last event and status in one step. Throws `core/not-active` if it has already ended. */
  finish(end: ExecutionEnd): Promise<void>
}

export function bindExecution(parts: CoreParts, { scope, live }: BoundScope, seen: SeenRecord): Execution {
  const { events, variables } = parts
  const id = scope.execution
  const { name } = seen.record
  const reads: EventReads = {
    has: (type) => events.manager.hasEvent(id, type),
    get: (type) => events.manager.getEvent(id, type),
    query: (filter) => events.manager.queryEvents(id, filter),
    queryPage: (filter) => events.manager.queryEventPage(id, filter),
  }
  const publish: ExecutionEvents['publish'] = async (event, { idempotencyKey, variables: values } = {}) => {
    const puts = values && variables.encode(id, 'engine', checkTogether(values))
    const along = puts && [...puts, ...variables.record(id, puts, writerOf(event))]
    return (await events.append(id, event, { idempotencyKey, along })).id
  }
  return {
    id,
    name,
    readState: async () => {
      const { status, startedAt, endedAt } = (await live.read()).record
      return { status, startedAt, endedAt }
    },
    events: { ...reads, publish },
    variables: bindVariables(variables.asWriter('engine'), id),
    node: (node) => bindNode(parts, id, reads, checkNodeId(node)),
    finish: async (end) => {
      const source = { entityType: 'pipeline', entityId: name } as const
      const outputs = end.status === 'completed' ? (end.outputs ?? {}) : {}
      await publish(
        { type: `pipeline.${end.status}`, source, payload: payloadOf(end) },
        { variables: underPrefix('pipeline.output', outputs) },
      )
    },
  }
}

/** `NAMESPACE.name` for each name. */
export function underPrefix(
  namespace: string,
  values: Readonly<Record<string, Json>>,
): Readonly<Record<string, Json>> {
  const entries = Object.entries(values)
  return Object.fromEntries(
    entries.map(([name, value]) => [`${namespace}.${checkName(name, 'name of an output')}`, value]),
  )
}

function bindNode(
  { events, variables }: CoreParts,
  id: ExecutionId,
  reads: EventReads,
  node: string,
): NodeScope {
  return {
    node,
    events: {
      ...reads,
      publish: async (type, payload = {}, options = {}) => {
        const facts = parseEventType(type)
        if (facts.node !== node) {
          throw new InvalidError(
            'core/not-yours',
            `record "${type}": node "${node}" may record only its own events`,
            { next: `Name the event "${node}.…".` },
          )
        }
        return events.manager.publishEvent(
          id,
          { type, source: { entityType: facts.kind, entityId: node }, payload },
          options,
        )
      },
    },
    variables: bindVariables(variables.asWriter({ node }), id),
  }
}

function bindVariables(store: VariableStore, id: ExecutionId): ExecutionVariables {
  return {
    get: (name) => store.get(id, name),
    exists: (name) => store.exists(id, name),
    list: (namespace) => store.list(id, namespace),
    listPage: (filter) => store.listPage(id, filter),
    history: (name) => store.history(id, name),
    resolve: (template) => store.resolve(id, template),
    watch: (options) => store.watch(id, options),
    set: (name, value) => store.set(id, name, value),
    update: (name, change) => store.update(id, name, change),
    remove: (name) => store.remove(id, name),
  }
}

function writerOf({ type, source }: NewEvent): WrittenBy {
  const { entityType, entityId: unit } = source
  return { ...(entityType === 'node' ? { unit } : {}), event: type }
}

function checkTogether(values: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> {
  const count = Object.keys(values).length
  if (count <= VARIABLES_TOGETHER_MAX) return values
  throw new InvalidError(
    'core/too-many-variables-together',
    `write ${count} variables together: the maximum is ${VARIABLES_TOGETHER_MAX}`,
    { next: 'Put several values into one variable, an object.' },
  )
}

function payloadOf(end: ExecutionEnd): JsonObject {
  const { payload = {} } = end
  if (end.status === 'failed') return { error: describeFailure(end.error), ...payload }
  return end.status === 'cancelled' && end.reason !== undefined ? { reason: end.reason, ...payload } : payload
}
