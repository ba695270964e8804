/**
 * Workers and people of a pipeline under test, in the time of the test. One thing happens after the other, in an order that
 * depends on nothing but the pipeline, the behaviours and the seed.
 *
 * - TD-1 Time moves only when nothing is left to be done at the present moment.
 * - TD-2 What a worker has claimed is renewed in time, unless its behaviour says otherwise.
 */

import { errorKindOf } from '../../base/errors.ts'
import { silentLogger } from '../../base/logger.ts'
import type { AttemptRow, Execution } from '../../engine/protocol/execution.ts'
import { nextEventMs } from '../../engine/protocol/queue.ts'
import { isTaskOpen } from '../../engine/protocol/state.ts'
import type { TaskId, WorkflowId } from '../../fences/attempt-snapshot.ts'
import { deliverResult } from '../../worker/results/deliver-result.ts'
import type { TaskRecord } from '../../worker/ports.ts'
import type { ManualClock } from '../manual-clock.ts'
import { scriptOf, type AttemptScript, type StandIn, type UnitBehaviour } from './behaviours.ts'
import type { EngineHost } from './engine-host.ts'
import type { Source } from './source.ts'
import type { JobOutcome, Workbench } from './workbench.ts'

/** An attempt that a worker of the test has claimed. */
interface Held {
  readonly record: TaskRecord
  readonly script: AttemptScript
  readonly attempt: number
  readonly endsMs: number
  readonly isRenewed: boolean
  renewedMs: number
  outcome: JobOutcome | undefined
}

/** Which unit began when. */
export interface Beginning {
  readonly workflowId: WorkflowId
  readonly taskId: TaskId
  readonly unit: string
}

export interface DriverParts {
  readonly host: EngineHost
  readonly clock: ManualClock
  readonly workbench: Workbench
  /** Attempts at the same time. */
  readonly slots: number
}

export class Driver {
  readonly beginnings: Beginning[] = []
  readonly #parts: DriverParts
  readonly #sources = new Map<WorkflowId, Source>()
  readonly #taskTypes = new Set<string>()
  #held: readonly Held[] = []
  /** When people end human units. */
  readonly #people = new Map<TaskId, number>()
  readonly #attempts = new Map<string, number>()
  #claims = 0
  /** After a failure the engine does some things again after a while, which nobody can ask it for. */
  #looksLeft = 0

  constructor(parts: DriverParts) {
    this.#parts = parts
  }

  /** What its units and those of its children do. */
  add(workflowId: WorkflowId, source: Source, taskTypes: readonly string[]): void {
    this.#sources.set(workflowId, source)
    for (const name of taskTypes) this.#taskTypes.add(name)
  }

  /** Does one thing; `false` if nothing is left to be done now. */
  async turn(): Promise<boolean> {
    if (this.#parts.host.isDead) {
      await this.#parts.host.replace()
      this.#looksLeft = LOOKS_AFTER_TROUBLE
      return true
    }
    const acted = await this.#trying(() => this.#act())
    if (acted === undefined) await this.#parts.clock.leap(LOOK_MS)
    return acted ?? true
  }

