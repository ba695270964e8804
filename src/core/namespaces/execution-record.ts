/** The record of one execution in the registry, and how its status may change. */

import { DefectError, RefusedError } from '../../base/errors.ts'
import type { ExecutionId, TenantId } from '../keys.ts'
import { fromBytes, toBytes } from '../json.ts'

export const EXECUTION_STATUSES = ['running', 'completed', 'failed', 'cancelled'] as const
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number]

/** Where the events of an execution are. It changes in this order only. */
export type EventsPlace =
  /** In the store. */
  | 'hot'
  /** Confirmed in the archive, and still in the store. Reads use the archive. */
  | 'archived'
  /** Only in the archive. */
  | 'cold'
  /** Being removed; the removal may have been interrupted. */
  | 'clearing'
  | 'gone'

export interface ExecutionRecord {
  readonly id: ExecutionId
  readonly tenant?: TenantId
  /** The pipeline, plan or graph it runs. */
  readonly name: string
  readonly version?: string
  /** The execution and node that started it as a child. */
  readonly parent?: { readonly execution: ExecutionId; readonly node: string }
  readonly status: ExecutionStatus
  readonly startedAt: string
  readonly endedAt?: string
  /** Time to live of each event, also while the execution runs. */
  readonly eventTtlMs?: number
  /** Set by the process that created it, which recognises it by this if the response was lost. */
  readonly token: string
  /** The last sequence number that a forced clearing of the log removed. */
  readonly clearedUpTo: number
  readonly events: EventsPlace
  readonly variables: PartPlace
  readonly checkpoints: PartPlace
}

/** `clearing`: being removed; the execution cannot run again. */
type PartPlace = 'kept' | 'clearing' | 'gone'

/** The events that change the status of an execution. */
const LIFE_EVENTS = {
  'pipeline.started': 'running',
  'pipeline.completed': 'completed',
  'pipeline.failed': 'failed',
  'pipeline.cancelled': 'cancelled',
} as const satisfies Record<string, ExecutionStatus>

type LifeEvent = keyof typeof LIFE_EVENTS
type Answer = ExecutionStatus | 'same' | 'refuse'

/**
 * The status after an event; `same`: the event is recorded and the status does not change. There is no status before
 * `running`: the record of an execution and its first event, `pipeline.started`, are one write.
 */
const STATUS_TRANSITIONS = {
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

/** The status after an event. Throws `core/not-active` where the execution has ended. */
export function decideStatus(record: ExecutionRecord, eventType: string): ExecutionStatus {
  const row: Record<LifeEvent | 'other', Answer> = STATUS_TRANSITIONS[record.status]
  const answer = row[isLifeEvent(eventType) ? eventType : 'other']
  if (answer === 'same') return record.status
  if (answer !== 'refuse') return answer
  if (!hasEnded(record)) {
    throw new RefusedError(
      'core/started-twice',
      `record "${eventType}" in ${record.id}: it has already started`,
      { next: 'Start another execution.' },
    )
  }
  throw notActive(record, `record "${eventType}"`)
}

/** The record of an execution that runs again. Throws `core/not-active` where parts of it are gone or being removed. */
export function reopenRecord(record: ExecutionRecord): ExecutionRecord {
  if (!hasEnded(record)) return record
  if (record.events !== 'hot' || record.variables !== 'kept' || record.checkpoints !== 'kept')
    throw notActive(record, 'run again what was archived or removed')
  const entries = Object.entries(record).filter(([name]) => name !== 'endedAt')
  return { ...(Object.fromEntries(entries) as unknown as ExecutionRecord), status: 'running' }
}

function isLifeEvent(type: string): type is LifeEvent {
  return Object.hasOwn(LIFE_EVENTS, type)
}

/** Whether an event of this type is the last one of its execution. */
export function endsExecution(type: string): boolean {
  return isLifeEvent(type) && LIFE_EVENTS[type] !== 'running'
}

export function hasEnded({ status }: Pick<ExecutionRecord, 'status'>): boolean {
  return status !== 'running'
}

/** A swept execution has nothing left but its record, which stays for a while so that its id is not used again. */
export function isSwept(record: ExecutionRecord): boolean {
  return record.events === 'gone' && record.variables === 'gone' && record.checkpoints === 'gone'
}

export function notActive(record: ExecutionRecord, doing: string): RefusedError {
  const state = isSwept(record) ? `${record.status} and swept` : record.status
  return new RefusedError('core/not-active', `${doing} in execution ${record.id}: it is ${state}`, {
    details: { execution: record.id, status: record.status },
    next: 'Start another execution.',
  })
}

export function encodeRecord(record: ExecutionRecord): Uint8Array {
  return toBytes(JSON.stringify(record))
}

export function decodeRecord(bytes: Uint8Array): ExecutionRecord {
  let cause: unknown
  try {
    const record = JSON.parse(fromBytes(bytes)) as Partial<ExecutionRecord>
    if (typeof record.id === 'string' && typeof record.status === 'string') return record as ExecutionRecord
  } catch (error) {
    cause = error
  }
  throw new DefectError('core/bad-record', 'read the record of an execution: the value is not a record', {
    next: 'Check whether another program writes to this store.',
    cause,
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
