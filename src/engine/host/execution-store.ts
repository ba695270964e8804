/** Reads and writes executions, one step at a time. */

import { randomUUID } from 'node:crypto'
import { RefusedError, UnavailableError, UncertainError, errorKindOf } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import { engineIndexPrefix, engineTasksKey, executionId, type ExecutionId } from '../../core/keys.ts'
import type { NewEvent } from '../../core/events/event.ts'
import { fromBytes, toBytes } from '../../core/json.ts'
import type { StepWriter } from '../../core/life-cycle/steps.ts'
import { decodeRecord } from '../../core/namespaces/execution-record.ts'
import type { WritePace } from '../../core/namespaces/guarded-write.ts'
import type { StoreCondition, StorePut } from '../../core/ports.ts'
import { readPages } from '../../core/read-pages.ts'
import type { WorkflowId } from '../../fences/attempt-snapshot.ts'
import type { AttemptRow, Execution } from '../protocol/execution.ts'
import { isWorkflowOpen } from '../protocol/state.ts'
import { EXECUTION_STATE_RESERVE_BYTES, HOST_STALE_TRIES_MAX } from '../limits.ts'
import { packBlob, readBlob, refOf, writeBlobs, type Blob, type BlobRef } from './blobs.ts'
import type { DefinitionStore } from './definition-store.ts'
import {
  cutIntoBatches,
  decodeWrites,
  encodeWrites,
  planRows,
  writesOfStep,
  type Orders,
  type RowPlan,
  type Write,
} from './step-writes.ts'
import {
  decodeHead,
  decodeRow,
  encodeFields,
  encodeHead,
  putBack,
  type Head,
  type StoredRow,
} from './stored-execution.ts'
import { digitsOfTask } from './task-ids.ts'

/** An execution as stored at one moment. */
export interface Kept {
  readonly execution: Execution
  readonly head: Head
  readonly revision: number
  readonly orders: Orders
  /** What its parts take in the store, by task id and by digest. */
  readonly sizes: ReadonlyMap<string, number>
}

export interface WrittenStep {
  readonly kept: Kept
  readonly rows: RowPlan
  /** What it wrote into the log of the execution. */
  readonly log: readonly NewEvent[]
}

type Place = Pick<Kept, 'head' | 'revision'>

interface HeadWrite {
  readonly head: Head
  readonly from: number
  readonly writes: readonly Write[]
  readonly reopens: boolean
}

export interface CreateOptions {
  readonly parent?: { readonly id: string; readonly node: string } | undefined
  /** A digest of the request that started it, kept with it: the same request is recognised when it is sent again. */
  readonly request?: string | undefined
}

export interface ExecutionStoreParts {
  readonly steps: StepWriter
  readonly definitions: DefinitionStore
  readonly pace: WritePace
  readonly stateMaxBytes: number
}

export class ExecutionStore {
  readonly #parts: ExecutionStoreParts

  constructor(parts: ExecutionStoreParts) {
    this.#parts = parts
  }

