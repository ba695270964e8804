/** Records and reads events of executions. It starts no timer and calls nobody; callers that want to react read. */

import { createHash } from 'node:crypto'
import { InvalidError } from '../../base/errors.ts'
import { IDEMPOTENCY_KEY_MAX_CHARS } from '../limits.ts'
import type { Logger } from '../../base/logger.ts'
import type { ExecutionId } from '../keys.ts'
import type { WritePace } from '../namespaces/guarded-write.ts'
import type { MakeId } from '../namespaces/make-id.ts'
import { show } from '../namespaces/names.ts'
import type { BoundScope, Scopes } from '../namespaces/scopes.ts'
import type { AppendRequest } from './append-plan.ts'
import type { EventArchive } from './archive-port.ts'
import { clearEvents, type ClearRule } from './clear-events.ts'
import type { EventFilter } from './event-filter.ts'
import type { EventPage } from './event-pages.ts'
import { getEvent, hasEvent, queryEventPage, queryEvents } from './event-reader.ts'
import { EventWriter, type Appended } from './event-writer.ts'
import { checkEvent, type CheckedEvent, type ExecutionEvent, type NewEvent } from './event.ts'
import { advisePayload, type PayloadRule } from './payload-advice.ts'

export interface PublishOptions {
  /** The sender's key for this event: publishing again with it records nothing and returns the id of the first event. */
  readonly idempotencyKey?: string | undefined
}

export interface EventManager {
  /**
   * Records an event and resolves with its id once every read sees it. Throws `core/no-such-execution`, or `core/not-active`
   * where the execution has ended.
   */
  publishEvent(execution: ExecutionId, event: NewEvent, options?: PublishOptions): Promise<string>
  /** Has an event of exactly this type happened? */
  hasEvent(execution: ExecutionId, type: string): Promise<boolean>
  /** The latest event of a type, or `null`. */
  getEvent(execution: ExecutionId, type: string): Promise<ExecutionEvent | null>
  /** The events that match a filter (default: all), in the order of the log. */
  queryEvents(execution: ExecutionId, filter?: EventFilter): Promise<readonly ExecutionEvent[]>
  /**
   * One page of them. What it looks at is bounded, so it may have fewer events than its limit, or none, although there are more:
   * go on with `next` as `after` until it is `undefined`.
   */
  queryEventPage(execution: ExecutionId, filter?: EventFilter): Promise<EventPage>
  /** Removes all events of an ended execution, and returns how many; of a running one only with `force`. */
  clearEvents(execution: ExecutionId, rule?: ClearRule): Promise<number>
}

export interface EventManagerParts {
  readonly scopes: Scopes
  readonly archive: EventArchive | undefined
  /** What happens to payloads above the advised size. Default: `warn`. */
  readonly payloads: PayloadRule | undefined
  readonly pace: WritePace
  readonly makeId: MakeId
  readonly logger: Logger
}

/** What to write together with an event, and under which conditions. */
export interface AppendExtras
  extends PublishOptions, Pick<AppendRequest, 'along' | 'conditions' | 'reopens'> {
  /** Events that follow it in the same write. */
  readonly more?: readonly NewEvent[]
}

/** The manager, and writing an event together with other operations. */
export interface EventLog {
  readonly manager: EventManager
  append(execution: ExecutionId, event: NewEvent, extras?: AppendExtras): Promise<Appended>
}

export function createEventLog(parts: EventManagerParts): EventLog {
  const { scopes, archive, payloads = 'warn', pace, makeId, logger } = parts
  const writers = new WeakMap<BoundScope, EventWriter>()
  const writerOf = (bound: BoundScope): EventWriter => {
    const known = writers.get(bound)
    if (known !== undefined) return known
    const writer = new EventWriter(bound, pace)
    writers.set(bound, writer)
    return writer
  }
  const check = (event: NewEvent): Pick<AppendRequest, 'id' | 'event'> => {
    const checked = checkEvent(event)
    advisePayload(checked, payloads, logger)
    return { id: makeId('evt'), event: checked }
  }
  const append: EventLog['append'] = async (execution, event, extras = {}) => {
    const bound = scopes.of(execution)
    const { idempotencyKey, more, along, conditions, reopens } = extras
    const { id, event: checked } = check(event)
    return writerOf(bound).append({
      id,
      event: checked,
      more: more?.map(check),
      along,
      conditions,
      reopens,
      idempotency: idempotencyKey === undefined ? undefined : digestsOf(idempotencyKey, checked),
    })
  }
  const manager: EventManager = {
    publishEvent: async (execution, event, { idempotencyKey } = {}) =>
      (await append(execution, event, { idempotencyKey })).id,
    hasEvent: async (execution, type) => hasEvent(scopes.of(execution), archive, type),
    getEvent: async (execution, type) => getEvent(scopes.of(execution), archive, type),
    queryEvents: async (execution, filter) => queryEvents(scopes.of(execution), archive, filter),
    queryEventPage: async (execution, filter) => queryEventPage(scopes.of(execution), archive, filter),
    clearEvents: async (execution, rule) => clearEvents(scopes.of(execution), { archive, rule, pace }),
  }
  return { manager, append }
}

function digestsOf(key: unknown, event: CheckedEvent): NonNullable<AppendRequest['idempotency']> {
  if (typeof key !== 'string' || key === '' || key.length > IDEMPOTENCY_KEY_MAX_CHARS) {
    throw new InvalidError(
      'core/bad-idempotency-key',
      `read ${show(key)} as an idempotency key: it must have 1 to ${IDEMPOTENCY_KEY_MAX_CHARS} characters`,
      { next: 'Give a shorter key, such as a UUID.' },
    )
  }
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
  return {
    digest: digest(key),
    fingerprint: digest(JSON.stringify([event.type, event.source, event.payload])),
  }
}
