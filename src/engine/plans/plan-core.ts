/** The one object behind both surfaces of a plan: its tasks, its shared space, its status, and the run. */

import { isAborted, followSignals, type FollowingSignal } from '../../base/abort-signals.ts'
import type { Clock } from '../../base/clock.ts'
import { InvalidError, MissingError, RefusedError } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import {
  PLAN_SLOW_CALLBACK_MS,
  PLAN_STATUS_CHECK_INTERVAL_MS,
  PLAN_STOP_GRACE_MS,
  PLAN_TASKS_MAX,
} from '../limits.ts'
import { MemorySharedSpace } from './memory-shared-space.ts'
import { PlanRun } from './plan-run.ts'
import { PlanSpace } from './plan-space.ts'
import { PLAN_TRANSITIONS, type PlanEvent, type PlanStatus } from './plan-status.ts'
import { PlanTask, type NewTask, type TaskCall } from './plan-task.ts'
import type { BuiltInEvent, PlanBacking } from './shared-space.ts'

export interface PlanOptions {
  /** Tasks of an order that run at the same time. Default: 0, no limit. */
  readonly maxConcurrency?: number
  /** How often the plan looks whether it was paused or resumed. Default: 100. */
  readonly statusCheckIntervalMs?: number
  /** What `Get` does with a key that has no value: throw a `MissingError`, or return `undefined`. Default: `throw`. */
  readonly missingKeys?: 'throw' | 'undefined'
  /** Accept only names of registered handlers, no functions. Default: false. */
  readonly strict?: boolean
  /** Cancels the plan from outside: it fails. */
  readonly context?: AbortSignal
  /** Default: a `MemorySharedSpace`. */
  readonly sharedSpace?: PlanBacking
  /** A subscriber that takes longer causes a warning. Default: 50. */
  readonly slowCallbackMs?: number
  /** How long a stopped or cancelled plan waits for functions that ignore it. Default: 10000. */
  readonly stopGraceMs?: number
}

export interface CoreHost {
  readonly clock: Clock
  readonly logger: Logger
  readonly nextId: () => string
  /** Calls a task's function so that it finds its plan. */
  callFunction(core: PlanCore, task: PlanTask, call: TaskCall): unknown
  ended(core: PlanCore): void
  released(core: PlanCore): void
}

export interface PlanStatuses {
  readonly plan: PlanStatus
  readonly tasks: Record<string, PlanStatus>
}

export interface TaskTimes {
  readonly startedAt: Date
  /** `undefined` while it runs. */
  readonly endedAt: Date | undefined
  readonly durationMs: number | undefined
}

export class PlanCore {
  readonly id: string
  readonly space: PlanSpace
  readonly options: PlanOptions
  readonly #host: CoreHost
  readonly #tasks = new Map<string, PlanTask>()
  readonly #abort: FollowingSignal
  readonly #ended = new AbortController()
  #run: PlanRun | undefined
  #startedMs = 0
  /** What remains readable of a released plan. */
  #last: PlanStatuses | undefined

  constructor(id: string, options: PlanOptions, host: CoreHost) {
    this.id = id
    this.options = options
    this.#host = host
    this.#abort = followSignals(options.context)
    const backing =
      options.sharedSpace ??
      new MemorySharedSpace({
        clock: host.clock,
        logger: host.logger.child({ plan: id }),
        slowCallbackMs: options.slowCallbackMs ?? PLAN_SLOW_CALLBACK_MS,
      })
    this.space = new PlanSpace(id, backing, host.clock)
  }

  /** The parent of every task's context. */
  get context(): AbortSignal {
    return this.#abort.signal
  }

