/**
 * What the doors need of what lies behind them. Ids are plain texts here: whoever meets the port reads them, and refuses
 * what is no id.
 */

import type { EventFilter } from '../../core/events/event-filter.ts'
import type { ExecutionEvent, NewEvent } from '../../core/events/event.ts'
import type { Json } from '../../base/json.ts'

/** The only way from a door to data: one execution of one tenant. */
export interface ExecutionAccess {
  /** Throws `core/bad-id` for what is no id, and `core/no-such-execution`. */
  open(place: ExecutionPlace): Promise<ExecutionDoor>
}

export interface ExecutionPlace {
  /** `undefined`: the default one. */
  readonly tenant: string | undefined
  readonly execution: string
}

/** One execution, as a caller outside may see it. */
export interface ExecutionDoor {
  /** Resolves with the event's id once every read sees it. */
  publish(event: NewEvent, options: { readonly idempotencyKey?: string }): Promise<string>
  /** The latest event of exactly this type, or `null`. */
  event(type: string): Promise<ExecutionEvent | null>
  events(filter: EventFilter): Promise<readonly ExecutionEvent[]>
  /** `undefined`: there is none. */
  variable(name: string): Promise<Json | undefined>
  /** By name. */
  variables(): Promise<readonly NamedVariable[]>
  /** Yields once when it has begun to look, and then whenever events may have been recorded since the last time. */
  changes(signal: AbortSignal): AsyncIterable<unknown>
}

export interface NamedVariable {
  readonly name: string
  readonly value: Json
}
