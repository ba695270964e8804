/**
 * The working copy of an execution during one decision: rows are changed in place and found by name, so that the cost of a
 * decision grows with the units and not with their square. `finish` returns a value again, the same one if nothing changed.
 */

import type { TaskId } from '../../fences/attempt-snapshot.ts'
import type { TaskRecord } from '../../worker/ports.ts'
import {
  changedRow,
  childrenLeftBy,
  placesOf,
  rememberPlaces,
  type AttemptRow,
  type Execution,
  type Moment,
  type Places,
  type RowChange,
} from './execution.ts'
import { indexOf, type GraphIndex } from './graph-index.ts'
import { moveStage, type Stage } from './stages.ts'
import { isTaskOpen } from './state.ts'

type Fields = Omit<Execution, 'rows' | 'stage' | 'moves'>

export class Step {
  readonly moment: Moment
  readonly index: GraphIndex
  /** How many attempts ended in this step. */
  ends = 0
  /** By name, as SET_VARIABLE set them in this step: the host has not stored them yet. */
  readonly setNow = new Map<string, unknown>()
  #hasWaiting = false
  readonly #before: Execution
  #execution: Execution
  #rows: AttemptRow[] | undefined
  /** Places that differ from those of the execution, because rows were added or dropped. */
  #added: Places | undefined
  #lastSeq: number | undefined
  #lastEnd: number | undefined

  constructor(execution: Execution, moment: Moment) {
    this.#before = execution
    this.#execution = execution
    this.moment = moment
    this.index = indexOf(execution.graph)
  }

  /** Everything but the rows is up to date in it. */
  get execution(): Omit<Execution, 'rows'> {
    return this.#execution
  }

  get rows(): readonly AttemptRow[] {
    return this.#rows ?? this.#execution.rows
  }

  get stage(): Stage {
    return this.#execution.stage
  }

  latest(reference: string): AttemptRow | undefined {
    const at = this.#find().latest.get(reference)
    return at === undefined ? undefined : this.rows[at]
  }

  set(fields: Partial<Fields>): void {
    this.#execution = { ...this.#execution, ...fields }
  }

  move(to: Stage): void {
    this.#execution = moveStage(this.#execution, to, this.moment.nowMs)
  }

  add(row: AttemptRow): AttemptRow {
    const rows = this.#own()
    const { byId, latest } = (this.#added ??= copyOf(this.#find()))
    byId.set(row.record.taskId, rows.length)
    latest.set(row.record.referenceTaskName, rows.length)
    const lastSeq = this.nextSeq() - 1
    rows.push(row)
    this.#lastSeq = Math.max(lastSeq, row.record.seq)
    return row
  }

  /** Returns the row as it is then. */
  change(row: AttemptRow, change: RowChange): AttemptRow {
    const at = this.#find().byId.get(row.record.taskId)
    const was = at === undefined ? undefined : this.rows[at]
    if (at === undefined || was === undefined) throw new Error(`no row of task ${row.record.taskId}`)
    const changed = changedRow(was, change)
    this.#own()[at] = changed
    return changed
  }

  /** Ends an open attempt. What ended well is counted, so that it can be undone in reverse order. */
  end(row: AttemptRow, ended: Partial<TaskRecord> & Pick<TaskRecord, 'status'>, rest: RowChange = {}): void {
    this.ends += 1
    const isWell = ended.status === 'COMPLETED' || ended.status === 'COMPLETED_WITH_ERRORS'
    this.change(row, {
      ...rest,
      queuedFromMs: undefined,
      wakeMs: undefined,
      timeoutMs: undefined,
      ...(isWell ? { endOrder: this.#nextEnd() } : {}),
      record: { updateTimeMs: this.moment.nowMs, ...ended },
    })
  }

  cancelOpen(which: (row: AttemptRow) => boolean = () => true): void {
    for (const row of this.rows)
      if (isTaskOpen(row.record.status) && which(row)) this.end(row, { status: 'CANCELED' })
  }

  /** Another attempt at the whole, after a rollback. */
  startAgain(): void {
    const { attempt } = this.#execution
    const childrenLeft = childrenLeftBy({ ...this.#execution, rows: this.rows })
    const startTimeMs = this.moment.nowMs
    this.set({
      attempt: attempt + 1,
      startTimeMs,
      output: {},
      variables: {},
      ending: undefined,
      childrenLeft,
    })
    this.#rows = []
    this.#added = { byId: new Map(), latest: new Map() }
    this.#lastSeq = undefined
    this.#lastEnd = undefined
  }

  /** A unit waits for a condition that this step itself may still make true. */
  noteWaiting(): void {
    this.#hasWaiting = true
  }

  /** Whether a unit did since this was last asked. */
  takeWaiting(): boolean {
    const had = this.#hasWaiting
    this.#hasWaiting = false
    return had
  }

  nextSeq(): number {
    this.#lastSeq ??= this.rows.reduce((last, { record }) => Math.max(last, record.seq), 0)
    return this.#lastSeq + 1
  }

  nextTaskId(): TaskId {
    return this.moment.nextTaskId()
  }

  finish(): Execution {
    const { nowMs } = this.moment
    if (this.#rows !== undefined) {
      rememberPlaces(this.#rows, this.#find())
      return { ...this.#execution, rows: this.#rows, updatedMs: nowMs }
    }
    return this.#execution === this.#before ? this.#before : { ...this.#execution, updatedMs: nowMs }
  }

  #nextEnd(): number {
    this.#lastEnd ??= this.rows.reduce((last, { endOrder = 0 }) => Math.max(last, endOrder), 0)
    return ++this.#lastEnd
  }

  #own(): AttemptRow[] {
    return (this.#rows ??= [...this.#execution.rows])
  }

  #find(): Places {
    return this.#added ?? placesOf(this.#execution.rows)
  }
}

function copyOf({ byId, latest }: Places): Places {
  return { byId: new Map(byId), latest: new Map(latest) }
}
