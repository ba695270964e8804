/** What the registry knows of one execution, and how its status may change. */

import { DefectError, RefusedError } from '../../base/errors.ts'
import type { ExecutionId, TenantId } from '../keys.ts'
import { fromBytes, toBytes } from '../json.ts'

export const EXECUTION_STATUSES = ['running', 'completed', 'failed', 'cancelled'] as const
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number]

/** Where an execution's events are; it only ever moves to the right. */
export type EventsPlace =
  /** In the store. */
  | 'hot'
  /** Confirmed in the archive and still in the store. Reads go to the archive. */
  | 'archived'
  /** In the archive alone. */
  | 'cold'
  /** Being removed, which may have been cut short. */
  | 'clearing'
  | 'gone'

export interface ExecutionRecord {
  readonly id: ExecutionId
  readonly tenant?: TenantId
  /** The pipeline, plan or graph it runs. */
  readonly name: string
  readonly version?: string
  /** What started it as its child: an execution, and the node that stands for the child there. */
  readonly parent?: { readonly execution: ExecutionId; readonly node: string }
  readonly status: ExecutionStatus
  readonly startedAt: string
  readonly endedAt?: string
  /** After this time each of its events is gone, whether it runs or not. */
  readonly eventTtlMs?: number
  /** What made it, so that its maker recognises it when the answer was lost. */
  readonly token: string
  /** The last sequence number that a forced clearing of the log took away. */
  readonly clearedUpTo: number
  readonly events: EventsPlace
  readonly variables: 'kept' | 'gone'
  readonly checkpoints: 'kept' | 'gone'
}

/** What the first and the last events of an execution do to its status. */
export const LIFE_EVENTS = {
  'pipeline.started': 'running',
  'pipeline.completed': 'completed',
  'pipeline.failed': 'failed',
  'pipeline.cancelled': 'cancelled',
} as const satisfies Record<string, ExecutionStatus>

type LifeEvent = keyof typeof LIFE_EVENTS
type Answer = ExecutionStatus | 'same' | 'refuse'

/**
 * What an event makes of the status; `same`: it is recorded and the status stays. There is no status before `running`: the
 * record of an execution and its first event, `pipeline.started`, are one write.
 */
export const STATUS_TRANSITIONS = {
  running: {
    'pipeline.started': 'refuse',
    'pipeline.completed': 'completed',
    'pipeline.failed': 'failed',
    'pipeline.cancelled': 'cancelled',
    other: 'same',
  },
  completed: refuseAll(),
  failed: refuseAll(),
  cancelled: refuseAll(),
} as const satisfies Record<ExecutionStatus, Record<LifeEvent | 'other', Answer>>

/** The status after an event. Throws `core/not-active` where the execution is over. */
export function decideStatus(record: ExecutionRecord, eventType: string): ExecutionStatus {
  const row: Record<LifeEvent | 'other', Answer> = STATUS_TRANSITIONS[record.status]
  const answer = row[isLifeEvent(eventType) ? eventType : 'other']
  if (answer === 'same') return record.status
  if (answer !== 'refuse') return answer
  if (!hasEnded(record)) {
    throw new RefusedError(
      'core/started-twice',
      `record "${eventType}" in ${record.id}: it was started before`,
      { next: 'Start another execution.' },
    )
  }
  throw notActive(record, `record "${eventType}"`)
}

export function isLifeEvent(type: string): type is LifeEvent {
  return Object.hasOwn(LIFE_EVENTS, type)
}

export function hasEnded({ status }: Pick<ExecutionRecord, 'status'>): boolean {
  return status !== 'running'
}

/** An execution that is swept is ended and has nothing left; its record stays for a while, so that its id stays taken. */
export function isSwept(record: ExecutionRecord): boolean {
  return record.events === 'gone' && record.variables === 'gone' && record.checkpoints === 'gone'
}

export function notActive(record: ExecutionRecord, doing: string): RefusedError {
  const state = isSwept(record) ? `${record.status} and swept` : record.status
  return new RefusedError('core/not-active', `${doing} in execution ${record.id}: it is ${state}`, {
    details: { execution: record.id, status: record.status },
    next: 'Start another execution; this one is over.',
  })
}

export function encodeRecord(record: ExecutionRecord): Uint8Array {
  return toBytes(JSON.stringify(record))
}

export function decodeRecord(bytes: Uint8Array): ExecutionRecord {
  const record = JSON.parse(fromBytes(bytes)) as Partial<ExecutionRecord>
  if (typeof record.id === 'string' && typeof record.status === 'string') return record as ExecutionRecord
  throw new DefectError('core/bad-record', 'read the record of an execution: it is none', {
    next: 'Look whether something else writes into this store.',
  })
}

function refuseAll(): Record<LifeEvent | 'other', 'refuse'> {
  return {
    'pipeline.started': 'refuse',
    'pipeline.completed': 'refuse',
    'pipeline.failed': 'refuse',
    'pipeline.cancelled': 'refuse',
    other: 'refuse',
  }
}