  /** When something happens next by itself; infinite if nothing will. */
  async nextMs(): Promise<number> {
    const nowMs = this.#nowMs()
    const executions = (await this.#trying(() => this.#executions())) ?? []
    const renewed = new Set(
      this.#held.filter(({ isRenewed }) => isRenewed).map(({ record }) => record.taskId),
    )
    const own = [...this.#held.map(({ endsMs }) => endsMs), ...this.#people.values()]
    const next = Math.min(
      ...own,
      nextEventMs(
        executions.map((each) => withoutLeases(each, renewed)),
        nowMs,
      ),
    )
    if (next >= NEVER_MS && this.#looksLeft === 0) return Infinity
    const renewal = Math.min(...this.#held.flatMap((held) => (held.isRenewed ? [renewalMs(held)] : [])))
    if (this.#looksLeft === 0) return Math.max(Math.min(next, renewal), nowMs + 1)
    this.#looksLeft -= 1
    return Math.max(nowMs + 1, Math.min(next, renewal, nowMs + LOOK_MS))
  }

  /** Retries what a failure of the store or of the engine kept from being done. */
  async insist<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      if (this.#parts.host.isDead) await this.#parts.host.replace()
      const done = await this.#trying(async () => ({ value: await work() }))
      if (done !== undefined) return done.value
      await this.#parts.clock.leap(LOOK_MS)
    }
    return work()
  }

  /** Ends a human unit, as somebody would. */
  async complete({ record }: AttemptRow, standIn: StandIn | undefined): Promise<void> {
    const { result } = await this.#parts.workbench.runPlainly({ record, attempt: 1, standIn })
    await this.insist(() => this.#parts.host.engine.queue.postResult(result))
    this.#people.delete(record.taskId)
  }

  async #act(): Promise<boolean> {
    // What may run at the same time begins before anything of it ends.
    return (
      (await this.#claimOne()) || (await this.#endOne()) || (await this.#meetPeople()) || this.#renewOne()
    )
  }

  /** The attempt that ends first, if it ends now. */
  async #endOne(): Promise<boolean> {
    const [first] = this.#held
      .filter(({ endsMs }) => endsMs <= this.#nowMs())
      .sort((one, other) => one.endsMs - other.endsMs)
    if (first === undefined) return false
    const { script, record } = first
    if (script.is === 'lose-worker') {
      if (script.after !== undefined) await this.#work(first, script.after)
      this.#drop(first)
      return true
    }
    first.outcome ??= await this.#work(first, script)
    const { result, currentAtMs, cleanUp } = first.outcome
    const { clock, host } = this.#parts
    await deliverResult({
      ...{ queue: host.engine.queue, attempt: record, result, currentAtMs, logger: silentLogger },
      clock: {
        now: () => clock.now(),
        monotonicMs: () => clock.monotonicMs(),
        sleep: () => Promise.resolve(),
      },
    })
    this.#drop(first)
    await cleanUp()
    return true
  }

  async #work({ record, attempt }: Held, script: AttemptScript): Promise<JobOutcome> {
    const source = await this.#sourceOf(record.workflowId)
    return this.#parts.workbench.run({
      ...{ record, attempt, modulePath: source?.modulePath },
      task: source?.tasks.get(record.taskType),
      standIn: standInOf(script),
    })
  }

  async #claimOne(): Promise<boolean> {
    if (this.#held.length >= this.#parts.slots) return false
    for (const taskType of this.#taskTypes) {
      const request = { taskType, workerId: `worker-${this.#claims + 1}`, count: 1, waitMs: 0 }
      const [record] = await this.#parts.host.engine.queue.poll(request)
      if (record === undefined) continue
      this.#claims += 1
      await this.#begin(record)
      return true
    }
    return false
  }

  async #begin(record: TaskRecord): Promise<void> {
    const { workflowId, taskId, referenceTaskName: unit } = record
    const counter = `${workflowId} ${unit}`
    const attempt = (this.#attempts.get(counter) ?? 0) + 1
    this.#attempts.set(counter, attempt)
    this.beginnings.push({ workflowId, taskId, unit })
    const behaviour = behaviourOf(await this.#sourceOf(workflowId), record)
    const script: AttemptScript =
      behaviour === undefined ? { is: 'real', afterMs: 0, losesLease: false } : scriptOf(behaviour, attempt)
    const nowMs = this.#nowMs()
    this.#held = [
      ...this.#held,
      {
        ...{ record, script, attempt, renewedMs: nowMs, outcome: undefined },
        endsMs: script.is === 'hang' ? Infinity : nowMs + delayOf(script),
        isRenewed: script.is === 'hang' || (script.is !== 'lose-worker' && !script.losesLease),
      },
    ]
  }

  /** Human units for which the test has an answer. */
  async #meetPeople(): Promise<boolean> {
    for (const execution of await this.#executions()) {
      const source = await this.#sourceOf(execution.workflowId)
      for (const row of execution.rows) {
        const behaviour = source?.units[row.unit]
        const { record } = row
        if (record.taskType !== 'HUMAN' || behaviour === undefined || !isTaskOpen(record.status)) continue
        const script = scriptOf(behaviour, 1)
        const atMs = this.#people.get(record.taskId) ?? this.#nowMs() + delayOf(script)
        this.#people.set(record.taskId, atMs)
        if (atMs > this.#nowMs()) continue
        await this.complete(row, standInOf(script))
        return true
      }
    }
    return false
  }

  async #renewOne(): Promise<boolean> {
    const nowMs = this.#nowMs()
    const due = this.#held.find((held) => held.isRenewed && renewalMs(held) <= nowMs)
    if (due === undefined) return false
    const { queue } = this.#parts.host.engine
    const fresh = await queue.readTask(due.record.taskId)
    // A worker whose attempt has ended without it gives up.
    if (fresh?.status === 'IN_PROGRESS' && fresh.workerId === due.record.workerId) {
      await queue.renewLease(due.record)
      due.renewedMs = nowMs
    } else if (due.endsMs === Infinity) this.#drop(due)
    else due.renewedMs = nowMs
    return true
  }

  #drop(held: Held): void {
    this.#held = this.#held.filter((each) => each !== held)
  }