  get tasks(): readonly PlanTask[] {
    return [...this.#tasks.values()]
  }

  get status(): PlanStatus {
    return this.#last?.plan ?? this.#run?.status ?? 'created'
  }

  get statuses(): PlanStatuses {
    if (this.#last !== undefined) return this.#last
    return {
      plan: this.status,
      tasks: Object.fromEntries(this.tasks.map(({ id }) => [id, this.taskStatus(id)])),
    }
  }

  get isReleased(): boolean {
    return this.#last !== undefined
  }

  taskStatus(id: string): PlanStatus {
    if (this.#last !== undefined) return this.#last.tasks[id] ?? 'unknown'
    if (!this.#tasks.has(id)) return 'unknown'
    return this.#run?.statusOf(id) ?? 'created'
  }

  task(id: string): PlanTask {
    const task = this.#tasks.get(id)
    if (task !== undefined) return task
    throw new MissingError('plan/no-such-task', `read the task "${id}" of the plan "${this.id}": not found`, {
      details: { planId: this.id, taskId: id },
    })
  }

  /** `undefined` before its start. Of a task that was tried again, from its first call to its last. */
  taskTimes(id: string): TaskTimes | undefined {
    const record = this.#run?.rowOf(this.task(id).id)?.record
    if (record === undefined || record.startTimeMs === 0) return undefined
    const { startTimeMs, updateTimeMs } = record
    const startedAt = new Date(startTimeMs)
    return this.taskStatus(id) === 'running'
      ? { startedAt, endedAt: undefined, durationMs: undefined }
      : { startedAt, endedAt: new Date(updateTimeMs), durationMs: updateTimeMs - startTimeMs }
  }

  addTask(request: NewTask): void {
    const { id, order } = request
    this.#requireAddable(`add the task "${id}" to the plan "${this.id}"`, id, order)
    this.#tasks.set(id, new PlanTask(request))
    this.announce('TaskStarted', { task_id: id, order })
    this.#run?.tasksAdded()
  }

  removeTask(id: string): void {
    const task = this.task(id)
    if (this.taskStatus(id) !== 'created' || this.#isFinal())
      throw new RefusedError(
        'plan/task-has-begun',
        `remove the task "${id}" from the plan "${this.id}": it is ${this.taskStatus(id)}, and the plan ${this.status}`,
      )
    this.#tasks.delete(task.id)
    this.#run?.taskRemoved(task.id)
  }

  async start(): Promise<void> {
    this.#judge('start')
    const { clock, logger, nextId } = this.#host
    this.#startedMs = clock.monotonicMs()
    this.#run = new PlanRun({
      planId: this.id,
      clock,
      logger,
      nextId,
      maxConcurrency: this.options.maxConcurrency ?? 0,
      stopGraceMs: this.options.stopGraceMs ?? PLAN_STOP_GRACE_MS,
      signal: this.context,
      tasks: this.#tasks,
      callFunction: (task, call) => this.#host.callFunction(this, task, call),
      announce: (event, data) => this.announce(event, data),
    })
    try {
      await this.#run.run()
    } finally {
      this.#ended.abort()
      this.#host.ended(this)
    }
  }

  /** Resolves when it has taken effect: at the next check of the status. */
  async pause(): Promise<void> {
    this.#judge('pause')
    await this.#nextCheck()
    this.#judge('pause').pause()
  }

  async resume(): Promise<void> {
    this.#judge('resume')
    await this.#nextCheck()
    this.#judge('resume').resume()
  }

  /** Takes effect at once; the functions of running tasks end when they obey, and the run after them. */
  stop(): void {
    this.#judge('stop').stop()
  }

  cancel(reason: unknown): void {
    this.#abort.abort(reason)
  }

  release(): void {
    if (this.#last !== undefined) return
    if (this.#run !== undefined && !this.#isFinal()) this.#run.stop()
    this.#last = this.statuses
    this.#abort.release()
    this.#tasks.clear()
    this.space.release()
    this.#host.released(this)
  }

  announce(event: BuiltInEvent, data: unknown): void {
    try {
      this.space.announce(event, data)
    } catch (error) {
      this.#host.logger.warn('an event could not be announced', { plan: this.id, event, error })
    }
  }

  #isFinal(): boolean {
    return this.status !== 'created' && this.status !== 'running' && this.status !== 'paused'
  }

  #requireAddable(what: string, id: string, order: number): void {
    if (id === '') throw new InvalidError('plan/bad-task-id', `${what}: an id must not be empty`)
    if (!Number.isSafeInteger(order) || order < 0)
      throw new InvalidError('plan/bad-order', `${what}: the order ${order} is not a whole number from 0`)
    if (this.isReleased || this.#isFinal())
      throw new RefusedError(
        'plan/final',
        `${what}: the plan is ${this.isReleased ? 'released' : this.status}`,
      )
    if (this.#tasks.has(id))
      throw new RefusedError('plan/task-exists', `${what}: it has a task of this id`, {
        next: 'Choose another id, or remove that task before it starts.',
      })
    if (this.#run?.isOrderPassed(order) === true)
      throw new RefusedError('plan/order-passed', `${what}: its order ${order} has ended`, {
        next: 'Add it to the current order or to a later one.',
      })
    if (this.#tasks.size >= PLAN_TASKS_MAX)
      throw new RefusedError('plan/too-many-tasks', `${what}: a plan has at most ${PLAN_TASKS_MAX} tasks`)
  }

  #judge(event: PlanEvent): PlanRun {
    const { status } = this
    if (this.isReleased || PLAN_TRANSITIONS[status][event] === 'refuse')
      throw new RefusedError(
        'plan/not-allowed',
        `${event} the plan "${this.id}": it is ${this.isReleased ? 'released' : status}`,
        { details: { planId: this.id, status } },
      )
    return this.#run as PlanRun
  }

  /** Ends earlier when the plan does. */
  async #nextCheck(): Promise<void> {
    const { statusCheckIntervalMs: interval = PLAN_STATUS_CHECK_INTERVAL_MS } = this.options
    const elapsedMs = this.#host.clock.monotonicMs() - this.#startedMs
    const { signal } = this.#ended
    try {
      await this.#host.clock.sleep(interval - (elapsedMs % interval), signal)
    } catch (error) {
      if (!isAborted(signal)) throw error
    }
  }
}
