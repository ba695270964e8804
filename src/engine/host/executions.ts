/**
 * The executions that this instance runs: in memory as they are in the store, and changed by steps that are stored first.
 *
 * - HO-A The steps of one execution happen one after the other.
 * - HO-B What is in memory is what was stored last, but for renewals of leases: those are only in memory, and count from the
 *   moment in which an instance takes an execution over.
 * - HO-C After an error whose outcome is unknown the execution is read again before anything else happens to it.
 */

import type { Clock } from '../../base/clock.ts'
import {
  UnavailableError,
  errorKindOf,
  isPeragoError,
  messageOf,
  type PeragoError,
} from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import type { Random } from '../../base/random.ts'
import type { TaskId, WorkflowId } from '../../fences/attempt-snapshot.ts'
import { HOST_POLLER_ALIVE_MS, HOST_STALE_TRIES_MAX } from '../limits.ts'
import { nextDeadlineMs } from '../protocol/deadlines.ts'
import type { AttemptRow, ChildEnd, Execution, Moment } from '../protocol/execution.ts'
import { failExecution } from '../protocol/fail-execution.ts'
import { chooseDomain } from '../protocol/queue.ts'
import { isWorkflowOpen } from '../protocol/state.ts'
import type { GraphLimits } from '../graph/problems.ts'
import type { EngineObserver } from '../telemetry/engine-events.ts'
import { DueTimes } from './due-times.ts'
import type { Facts, FactualPart } from './facts.ts'
import {
  STATE_TOO_LARGE,
  type CreateOptions,
  type ExecutionStore,
  type Kept,
  type WrittenStep,
} from './execution-store.ts'
import type { HandOuts } from './hand-outs.ts'
import { KeyLocks } from './key-locks.ts'
import type { EngineTime } from './engine-time.ts'
import { Rooms } from './rooms.ts'
import type { RowChanges } from './step-events.ts'
import type { RowPlan } from './step-writes.ts'
import { makeTaskId } from './task-ids.ts'

/** What a rule makes of an execution, and what its caller wants to know. */
export interface Decision<T> {
  readonly execution: Execution
  readonly answer: T
}

export type Decide<T> = (execution: Execution, moment: Moment) => Decision<T>

export interface ExecutionsParts {
  readonly store: ExecutionStore
  readonly clock: Clock
  readonly time: EngineTime
  readonly random: Random
  readonly logger: Logger
  readonly digitsOf: (workflowId: WorkflowId) => string
  readonly facts: Facts
  readonly queue: HandOuts
  readonly graphLimits: GraphLimits
  /** How many may execute at the same time. */
  readonly atOnceMax: number
  readonly observe: EngineObserver
  /** Does what follows from a stored step elsewhere. */
  readonly follow: (execution: Execution) => Promise<void>
  /** Asked after each step, before anything of it is handed out; `false`: not yet. Does not throw. */
  readonly mayHandOut: (kept: Kept) => Promise<boolean>
}

interface Changed<T> extends Decision<T> {
  readonly isStep: boolean
  /** Why the step that was wanted is not stored; the execution has failed instead. */
  readonly refusal: PeragoError | undefined
}

interface Refusal {
  readonly error: PeragoError
  /** What could not be stored. */
  readonly refused: Execution
}

export class Executions {
  readonly queue: HandOuts
  readonly due = new DueTimes()
  readonly #parts: ExecutionsParts
  readonly #held = new Map<WorkflowId, Kept>()
  readonly #locks = new KeyLocks()
  readonly #rooms: Rooms
  /** Executions with a step whose consequences elsewhere are still to be done. */
  readonly #unfollowed = new Set<WorkflowId>()
  /** Executions of which nothing is handed out for now. */
  readonly #heldBack = new Set<WorkflowId>()
  /** Called when the earliest due time may have changed. */
  onDue: () => void = () => undefined

  constructor(parts: ExecutionsParts) {
    this.#parts = parts
    this.queue = parts.queue
    this.#rooms = new Rooms(parts.atOnceMax, (workflowId) => this.wake(workflowId))
  }

  nowMs(): number {
    return this.#parts.time.nowMs()
  }