  /** Stores a new execution, before anything is decided about it. */
  async create(execution: Execution, { parent, request }: CreateOptions = {}): Promise<Kept> {
    const { steps, definitions } = this.#parts
    const id = executionId(execution.workflowId)
    const { digest, shared } = await definitions.keep(execution)
    const whole = { ...execution, ...shared }
    const { value, blobs } = encodeFields(whole)
    await this.#writeBlobs(id, blobs)
    const head: Head = { format: 1, token: randomUUID(), definition: digest, ...value }
    const { name, version } = execution.graph
    const inputs = inputsAsVariables(execution.input)
    const revision = await steps.start(
      {
        ...{ id, name, version: String(version), inputs },
        ...(parent === undefined ? {} : { parent: { execution: executionId(parent.id), node: parent.node } }),
      },
      {
        state: this.#headPut(id, head),
        along: (startedAt) => [
          { do: 'put', key: this.#openKey(id), value: new Uint8Array() },
          { do: 'put', key: steps.keysOf(id).engineTasks(), value: toBytes(id) },
          {
            do: 'put',
            key: steps.keysOf(id).listed(startedAt),
            value: toBytes(JSON.stringify({ name, version })),
          },
          ...(request === undefined
            ? []
            : [{ do: 'put', key: this.#requestKey(id), value: toBytes(request) } as const]),
        ],
      },
    )
    return { execution: whole, head, revision, orders: new Map(), sizes: sizesOf(blobs) }
  }

  /** `undefined` where there is none. */
  async load(workflowId: string): Promise<Kept | undefined> {
    const { store } = this.#parts.steps
    const id = executionId(workflowId)
    // Read again where a step came between the head and the attempts.
    for (let tries = 0; tries < HOST_STALE_TRIES_MAX; tries += 1) {
      const entry = await store.get(this.#headKey(id))
      if (entry === undefined) return undefined
      const head = decodeHead(entry.value)
      const rows = await this.#readRows(id, head)
      if ((await store.get(this.#headKey(id)))?.revision !== entry.revision) continue
      return this.#assemble(id, { head, revision: entry.revision }, rows)
    }
    throw new UnavailableError('engine/contended', `read execution ${id}: it changed during each try`, {
      next: 'Try again.',
    })
  }

  /** Writes a step. Throws `core/stale` where somebody else has written one meanwhile. */
  async write(kept: Kept, after: Execution): Promise<WrittenStep> {
    const id = executionId(after.workflowId)
    const { execution: before } = kept
    const rows = planRows(before, after, kept.orders)
    const rowPrefix = this.#rowPrefix(id)
    const step = writesOfStep({
      ...{ before, after, rows },
      rowKey: (taskId) => rowPrefix + taskId,
      openKey: this.#openKey(id),
      encodeVariables: (values) => this.#parts.steps.encodeVariables(id, values),
      recordVariables: (puts, by) => this.#parts.steps.recordVariables(id, puts, by),
    })
    const fields = encodeFields(after)
    // Units that share a value share its blob.
    const found = new Map([...step.blobs, ...fields.blobs].map((blob) => [blob.digest, blob]))
    const blobs = [...found.values()].filter(({ digest }) => !kept.sizes.has(digest))
    const sizes = new Map([...kept.sizes, ...step.sizes, ...sizesOf(blobs)])
    for (const taskId of rows.dropped) sizes.delete(taskId)
    const reserveBytes = after.ending?.status === 'FAILED' ? EXECUTION_STATE_RESERVE_BYTES : 0
    requireStateFits(id, sizes, this.#parts.stateMaxBytes + reserveBytes)
    await this.#writeBlobs(id, blobs)
    const head: Head = { ...kept.head, ...fields.value, token: randomUUID() }
    // What was rolled back after its end may end again in the same step; its log is open for that.
    const endsAgain = !isWorkflowOpen(after.status) && step.writes.some(isEvent)
    const reopens = !isWorkflowOpen(before.status) && (isWorkflowOpen(after.status) || endsAgain)
    const written = await this.#writeAll(id, { head, from: kept.revision, writes: step.writes, reopens })
    const log = step.writes.filter(isEvent).map(({ event }) => event)
    return { kept: { execution: after, orders: rows.orders, sizes, ...written }, rows, log }
  }

  /** Holds as long as this is what was stored last. */
  conditionOn({ execution, revision }: Kept): StoreCondition {
    return { key: this.#headKey(executionId(execution.workflowId)), is: 'at', revision }
  }

  /** Finishes a large step that was interrupted. */
  async finish(kept: Kept): Promise<Kept> {
    const { redo } = kept.head
    if (redo === undefined) return kept
    const id = executionId(kept.execution.workflowId)
    const batches = cutIntoBatches(decodeWrites(await this.#readBlob(id, redo.writes)))
    return { ...kept, ...(await this.#workOff(id, kept, batches)) }
  }

  /** The digest that it was started with. */
  async readRequest(workflowId: string): Promise<string | undefined> {
    const entry = await this.#parts.steps.store.get(this.#requestKey(executionId(workflowId)))
    return entry === undefined ? undefined : fromBytes(entry.value)
  }

  async *listOpen(): AsyncGenerator<WorkflowId, void, undefined> {
    const { store, tenant } = this.#parts.steps
    const prefix = engineIndexPrefix('open', tenant)
    for await (const page of readPages(store, { prefix }))
      for (const { key } of page) yield key.slice(prefix.length) as WorkflowId
  }

  /** The execution that a task belongs to, if there is one. */
  async ownerOf(taskId: string): Promise<WorkflowId | undefined> {
    const digits = digitsOfTask(taskId)
    if (digits === undefined) return undefined
    const entry = await this.#parts.steps.store.get(engineTasksKey(digits))
    return entry === undefined ? undefined : (fromBytes(entry.value) as WorkflowId)
  }

  /** Removes the state of an ended execution; its log stays until its retention time is over. */
  async remove(workflowId: string): Promise<void> {
    const { steps } = this.#parts
    const keys = steps.keysOf(executionId(workflowId))
    const record = await steps.store.get(keys.record)
    const listed = record === undefined ? [] : [keys.listed(decodeRecord(record.value).startedAt)]
    // The head first: without it there is no execution, whatever else is left.
    for (const key of [`${keys.engine}head`, keys.engineTasks(), ...listed])
      await steps.store.commit({ operations: [{ do: 'delete', key }] })
    await steps.store.clear(keys.engine)
  }

  async #assemble(id: ExecutionId, place: Place, rows: readonly (StoredRow & Sized)[]): Promise<Kept> {
    const { head } = place
    const read = this.#sharedReader(id)
    const fields = await whole(head.fields, head.large, read)
    const definition = await this.#parts.definitions.read(head.definition)
    const attempts: AttemptRow[] = []
    const sizes = new Map(Object.values(head.large).map(({ digest, bytes }) => [digest, bytes]))
    const orders = new Map<string, number>()
    for (const { row, order, large, bytes } of rows) {
      const record = await whole(row.record as Readonly<Record<string, Json>>, large, read)
      const attempt = { ...row, record } as unknown as AttemptRow
      attempts.push(attempt)
      orders.set(attempt.record.taskId, order)
      sizes.set(attempt.record.taskId, bytes)
      for (const ref of Object.values(large)) sizes.set(ref.digest, ref.bytes)
    }
    const execution = { ...fields, ...definition, rows: attempts } as unknown as Execution
    return { ...place, execution, orders, sizes }
  }

  async #writeAll(id: ExecutionId, step: HeadWrite): Promise<Place> {
    const { head, from, writes, reopens } = step
    const [only, ...others] = cutIntoBatches(writes)
    if (others.length === 0)
      return { head, revision: await this.#writeHead(id, { ...step, writes: only ?? [] }) }
    // An execution that runs again says so before anything else is added to its log.
    const first = reopens
      ? writes.filter(isEvent).filter(({ event }) => event.type === 'pipeline.resumed' || !isOpenAfter(head))
      : []
    const list = writes.filter((write) => !(first as readonly Write[]).includes(write))
    const blob = packBlob(encodeWrites(list))
    await this.#writeBlobs(id, [blob])
    const begun: Head = { ...head, redo: { writes: refOf(blob), done: 0 } }
    const revision = await this.#writeHead(id, { head: begun, from, writes: first, reopens })
    try {
      return await this.#workOff(id, { head: begun, revision }, cutIntoBatches(list))
    } catch (error) {
      // The step has happened; only what follows from it is not written everywhere yet.
      if (errorKindOf(error) !== 'unavailable') throw error
      throw new UncertainError(
        'engine/step-unfinished',
        `write a large step of execution ${id}: the store went away before all of it was written`,
        { cause: error, read: 'the execution' },
      )
    }
  }

  async #workOff(id: ExecutionId, from: Place, batches: readonly (readonly Write[])[]): Promise<Place> {
    let { head, revision } = from
    for (const [index, writes] of batches.entries()) {
      const { redo, ...rest } = head
      if (redo === undefined || index < redo.done) continue
      const isLast = index === batches.length - 1
      const next: Head = isLast ? rest : { ...rest, redo: { ...redo, done: index + 1 } }
      head = { ...next, token: randomUUID() }
      revision = await this.#writeHead(id, { head, from: revision, writes, reopens: false })
    }
    return { head, revision }
  }

  #writeHead(id: ExecutionId, { head, from, writes, reopens }: HeadWrite): Promise<number> {
    return this.#parts.steps.write(id, {
      state: this.#headPut(id, head),
      from,
      along: writes.flatMap((write) => ('operation' in write ? [write.operation] : [])),
      events: writes.filter(isEvent).map(({ event }) => event),
      ...(reopens ? { reopens } : {}),
      ...(isOpenAfter(head) ? {} : { staysEnded: true }),
    })
  }

  async #readRows(id: ExecutionId, { redo }: Head): Promise<readonly (StoredRow & Sized)[]> {
    const prefix = this.#rowPrefix(id)
    const found = new Map<string, Uint8Array>()
    for await (const page of readPages(this.#parts.steps.store, { prefix, limit: ROWS_PER_PAGE }))
      for (const { key, value } of page) found.set(key, value)
    const pending = redo === undefined ? [] : decodeWrites(await this.#readBlob(id, redo.writes))
    for (const write of pending) {
      if (isEvent(write) || !write.operation.key.startsWith(prefix)) continue
      const { operation } = write
      if (operation.do === 'put') found.set(operation.key, operation.value)
      else found.delete(operation.key)
    }
    return [...found.values()]
      .map((value) => ({ ...decodeRow(value), bytes: value.byteLength }))
      .sort((a, b) => a.order - b.order)
  }

  /** Reads each value once: what units shared, they share again. */
  #sharedReader(id: ExecutionId): (ref: BlobRef) => Promise<Json> {
    const values = new Map<string, Json>()
    return async (ref) => {
      const known = values.get(ref.digest)
      if (known !== undefined) return known
      const value = JSON.parse(await this.#readBlob(id, ref)) as Json
      values.set(ref.digest, value)
      return value
    }
  }

  #readBlob(id: ExecutionId, ref: BlobRef): Promise<string> {
    return readBlob({ store: this.#parts.steps.store, prefix: this.#blobPrefix(id) }, ref)
  }

  #writeBlobs(id: ExecutionId, blobs: readonly Blob[]): Promise<void> {
    const { steps, pace } = this.#parts
    return writeBlobs({ store: steps.store, prefix: this.#blobPrefix(id), pace }, blobs)
  }

  #headPut(id: ExecutionId, head: Head): StorePut {
    return { do: 'put', key: this.#headKey(id), value: encodeHead(head) }
  }

  #headKey(id: ExecutionId): string {
    return `${this.#parts.steps.keysOf(id).engine}head`
  }

  #requestKey(id: ExecutionId): string {
    return `${this.#parts.steps.keysOf(id).engine}request`
  }

  #rowPrefix(id: ExecutionId): string {
    return `${this.#parts.steps.keysOf(id).engine}row:`
  }

  #blobPrefix(id: ExecutionId): string {
    return `${this.#parts.steps.keysOf(id).engine}blob:`
  }

  #openKey(id: ExecutionId): string {
    return `${engineIndexPrefix('open', this.#parts.steps.tenant)}${id}`
  }
}

async function whole(
  small: Readonly<Record<string, Json>>,
  large: Readonly<Record<string, BlobRef>>,
  read: (ref: BlobRef) => Promise<Json>,
): Promise<Readonly<Record<string, Json>>> {
  const members = { ...small }
  for (const [path, ref] of Object.entries(large)) putBack(members, path, await read(ref))
  return members
}

interface Sized {
  readonly bytes: number
}

const ROWS_PER_PAGE = 500
const INPUTS_MAX = 60
const INPUTS_MAX_BYTES = 200_000

/** Inputs that can be variables, by name and size; the execution itself has all of them. */
function inputsAsVariables(input: Execution['input']): Readonly<Record<string, Json>> {
  const fitting: [string, Json][] = []
  let bytes = 0
  for (const [name, value] of Object.entries(input)) {
    const size = Buffer.byteLength(JSON.stringify(value))
    const isNamed = /^[A-Za-z0-9_-]{1,128}$/.test(name)
    if (!isNamed || fitting.length >= INPUTS_MAX || bytes + size > INPUTS_MAX_BYTES) continue
    bytes += size
    fitting.push([name, value])
  }
  return Object.fromEntries(fitting)
}

export const STATE_TOO_LARGE = 'engine/state-too-large'

function requireStateFits(id: ExecutionId, sizes: ReadonlyMap<string, number>, maxBytes: number): void {
  let stateBytes = 0
  for (const bytes of sizes.values()) stateBytes += bytes
  if (stateBytes <= maxBytes) return
  throw new RefusedError(
    'engine/state-too-large',
    `write a step of execution ${id}: its state would have ${stateBytes} bytes, the maximum is ${maxBytes}`,
    { next: 'Publish large data in the workspace, and pass a reference.' },
  )
}

function sizesOf(blobs: readonly Blob[]): ReadonlyMap<string, number> {
  return new Map(blobs.map(({ digest, bytes }) => [digest, bytes]))
}

function isOpenAfter({ fields }: Head): boolean {
  return isWorkflowOpen(fields['status'] as Execution['status'])
}

function isEvent(write: Write): write is Extract<Write, { event: unknown }> {
  return 'event' in write
}
