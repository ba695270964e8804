/**
 * Starts pipelines at the times of their schedules. One instance does, the one that runs the executions.
 *
 * - SC-1 A time is started once, also when the instance is killed while it starts: the start is made under a key of the schedule
 *   and the time, and a key is used once. The last time that was dealt with is stored after that.
 * - SC-2 What was missed while no instance ran is started as the schedule's catch-up rule says; what falls into a pause is not.
 * - SC-3 A start that is refused, such as on a branch that another execution writes, is told and passed over.
 */

import type { Clock } from '../../base/clock.ts'
import { isPeragoError, MissingError, UnavailableError } from '../../base/errors.ts'
import { followSignals, isAborted } from '../../base/abort-signals.ts'
import type { Logger } from '../../base/logger.ts'
import { fromBytes, toBytes } from '../../core/json.ts'
import { engineDefinitionPrefix, type TenantId } from '../../core/keys.ts'
import type { Store, StoreEntry } from '../../core/ports.ts'
import { readPages } from '../../core/read-pages.ts'
import type { WorkflowId } from '../../fences/attempt-snapshot.ts'
import type { ScheduleDocument } from '../definitions/document.ts'
import { dueTimes, nextTime } from '../definitions/schedule.ts'
import { HOST_LOOK_INTERVAL_MS, HOST_STALE_TRIES_MAX } from '../limits.ts'
import type { WorkflowStartRequest } from '../protocol/control.ts'
import type { EngineTime } from './engine-time.ts'

export interface ScheduleParts {
  readonly store: Store
  readonly tenant: TenantId | undefined
  readonly clock: Clock
  readonly time: EngineTime
  readonly logger: Logger
  readonly isOwner: () => boolean
  /** The same again under the same key starts nothing. */
  readonly startOnce: (
    key: string,
    request: WorkflowStartRequest,
  ) => Promise<{ readonly workflowId: WorkflowId }>
}

/** A schedule, and how far it is. */
export interface ScheduleState {
  readonly pipeline: string
  readonly name: string
  readonly schedule: ScheduleDocument
  readonly isPaused: boolean
  /** Up to here every time has been dealt with. */
  readonly doneUpToMs: number
  readonly last?: {
    readonly atMs: number
    /** Unless it was not started. */
    readonly workflowId?: WorkflowId
    /** Why it was not. */
    readonly problem?: string
  }
}

export interface ListedSchedule extends ScheduleState {
  /** `undefined` while it is paused. */
  readonly nextMs: number | undefined
}

interface Stored {
  readonly key: string
  readonly revision: number
  readonly state: ScheduleState
}

export class Schedules {
  readonly #parts: ScheduleParts
  #wake: () => void = () => undefined

  constructor(parts: ScheduleParts) {
    this.#parts = parts
  }

  /** The schedules of a pipeline from now on. One that stays as it was goes on where it is. */
  async register(pipeline: string, schedules: Readonly<Record<string, ScheduleDocument>>): Promise<void> {
    // This instance may not be the one that runs the executions.
    await this.#parts.time.load()
    for (const [name, schedule] of Object.entries(schedules)) {
      const fresh = { pipeline, name, schedule, isPaused: false, doneUpToMs: this.#nowMs() }
      // Throws for what is no schedule.
      nextTime(schedule, fresh.doneUpToMs)
      await this.#change(this.#keyOf(pipeline, name), (before) =>
        before === undefined
          ? fresh
          : isSamePlan(before.schedule, schedule)
            ? { ...before, schedule }
            : { ...fresh, isPaused: before.isPaused },
      )
    }
    for (const { key, state } of await this.#readAll())
      if (state.pipeline === pipeline && !Object.hasOwn(schedules, state.name))
        await this.#change(key, () => undefined)
    this.#wake()
  }

  async list(): Promise<readonly ListedSchedule[]> {
    return (await this.#readAll()).map(({ state }) => withNext(state))
  }

  /** Its times pass without a start. Doing it again changes nothing. */
  pause(pipeline: string, name: string): Promise<ListedSchedule> {
    return this.#require('pause', { pipeline, name }, (state) => ({ ...state, isPaused: true }))
  }

  async resume(pipeline: string, name: string): Promise<ListedSchedule> {
    await this.#parts.time.load()
    return this.#require('resume', { pipeline, name }, (state) =>
      state.isPaused ? { ...state, isPaused: false, doneUpToMs: this.#nowMs() } : state,
    )
  }

  /** Ends with the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, isOwner, logger } = this.#parts
    while (!isAborted(signal)) {
      let nextMs = Infinity
      // Before the look, so that what is registered during it is looked at again.
      const woken = new Promise<void>((resolve) => (this.#wake = resolve))
      try {
        if (isOwner()) nextMs = await this.#startDue(signal)
      } catch (error) {
        logger.warn('schedules could not be followed', { error })
      }
      const pauseMs = Math.min(HOST_LOOK_INTERVAL_MS, Math.max(1, nextMs - this.#nowMs()))
      const stop = followSignals(signal)
      const slept = clock.sleep(pauseMs, stop.signal).catch(() => undefined)
      await Promise.race([slept, woken])
      stop.release()
      stop.abort()
    }
  }

  /** Returns when the next one is due. */
  async #startDue(signal: AbortSignal): Promise<number> {
    const next: number[] = []
    for (const stored of await this.#readAll()) {
      if (isAborted(signal) || !this.#parts.isOwner()) break
      const { state } = stored
      if (state.isPaused) continue
      const nowMs = this.#nowMs()
      if (nextTime(state.schedule, state.doneUpToMs) <= nowMs) await this.#catchUp(stored, nowMs)
      next.push(nextTime(state.schedule, nowMs))
    }
    return Math.min(...next)
  }

  async #catchUp({ key, state }: Stored, nowMs: number): Promise<void> {
    const { logger } = this.#parts
    const { pipeline, name, schedule, doneUpToMs } = state
    const { times, missed } = dueTimes(schedule, { lastMs: doneUpToMs, nowMs })
    if (missed > 0)
      logger.warn('a schedule has missed times that are not made up for', { pipeline, name, missed })
    let last = state.last
    for (const atMs of times) {
      last = await this.#startAt(state, atMs)
      await this.#advance(key, { doneUpToMs: atMs, last })
    }
    await this.#advance(key, { doneUpToMs: nowMs, ...(last === undefined ? {} : { last }) })
  }

  async #startAt(state: ScheduleState, atMs: number): Promise<NonNullable<ScheduleState['last']>> {
    const { pipeline, name, schedule } = state
    const { input = {} } = schedule
    const correlationId = `${pipeline}/${name} ${new Date(atMs).toISOString()}`
    try {
      const key = `schedule ${JSON.stringify([pipeline, name, atMs])}`
      const { workflowId } = await this.#parts.startOnce(key, { name: pipeline, input, correlationId })
      return { atMs, workflowId }
    } catch (error) {
      // What may succeed later is tried again: nothing is stored about this time yet.
      if (!isPeragoError(error) || !FOR_GOOD.has(error.kind)) throw error
      this.#parts.logger.error('a schedule could not start its pipeline', { pipeline, name, error })
      return { atMs, problem: error.message }
    }
  }