  /** The open ones, and those that have ended and wait for their last checkpoint. */
  *held(): Iterable<Execution> {
    for (const { execution } of this.#held.values()) yield execution
  }

  get count(): number {
    return this.#held.size
  }

  /** As stored last, ended ones too. */
  async read(workflowId: WorkflowId): Promise<Execution | undefined> {
    const held = this.#held.get(workflowId) ?? (await this.#parts.store.load(workflowId))
    return held?.execution
  }

  /** The execution of a task. */
  async ownerOf(taskId: TaskId): Promise<WorkflowId | undefined> {
    return this.queue.ownerOf(taskId) ?? (await this.#parts.store.ownerOf(taskId))
  }

  /** Stores a new execution. */
  async add(execution: Execution, options?: CreateOptions): Promise<void> {
    await this.#locks.run(execution.workflowId, async () => {
      const startMs = this.#parts.clock.monotonicMs()
      try {
        const kept = await this.#parts.store.create(execution, options)
        this.#tell(undefined, { kept, rows: { changed: [] }, log: [] }, startMs)
        await this.#hold(kept)
      } catch (error) {
        // It may be stored: then it runs, whether its caller asks again or not.
        if (errorKindOf(error) === 'uncertain') this.#doubt(execution.workflowId)
        throw error
      }
    })
  }

