/** Reads events and variables of one execution, for the API and the command line. */

import { defined } from '../../base/defined.ts'
import { MissingError } from '../../base/errors.ts'
import type { EventFilter } from '../../core/events/event-filter.ts'
import type { ExecutionEvent } from '../../core/events/event.ts'
import type { ListedVariable, VariableFilter } from '../../core/variables/list-variables.ts'
import type { VariableWriteRecord } from '../../core/variables/read-history.ts'
import type { WrittenBy } from '../../core/variables/variable-history.ts'
import type { Json } from '../../base/json.ts'
import type { OpenedExecution } from '../../runtime/host.ts'

/** An event as the API and the command line show it. */
type ShownEvent = ReturnType<typeof showEvent>

interface EventPage {
  readonly events: readonly ShownEvent[]
  /** Absent on the last page; a page that has it may be empty. */
  readonly next_after?: number
}

/** One page. It ends early when the core has looked at much, so that the server can hold many answers at once. */
export async function queryEvents(
  execution: Pick<OpenedExecution, 'events'>,
  filter: EventFilter,
): Promise<EventPage> {
  const { events, next } = await execution.events.queryPage(filter)
  return { events: events.map(showEvent), ...defined({ next_after: next }) }
}

/** Throws `api/no-such-event`. */
export async function readEvent({ events }: OpenedExecution, type: string): Promise<ShownEvent> {
  const event = await events.get(type)
  if (event !== null) return showEvent(event)
  throw new MissingError('api/no-such-event', `read the latest event "${type}": none was recorded`, {
    next: 'Wait for it, or correct the type.',
  })
}

/** Throws `api/no-such-variable`. */
export async function readVariable(
  { variables }: OpenedExecution,
  name: string,
): Promise<{ readonly name: string; readonly value: Json }> {
  const value = await variables.get(name)
  if (value !== undefined) return { name, value }
  throw noSuchVariable('variable', name)
}

export interface ShownHistory {
  readonly name: string
  readonly writes: readonly ShownWrite[]
  readonly may_lack: boolean
}

interface ShownWrite extends Omit<VariableWriteRecord, 'by'> {
  readonly by: Omit<WrittenBy, 'taskId' | 'workerId'> & {
    readonly task_id?: string
    readonly worker_id?: string
  }
}

/** Throws `api/no-such-variable` where the variable was never set. */
export async function readVariableHistory(
  { variables }: Pick<OpenedExecution, 'variables'>,
  name: string,
): Promise<ShownHistory> {
  const { writes, hasDropped } = await variables.history(name)
  if (writes.length === 0) throw noSuchVariable('history of the variable', name)
  return { name, writes: writes.map((write) => ({ ...write, by: showWriter(write) })), may_lack: hasDropped }
}

export function showWriter({ by: { taskId, workerId, ...by } }: VariableWriteRecord): ShownWrite['by'] {
  return { ...by, ...defined({ task_id: taskId, worker_id: workerId }) }
}

function noSuchVariable(what: string, name: string): MissingError {
  return new MissingError('api/no-such-variable', `read the ${what} "${name}": it is not set`, {
    next: 'Wait for it, or correct the name.',
  })
}

interface ShownVariables {
  readonly variables: readonly ListedVariable[]
  /** Absent on the last page. */
  readonly next_after?: string
}

/** One page, by name. */
export async function listVariables(
  { variables }: Pick<OpenedExecution, 'variables'>,
  filter: VariableFilter,
): Promise<ShownVariables> {
  const { variables: listed, next } = await variables.listPage(filter)
  return { variables: listed, ...defined({ next_after: next }) }
}

export function showEvent({ id, executionId, sequence, type, source, timestamp, payload }: ExecutionEvent) {
  return {
    id,
    execution_id: executionId,
    sequence,
    type,
    source: { entity_type: source.entityType, entity_id: source.entityId },
    timestamp,
    payload,
  }
}