  /** Those that have not ended. */
  async #executions(): Promise<readonly Execution[]> {
    const { control } = this.#parts.host.engine
    const open = await control.listOpen()
    const read = await Promise.all(open.map(({ workflowId }) => control.readExecution(workflowId)))
    return read.flatMap((execution) => execution ?? [])
  }

  async #sourceOf(workflowId: WorkflowId): Promise<Source | undefined> {
    const known = this.#sources.get(workflowId)
    if (known !== undefined) return known
    // A child does what is said for the execution that runs it.
    const parentId = (await this.#parts.host.engine.control.readExecution(workflowId))?.parentId
    const source = parentId === undefined ? undefined : await this.#sourceOf(parentId)
    if (source !== undefined) this.#sources.set(workflowId, source)
    return source
  }

  /** `undefined`: the store or the engine failed; it is tried again. */
  async #trying<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      const kind = errorKindOf(error)
      // Whatever a dying engine says says nothing.
      if (!this.#parts.host.isDead && kind !== 'unavailable' && kind !== 'uncertain') throw error
      this.#looksLeft = LOOKS_AFTER_TROUBLE
      return undefined
    }
  }

  #nowMs(): number {
    return this.#parts.clock.now().getTime()
  }
}

/** Longer than the engine waits before it does something again. */
const LOOK_MS = 1_000
const LOOKS_AFTER_TROUBLE = 3
const TRIES_MAX = 20
const NEVER_MS = 8e15
/** Of each second of a lease, when it is renewed. */
const RENEWAL_SHARE_MS = 900

function behaviourOf(source: Source | undefined, record: TaskRecord): UnitBehaviour | undefined {
  const { referenceTaskName, taskType } = record
  const unit = referenceTaskName.replace(/(__\d+)+$/, '')
  const units = source?.units ?? {}
  return units[referenceTaskName] ?? units[unit] ?? units[taskType]
}

function delayOf(script: AttemptScript): number {
  if (script.is === 'hang') return Infinity
  if (script.is === 'lose-worker') return script.after === undefined ? 0 : delayOf(script.after)
  return script.afterMs
}

function renewalMs({ record, renewedMs }: Held): number {
  return renewedMs + record.responseTimeoutSeconds * RENEWAL_SHARE_MS
}

/** As if the leases of these attempts never ended: they are renewed before they do. */
function withoutLeases(execution: Execution, renewed: ReadonlySet<TaskId>): Execution {
  const rows = execution.rows.map((row) =>
    renewed.has(row.record.taskId) ? { ...row, record: { ...row.record, updateTimeMs: NEVER_MS } } : row,
  )
  return { ...execution, rows }
}

function standInOf(script: AttemptScript): StandIn | undefined {
  return script.is === 'call' ? script.body : undefined
}