  /** Reads an open execution that another instance ran before. */
  async takeOver(workflowId: WorkflowId): Promise<void> {
    await this.#locks.run(workflowId, async () => {
      const kept = await this.#load(workflowId)
      // It may have ended since the open ones were listed.
      if (kept !== undefined && isWorkflowOpen(kept.execution.status)) await this.#hold(kept)
    })
  }

  /** One step. Resolves once it is stored; `undefined` where there is no such execution. */
  async change<T>(workflowId: WorkflowId, decide: Decide<T>, atMs?: number): Promise<T | undefined> {
    const changed = await this.#locks.run(workflowId, () => this.#change(workflowId, decide, atMs))
    if (changed === undefined) return undefined
    const { execution, answer, isStep, refusal } = changed
    if (isStep || this.#unfollowed.has(workflowId)) await this.#follow(execution)
    if (refusal !== undefined) throw refusal
    return answer
  }

  async #change<T>(
    workflowId: WorkflowId,
    decide: Decide<T>,
    atMs: number | undefined,
  ): Promise<Changed<T> | undefined> {
    let refusal: Refusal | undefined
    for (let tries = 0; tries < HOST_STALE_TRIES_MAX; tries += 1) {
      const kept = this.#held.get(workflowId) ?? (await this.#load(workflowId))
      if (kept === undefined) return undefined
      const startMs = this.#parts.clock.monotonicMs()
      const decided = await this.#settle(
        kept.execution,
        refusal === undefined ? decide : failing(refusal),
        atMs,
      )
      const { execution, answer } = decided
      const changed = { execution, answer: answer as T, refusal: refusal?.error }
      if (execution === kept.execution) {
        if (isWorkflowOpen(execution.status)) await this.#hold(kept)
        return { ...changed, isStep: false }
      }
      try {
        if (await this.#write(kept, execution, startMs)) return { ...changed, isStep: true }
      } catch (error) {
        if (refusal !== undefined || !isTooLarge(error) || !isWorkflowOpen(kept.execution.status)) throw error
        refusal = { error, refused: execution }
      }
    }
    throw new UnavailableError(
      'engine/contended',
      `change execution ${workflowId}: another instance changes it`,
      { next: 'Try again, and check that one instance runs the executions of this store.' },
    )
  }

  /** Asks again whether what was held back may be handed out. */
  async offer(workflowId: WorkflowId): Promise<void> {
    await this.change(workflowId, (execution) => ({ execution, answer: undefined }))
  }

  /** Does again what follows from the last step of an execution. */
  async followAgain(workflowId: WorkflowId): Promise<void> {
    const execution = await this.read(workflowId)
    if (execution !== undefined) await this.#follow(execution)
  }

  /** The step is stored and counts, whatever happens here: what fails is tried again. */
  async #follow(execution: Execution): Promise<void> {
    const { workflowId } = execution
    this.#unfollowed.add(workflowId)
    try {
      await this.#parts.follow(execution)
      // What is held back starts no children; it is followed again when it is not any more.
      if (!this.isHeldBack(workflowId)) this.#unfollowed.delete(workflowId)
    } catch (error) {
      this.#parts.logger.warn('what follows from a step could not be done', { workflowId, error })
      this.due.set(workflowId, this.nowMs() + DOUBT_INTERVAL_MS)
      this.onDue()
    }
  }

  /** Moves the lease of an attempt, in memory only. */
  renew(workflowId: WorkflowId, renewed: (execution: Execution) => Execution): Promise<void> {
    // In turn with the steps: one that is being stored would undo it.
    return this.#locks.run(workflowId, () => {
      const kept = this.#held.get(workflowId)
      const execution = kept === undefined ? undefined : renewed(kept.execution)
      if (kept === undefined || execution === undefined || execution === kept.execution)
        return Promise.resolve()
      this.#held.set(workflowId, { ...kept, execution })
      this.#setDue(execution)
      return Promise.resolve()
    })
  }

  /** How an execution ended; `undefined` where it runs or does not exist. */
  async readEnd(workflowId: WorkflowId): Promise<ChildEnd | undefined> {
    const execution = await this.read(workflowId)
    if (execution === undefined) return undefined
    const { status, output, reasonForIncompletion: reason } = execution
    return status === 'RUNNING' || status === 'PAUSED' ? undefined : { status, output, reason }
  }

  isHeld(workflowId: WorkflowId): boolean {
    return this.#held.has(workflowId)
  }

  /** What is in memory. */
  peek(workflowId: WorkflowId): Execution | undefined {
    return this.#held.get(workflowId)?.execution
  }

  /** Whether nothing of it is handed out for now. */
  isHeldBack(workflowId: WorkflowId): boolean {
    return this.#heldBack.has(workflowId)
  }

  /** Looks at it soon. */
  wake(workflowId: WorkflowId): void {
    this.due.set(workflowId, this.nowMs())
    this.onDue()
  }

  /** Notes when this execution has to be looked at next. */
  setDue(workflowId: WorkflowId): void {
    const kept = this.#held.get(workflowId)
    if (kept !== undefined) this.#setDue(kept.execution)
  }

  /** Drops one from memory; it is read again when it is needed. */
  forget(workflowId: WorkflowId): void {
    const kept = this.#held.get(workflowId)
    if (kept === undefined) return
    this.#held.delete(workflowId)
    this.#heldBack.delete(workflowId)
    this.queue.forget(kept.execution)
    this.due.set(workflowId, undefined)
    this.#parts.facts.forget(workflowId)
    this.#rooms.leave(workflowId)
  }

  remove(workflowId: WorkflowId): Promise<void> {
    return this.#locks.run(workflowId, async () => {
      this.forget(workflowId)
      await this.#parts.store.remove(workflowId)
    })
  }

  clear(): void {
    this.#held.clear()
    this.#heldBack.clear()
    this.queue.clear()
    this.due.clear()
    this.#rooms.clear()
    this.#parts.facts.clear()
  }

  /** Resolves when what is being done with it now has ended. */
  untilSettled(workflowId: WorkflowId): Promise<void> {
    return this.#locks.run(workflowId, () => Promise.resolve())
  }

  idle(): Promise<void> {
    return this.#locks.idle()
  }

  /** `false`: somebody else has changed it; it is to be read and decided again. */
  async #write(kept: Kept, execution: Execution, startMs: number): Promise<boolean> {
    const { workflowId } = execution
    try {
      const written = await this.#parts.store.write(kept, execution)
      this.#tell(kept.execution, written, startMs)
      const isHeld = this.#held.has(workflowId)
      await this.#adopt(written.kept, isHeld ? written.rows : undefined)
      return true
    } catch (error) {
      if (isPeragoError(error) && (error.code === 'core/stale' || error.code === 'core/not-active')) {
        this.forget(workflowId)
        return false
      }
      // What is too large was not sent.
      if (errorKindOf(error) !== 'unavailable' && !isTooLarge(error)) this.#doubt(workflowId)
      throw error
    }
  }

  #tell(before: Execution | undefined, { kept, rows, log }: ToldStep, startMs: number): void {
    const { clock, observe } = this.#parts
    const durationMs = clock.monotonicMs() - startMs
    observe({ kind: 'step', before, after: kept.execution, rows: rows.changed, log, durationMs })
  }

  /** Nobody knows what is stored: it is out of memory until it has been read, which is tried at once and then again. */
  #doubt(workflowId: WorkflowId): void {
    this.forget(workflowId)
    this.due.set(workflowId, this.nowMs() + DOUBT_INTERVAL_MS)
    this.onDue()
  }

  async #load(workflowId: WorkflowId): Promise<Kept | undefined> {
    const { store } = this.#parts
    const found = await store.load(workflowId)
    if (found === undefined) return undefined
    const kept = await store.finish(found)
    const nowMs = this.nowMs()
    return isWorkflowOpen(kept.execution.status)
      ? { ...kept, execution: withLeasesFrom(kept.execution, nowMs) }
      : kept
  }

  async #hold(kept: Kept): Promise<void> {
    const { workflowId } = kept.execution
    const before = this.#held.get(workflowId)
    if (before === kept && !this.isHeldBack(workflowId)) return
    if (before !== undefined && before !== kept) this.queue.forget(before.execution)
    await this.#adopt(kept, undefined)
  }

  /** `step`: what was stored after what is held. */
  async #adopt(kept: Kept, step: RowPlan | undefined): Promise<void> {
    const { execution } = kept
    const { workflowId } = execution
    // At once: taking a checkpoint takes time, and who reads meanwhile must not get what was before.
    if (this.#held.has(workflowId)) this.#held.set(workflowId, kept)
    const isReady = await this.#parts.mayHandOut(kept)
    if (step !== undefined) this.queue.update({ execution, ...(isReady ? step : withhold(step)) })
    if (!isWorkflowOpen(execution.status)) {
      this.forget(workflowId)
      return
    }
    this.#held.set(workflowId, kept)
    const wasHeldBack = this.#heldBack.delete(workflowId)
    if (!isReady) this.#heldBack.add(workflowId)
    // What was known before is withheld as well, or offered again.
    if (step === undefined || wasHeldBack || !isReady)
      this.queue.hold(isReady ? execution : { ...execution, rows: execution.rows.map(withoutQueue) })
    this.#rooms.note(execution)
    this.#setDue(execution)
  }

  #setDue(execution: Execution): void {
    const before = this.due.next()?.atMs
    const deadlineMs = nextDeadlineMs(execution)
    const lookMs = this.isHeldBack(execution.workflowId) ? this.nowMs() + HELD_BACK_INTERVAL_MS : Infinity
    this.due.set(execution.workflowId, Math.min(deadlineMs ?? Infinity, lookMs))
    if ((this.due.next()?.atMs ?? Infinity) < (before ?? Infinity)) this.onDue()
  }

  /** Decides with the events, variables and children that the decision asks for. */
  async #settle<T>(execution: Execution, decide: Decide<T>, atMs: number | undefined): Promise<Decision<T>> {
    const moment = this.#moment(execution, atMs)
    const digits = this.#parts.digitsOf(execution.workflowId)
    // A decision that is made again gets the same ids: it may ask about a child that it has just named.
    const ids: TaskId[] = []
    const decided = await this.#parts.facts.settle(execution.workflowId, (facts) => {
      let used = 0
      const nextTaskId = (): TaskId => (ids[used++] ??= makeTaskId(digits))
      return decide(execution, { ...moment, ...facts, nextTaskId })
    })
    this.#rooms.note(decided.execution)
    return decided
  }

  #moment(execution: Execution, atMs: number | undefined): Omit<Moment, keyof FactualPart | 'nextTaskId'> {
    const nowMs = atMs ?? this.nowMs()
    return {
      random: () => this.#parts.random.next(),
      hasRoom: this.#rooms.take(execution),
      recovers: true,
      graphLimits: this.#parts.graphLimits,
      nowMs,
      chooseDomain: (taskType, domains) =>
        chooseDomain(
          domains,
          (domain) => nowMs - this.queue.pollers.lastPollMs({ taskType, domain }) < HOST_POLLER_ALIVE_MS,
        ),
    }
  }
}