  /** Somebody may have paused, replaced or removed it meanwhile. */
  async #advance(key: string, done: Pick<ScheduleState, 'doneUpToMs' | 'last'>): Promise<void> {
    await this.#change(key, (before) =>
      before === undefined || before.doneUpToMs > done.doneUpToMs ? before : { ...before, ...done },
    )
  }

  async #require(
    what: string,
    { pipeline, name }: Pick<ScheduleState, 'pipeline' | 'name'>,
    change: (state: ScheduleState) => ScheduleState,
  ): Promise<ListedSchedule> {
    const found = await this.#change(this.#keyOf(pipeline, name), (before) => before && change(before))
    if (found === undefined)
      throw new MissingError(
        'engine/no-such-schedule',
        `${what} the schedule "${name}" of "${pipeline}": it does not exist`,
        {
          next: 'Correct the name; the schedules are in the definition of the pipeline.',
        },
      )
    this.#wake()
    return withNext(found)
  }

  /** `undefined` removes it. A change that met another one is made again. */
  async #change(
    key: string,
    change: (before: ScheduleState | undefined) => ScheduleState | undefined,
  ): Promise<ScheduleState | undefined> {
    const { store } = this.#parts
    for (let tries = 0; tries < HOST_STALE_TRIES_MAX; tries += 1) {
      const entry = await store.get(key)
      const before = entry === undefined ? undefined : decode(key, entry).state
      const after = change(before)
      if (after === before) return after
      const { committed } = await store.commit({
        conditions: [
          entry === undefined ? { key, is: 'absent' } : { key, is: 'at', revision: entry.revision },
        ],
        operations: [
          after === undefined
            ? { do: 'delete', key }
            : { do: 'put', key, value: toBytes(JSON.stringify(after)) },
        ],
      })
      if (committed) return after
    }
    throw new UnavailableError('engine/contended', `change the schedule ${key}: others change it`, {
      next: 'Try again.',
    })
  }

  async #readAll(): Promise<readonly Stored[]> {
    const { store } = this.#parts
    const found: Stored[] = []
    for await (const page of readPages(store, { prefix: this.#prefix() }))
      found.push(...page.map((entry) => decode(entry.key, entry)))
    return found
  }

  #prefix(): string {
    return engineDefinitionPrefix('schedule', this.#parts.tenant)
  }

  #keyOf(pipeline: string, name: string): string {
    return `${this.#prefix()}${encodeURIComponent(pipeline)}:${encodeURIComponent(name)}`
  }

  #nowMs(): number {
    return this.#parts.time.nowMs()
  }
}

function withNext(state: ScheduleState): ListedSchedule {
  const { isPaused, schedule, doneUpToMs } = state
  return { ...state, nextMs: isPaused ? undefined : nextTime(schedule, doneUpToMs) }
}

/** Trying again would give the same. */
const FOR_GOOD: ReadonlySet<string> = new Set(['invalid', 'missing', 'refused'])

function decode(key: string, { value, revision }: Pick<StoreEntry, 'value' | 'revision'>): Stored {
  return { key, revision, state: JSON.parse(fromBytes(value)) as ScheduleState }
}

/** With other times, what the former schedule missed is of no account. */
function isSamePlan(one: ScheduleDocument, other: ScheduleDocument): boolean {
  return one.cron === other.cron && (one.timeZone ?? 'UTC') === (other.timeZone ?? 'UTC')
}
