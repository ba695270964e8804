/** Reads events and variables of one execution, for the API and the command line. */

import { defined } from '../../base/defined.ts'
import { MissingError } from '../../base/errors.ts'
import { API_PAGE_EVENTS, API_PAGE_MAX_BYTES } from '../limits.ts'
import type { EventFilter } from '../../core/events/event-filter.ts'
import type { ExecutionEvent } from '../../core/events/event.ts'
import type { Json } from '../../base/json.ts'
import type { OpenedExecution } from '../../runtime/host.ts'

/** An event as the API and the command line show it. */
type ShownEvent = ReturnType<typeof showEvent>

interface EventPage {
  readonly events: readonly ShownEvent[]
  /** Absent on the last page. */
  readonly next_after?: number
}

/**
 * One page of at most `limit` events. It ends early when its events are large, so that the server can hold many answers at
 * once.
 */
export async function queryEvents(
  execution: Pick<OpenedExecution, 'events'>,
  filter: EventFilter & { readonly limit: number },
): Promise<EventPage> {
  const events: ShownEvent[] = []
  let bytes = 0
  for (let { after } = filter; ;) {
    const wanted = Math.min(filter.limit - events.length, API_PAGE_EVENTS)
    // One more than is shown tells whether there is another page.
    const found = await execution.events.query({ ...filter, ...defined({ after }), limit: wanted + 1 })
    for (const event of found.slice(0, wanted).map(showEvent)) {
      events.push(event)
      bytes += Buffer.byteLength(JSON.stringify(event.payload))
      if (bytes >= API_PAGE_MAX_BYTES) break
    }
    const [last, lastFound] = [events.at(-1), found.at(-1)]
    if (last === undefined || lastFound === undefined || last.sequence === lastFound.sequence)
      return { events }
    if (events.length === filter.limit || bytes >= API_PAGE_MAX_BYTES) {
      return { events, next_after: last.sequence }
    }
    after = last.sequence
  }
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
  throw new MissingError('api/no-such-variable', `read the variable "${name}": it is not set`, {
    next: 'Wait for it, or correct the name.',
  })
}

/** By name. */
export async function listVariables(
  { variables }: OpenedExecution,
  prefix: string,
): Promise<{ readonly variables: readonly { readonly name: string; readonly value: Json }[] }> {
  const listed = Object.entries(await variables.list()).filter(([name]) => name.startsWith(prefix))
  return { variables: listed.map(([name, value]) => ({ name, value })) }
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
