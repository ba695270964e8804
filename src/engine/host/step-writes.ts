/**
 * What a step writes, in order, and how that is cut into batches. Pure.
 *
 * - HW-1 Attempts come first, then each event with the outputs that it tells of, then indexes: whoever sees an event finds the
 *   outputs.
 * - HW-2 A step that fits into one batch is one batch. A larger one is stored as a list of writes together with the new head,
 *   and has happened then; the list is worked off batch by batch, and each batch records how far it is.
 */

import { isPeragoError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import type { NewEvent } from '../../core/events/event.ts'
import type { StoreOperation, StorePut } from '../../core/ports.ts'
import type { WrittenBy } from '../../core/variables/variable-history.ts'
import { unitsThatSet, variablesSet } from '../protocol/effects.ts'
import type { AttemptRow, Execution } from '../protocol/execution.ts'
import { isWorkflowOpen } from '../protocol/state.ts'
import { HOST_BATCH_MAX_BYTES, HOST_BATCH_MAX_EVENTS, HOST_BATCH_MAX_OPERATIONS } from '../limits.ts'
import type { Blob } from './blobs.ts'
import { eventsOfStep, type RowChanges, type StepEvent } from './step-events.ts'
import { encodeRow } from './stored-execution.ts'

export type Write = { readonly operation: StoreOperation } | { readonly event: NewEvent }

/** The order of attempts, by task id. */
export type Orders = ReadonlyMap<string, number>

export interface RowPlan extends RowChanges {
  readonly dropped: readonly string[]
  readonly orders: Orders
}

/** Which attempts changed, and the order of all. An attempt keeps its number while that sorts as the list does. */
export function planRows(before: Execution | undefined, after: Execution, stored: Orders): RowPlan {
  const known = new Map((before?.rows ?? []).map((row) => [row.record.taskId as string, row]))
  const orders = ordersOf(after.rows, stored)
  const changed = after.rows.flatMap((row) => {
    const id = row.record.taskId
    const was = known.get(id)
    known.delete(id)
    const isSame = was === row && stored.get(id) === orders.get(id)
    return isSame ? [] : [{ before: was, after: row }]
  })
  return { changed, dropped: [...known.keys()], orders }
}

function ordersOf(rows: readonly AttemptRow[], before: Orders): Orders {
  const first = rows.findIndex(({ record }) => before.has(record.taskId))
  const start = first < 0 ? 0 : (before.get(rows[first]?.record.taskId ?? '') ?? 0) - first
  const orders = new Map<string, number>()
  let last = start - 1
  for (const { record } of rows) {
    const known = before.get(record.taskId)
    last = known !== undefined && known > last ? known : last + 1
    orders.set(record.taskId, last)
  }
  return orders
}

export interface StepParts {
  readonly before: Execution | undefined
  readonly after: Execution
  readonly rows: RowPlan
  readonly rowKey: (taskId: string) => string
  readonly openKey: string
  readonly encodeVariables: (values: Readonly<Record<string, Json>>) => readonly StorePut[]
  /** What the history of variables says of such puts. */
  readonly recordVariables: (puts: readonly StorePut[], by: WrittenBy) => readonly StorePut[]
}

/** All writes of a step but its head, and the blobs that come before them. */
export function writesOfStep(parts: StepParts): {
  readonly writes: readonly Write[]
  readonly blobs: readonly Blob[]
  /** The size of each changed attempt, by task id. */
  readonly sizes: ReadonlyMap<string, number>
} {
  const { before, after, rows, rowKey, openKey } = parts
  const encoded = rows.changed.map(({ after: row }) => {
    const { value, blobs } = encodeRow(row, rows.orders.get(row.record.taskId) ?? 0)
    return {
      write: put(rowKey(row.record.taskId), value),
      blobs,
      taskId: row.record.taskId,
      bytes: value.byteLength,
    }
  })
  const drops = rows.dropped.map((id): Write => ({ operation: { do: 'delete', key: rowKey(id) } }))
  const shared = sharedPuts(parts).map((operation): Write => ({ operation }))
  const events = eventsOfStep(before, after, rows).flatMap((event) => writesOfEvent(event, parts))
  const isOpen = isWorkflowOpen(after.status)
  const wasOpen = before !== undefined && isWorkflowOpen(before.status)
  const index: readonly Write[] =
    isOpen === wasOpen
      ? []
      : [isOpen ? put(openKey, new Uint8Array()) : { operation: { do: 'delete', key: openKey } }]
  return {
    // The event that ends the execution is the last write, since none may follow it.
    writes: [...encoded.map(({ write }) => write), ...drops, ...index, ...shared, ...events],
    blobs: encoded.flatMap(({ blobs }) => blobs),
    sizes: new Map(encoded.map(({ taskId, bytes }) => [taskId, bytes])),
  }
}

/** The outputs of a unit as variables, then the event that tells of them. */
function writesOfEvent({ event, outputOf }: StepEvent, parts: StepParts): readonly Write[] {
  const outputs =
    outputOf !== undefined
      ? {
          prefix: outputOf.record.referenceTaskName,
          values: outputOf.record.output,
          by: { ...writerOf(outputOf), event: event.type },
        }
      : event.type === 'pipeline.completed'
        ? { prefix: 'pipeline.output', values: parts.after.output, by: { event: event.type } }
        : undefined
  if (outputs === undefined) return [{ event }]
  const { puts, leftOut } = encodeOutputs(outputs, parts.encodeVariables)
  const payload: JsonObject =
    leftOut.length === 0 ? {} : { notStored: leftOut.slice(0, NAMES_SHOWN), notStoredCount: leftOut.length }
  return [
    ...[...puts, ...parts.recordVariables(puts, outputs.by)].map((operation) => ({ operation })),
    { event: { ...event, payload: { ...event.payload, ...payload } } },
  ]
}

const NAMES_SHOWN = 5

/** The history also has what is overwritten in the same step. */
function sharedPuts({ before, after, encodeVariables, recordVariables }: StepParts): readonly StorePut[] {
  const encode = (values: JsonObject) => encodeOutputs({ prefix: 'shared', values }, encodeVariables).puts
  const units = unitsThatSet(before, after)
  if (units.length === 0) return []
  const records = units.flatMap((row) => recordVariables(encode(row.record.input), writerOf(row)))
  return [...encode(variablesSet(before, after)), ...records]
}

function writerOf({ record }: AttemptRow): WrittenBy {
  const { referenceTaskName: unit, retryCount, taskId, workerId } = record
  return { unit, attempt: retryCount, taskId, ...(workerId === '' ? {} : { workerId }) }
}

/** What cannot be a variable, by its name or size, is only in the attempt; the event names it. */
function encodeOutputs(
  { prefix, values }: { readonly prefix: string; readonly values: JsonObject },
  encode: StepParts['encodeVariables'],
): { readonly puts: readonly StorePut[]; readonly leftOut: readonly string[] } {
  const puts: StorePut[] = []
  const leftOut: string[] = []
  for (const [name, value] of Object.entries(values)) {
    try {
      puts.push(...encode({ [`${prefix}.${name}`]: value }))
    } catch (error) {
      if (!isPeragoError(error) || error.kind !== 'invalid') throw error
      leftOut.push(name.slice(0, 64))
    }
  }
  return { puts, leftOut }
}

/** Cuts writes into batches that the store takes, in order. Deterministic: a batch is found again by its number. */
export function cutIntoBatches(writes: readonly Write[]): readonly (readonly Write[])[] {
  const batches: Write[][] = []
  let size = { operations: 0, events: 0, bytes: 0 }
  let keys = new Set<string>()
  for (const write of writes) {
    const own = sizeOf(write)
    const sum = {
      operations: size.operations + own.operations,
      events: size.events + own.events,
      bytes: size.bytes + own.bytes,
    }
    const isFull =
      sum.operations > HOST_BATCH_MAX_OPERATIONS ||
      sum.events > HOST_BATCH_MAX_EVENTS ||
      sum.bytes > HOST_BATCH_MAX_BYTES ||
      // One key has one operation per batch.
      ('operation' in write && keys.has(write.operation.key))
    const last = batches.at(-1)
    if (last === undefined || isFull) {
      batches.push([write])
      size = own
      keys = new Set()
    } else {
      last.push(write)
      size = sum
    }
    if ('operation' in write) keys.add(write.operation.key)
  }
  return batches
}

/** An event is an entry of the log, the latest of its type, and an entry of the outbox. */
const OPERATIONS_PER_EVENT = 3

function sizeOf(write: Write): {
  readonly operations: number
  readonly events: number
  readonly bytes: number
} {
  if ('event' in write) {
    const bytes = OPERATIONS_PER_EVENT * (JSON.stringify(write.event).length + 200)
    return { operations: OPERATIONS_PER_EVENT, events: 1, bytes }
  }
  const { operation } = write
  const bytes = operation.key.length + (operation.do === 'put' ? operation.value.byteLength : 0)
  return { operations: 1, events: 0, bytes }
}

/** Writes as text, to be stored. */
export function encodeWrites(writes: readonly Write[]): string {
  return JSON.stringify(
    writes.map((write) => {
      if ('event' in write) return write
      const { operation } = write
      return operation.do === 'put'
        ? { put: operation.key, value: Buffer.from(operation.value).toString('base64') }
        : { drop: operation.key }
    }),
  )
}

export function decodeWrites(text: string): readonly Write[] {
  const stored = JSON.parse(text) as readonly (
    | { readonly event: NewEvent }
    | { readonly put: string; readonly value: string }
    | { readonly drop: string }
  )[]
  return stored.map((each) => {
    if ('event' in each) return each
    if ('drop' in each) return { operation: { do: 'delete', key: each.drop } }
    return put(each.put, new Uint8Array(Buffer.from(each.value, 'base64')))
  })
}

function put(key: string, value: Uint8Array): Write {
  return { operation: { do: 'put', key, value } }
}