type ToldStep = Pick<WrittenStep, 'kept' | 'log'> & { readonly rows: RowChanges }

const DOUBT_INTERVAL_MS = 200
const HELD_BACK_INTERVAL_MS = 1_000

function withhold(step: RowPlan): RowPlan {
  const changed = step.changed.map(({ before, after }) => ({ before, after: withoutQueue(after) }))
  return { ...step, changed }
}

/** Known, and in progress where it is, but not to be claimed. */
function withoutQueue(row: AttemptRow): AttemptRow {
  return row.queuedFromMs === undefined ? row : { ...row, queuedFromMs: undefined }
}

/** An attempt whose worker may live does not run out of time because nobody could renew its lease. */
function withLeasesFrom(execution: Execution, nowMs: number): Execution {
  const rows = execution.rows.map((row) => {
    const { record } = row
    // Later than now where the clock was set back: it must not wait for that time either.
    if (record.status !== 'IN_PROGRESS' || record.updateTimeMs === nowMs) return row
    return { ...row, record: { ...record, updateTimeMs: nowMs } }
  })
  return { ...execution, rows }
}

/** A step that will never fit: the execution fails instead, so that nobody tries the step again. */
function failing({ error, refused }: Refusal): Decide<undefined> {
  const reason = `[${error.code}] ${messageOf(error)}`
  return (execution, moment) => ({
    execution: failExecution(execution, { refused, reason }, moment),
    answer: undefined,
  })
}

function isTooLarge(error: unknown): error is PeragoError {
  return isPeragoError(error) && error.code === STATE_TOO_LARGE
}
