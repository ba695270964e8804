/**
 * A worker: polls for its tasks, runs each attempt under a lease, and reports to the task queue how it ended.
 *
 * | state | polls | lease renewals | attempts |
 * |---|---|---|---|
 * | running | yes | yes | run |
 * | stopping | none starts; what one in flight brings is handed back | continue | finish, or are aborted at the deadline and handed back |
 * | abandoned | none | until each attempt has ended | are aborted at once, publish nothing and report nothing |
 * | stopped | none | none | none |
 */

import { setMaxListeners } from 'node:events'
import { systemClock, type Clock } from '../base/clock.ts'
import { invariant } from '../base/errors.ts'
import { once } from '../base/once.ts'
import { systemRandom, type Random } from '../base/random.ts'
import { WorkerAbandonedError, WorkerStoppingError } from '../tasks/author-errors.ts'
import type { AttemptInfo } from '../tasks/task-definition.ts'
import { collectPeriodically } from '../workspace/ownership/collect-orphans.ts'
import { Attempts, type RunningAttempt } from './attempt/attempts.ts'
import { openBranchWatch, type BranchWatch } from './branches/branch-watch.ts'
import { StagingCollector } from './branches/staging-collector.ts'
import { tellAll, type WorkerObserver } from './events.ts'
import {
  OUTBOX_SEND_INTERVAL_MS,
  WORKER_ABORT_WAIT_MS,
  WORKER_BACKGROUND_WAIT_MS,
  WORKER_CLOSE_WAIT_MS,
  WORKER_SLOTS,
  WORKER_STOP_DEADLINE_MS,
} from './limits.ts'
import { Outages, type Outage } from './outages/outage.ts'
import { RemoveLater } from './outages/remove-later.ts'
import { tellOutages, type ToldOutages } from './outages/tell-outages.ts'
import { pollForTasks } from './polling/poller.ts'
import { openSlots } from './polling/slots.ts'
import { TaskEnds } from './polling/task-ends.ts'
import { sendOutbox, type OutboxSender } from './results/send-outbox.ts'
import type { TaskRecord } from './ports.ts'
import type { WorkerOptions, WorkerTask } from './worker-options.ts'

export interface WorkerStatus {
  readonly state: 'running' | 'stopping' | 'stopped'
  readonly startedAtMs: number
  readonly nowMs: number
  readonly slots: { readonly limit: number; readonly taken: number }
  /** By task type; `slots` is how many of it may run here at the same time. */
  readonly polls: Readonly<
    Record<string, { readonly succeededAtMs: number | undefined; readonly slots: number }>
  >
  /** Those of this moment. */
  readonly outages: readonly Outage[]
  /** The task types that are not polled because of them. */
  readonly held: readonly string[]
  /** When the last one ended, or the worker started. */
  readonly freeSinceMs: number
  readonly attempts: readonly RunningAttempt[]
  /** When the oldest result was written that the queue has not taken yet. */
  readonly oldestResultAtMs?: number | undefined
}

export interface StopOptions {
  /**
   * How long the stop may take in all: 25 s unless given, and never less than 10 s. Attempts that still run 10 s before are
   * aborted and handed back.
   */
  readonly deadlineMs?: number
}

export interface StopReport {
  /** Attempts that did not end in time; their leases run out. */
  readonly abandoned: readonly AttemptInfo[]
}

export interface RunningWorker {
  /** Resolves when every task type was polled once, or the worker was stopped before. */
  readonly ready: Promise<void>
  /**
   * Runs a task that somebody else polled; resolves when its place is free again. Once the worker was asked to stop, the task
   * is handed back.
   */
  take(record: TaskRecord): Promise<void>
  /** Takes no more tasks, lets attempts finish, and aborts them at the deadline. May be called twice. */
  stop(options?: StopOptions): Promise<StopReport>
  /** Stops at once; nothing is published or reported any more. */
  abandon(why: string): Promise<StopReport>
  status(): WorkerStatus
}

/**
 * ```ts
 * const worker = startWorker({ queue, tasks, openRepo, root, leases, outbox, workerId, logger, redactor })
 * await worker.ready
 * process.once('SIGTERM', () => void worker.stop())
 * ```
 */
export function startWorker(options: WorkerOptions): RunningWorker {
  return new OpenWorker(options)
}

class OpenWorker implements RunningWorker {
  readonly ready: Promise<void>
  readonly #options: WorkerOptions
  readonly #clock: Clock
  readonly #random: Random
  readonly #observe: WorkerObserver
  readonly #stopping = new AbortController()
  readonly #closed = new AbortController()
  readonly #slots: ReturnType<typeof openSlots>
  readonly #ends: TaskEnds
  readonly #branches: BranchWatch
  readonly #attempts: Attempts
  readonly #outages: Outages
  readonly #removals: RemoveLater
  readonly #told: ToldOutages
  readonly #staging: StagingCollector
  readonly #polledAtMs = new Map<string, number>()
  readonly #work: Promise<unknown>
  readonly #sender: OutboxSender
  readonly #background: Promise<unknown>
  readonly #startedAtMs: number
  #claims = 0
  #state: WorkerStatus['state'] = 'running'
  readonly stop = once((options?: StopOptions) => this.#stop(options))
  #becomeReady: () => void = () => undefined

  constructor(options: WorkerOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#random = options.random ?? systemRandom
    this.#startedAtMs = this.#clock.monotonicMs()
    // Each task type listens while it waits.
    setMaxListeners(0, this.#stopping.signal)
    this.#ends = new TaskEnds(this.#clock)
    this.#observe = tellAll(options.observers ?? [])
    this.#outages = new Outages(options.watches ?? [])
    this.#removals = new RemoveLater(options.logger, this.#outages)
    this.#slots = openSlots(options.slots ?? WORKER_SLOTS)
    this.#branches = openBranchWatch({
      queue: options.queue,
      tasks: options.tasks.map(({ task }) => task),
      clock: this.#clock,
      observe: this.#observe,
    })
    this.ready = new Promise((resolve) => {
      this.#becomeReady = resolve
    })
    this.#told = tellOutages({
      ...{ outages: this.#outages, clock: this.#clock, logger: options.logger, observe: this.#observe },
      signal: this.#closed.signal,
    })
    const { signal } = this.#stopping
    // Each task type has a poll that follows it.
    setMaxListeners(0, signal)
    this.#staging = new StagingCollector({
      ...options,
      observe: this.#observe,
      clock: this.#clock,
      isAway: () => this.#outages.outages().length > 0,
    })
    const collecting = [collectPeriodically(options.root, { signal }), this.#staging.run(signal)]
    this.#sender = sendOutbox({
      ...{ queue: options.queue, outbox: options.outbox, clock: this.#clock, logger: options.logger },
      signal: this.#closed.signal,
      observe: (notice) => this.#observe({ kind: 'outbox', ...notice }),
    })
    this.#attempts = this.#openAttempts(options)
    this.#background = Promise.all([this.#sender.ended, this.#removeLater(), ...collecting])
    this.#work = Promise.all(this.#polled.map((task) => this.#poll(task)))
    if (this.#polled.length === 0) this.#becomeReady()
  }

  /** What this worker polls for itself. */
  get #polled(): readonly WorkerTask[] {
    return this.#options.polls === false ? [] : this.#options.tasks
  }

  #openAttempts(options: WorkerOptions): Attempts {
    const openRepo = this.#removals.noting((repository) => {
      this.#staging.note(repository)
      return options.openRepo(repository)
    })
    return new Attempts({
      ...{ ...options, openRepo, clock: this.#clock, random: this.#random, observe: this.#observe },
      ...{ outages: this.#outages, branches: this.#branches, slotsMax: this.#slots.limit },
      closed: this.#closed.signal,
      onKept: () => this.#sender.wake(),
    })
  }

  take(record: TaskRecord): Promise<void> {
    const workerTask = this.#options.tasks.find(({ task }) => task.name === record.taskType)
    invariant(workerTask !== undefined, 'a task is given to the worker that has its type')
    if (this.#state !== 'running') return this.#attempts.handBack(record)
    return new Promise((releaseSlots) => this.#attempts.begin(record, workerTask, { releaseSlots }))
  }

  abandon(why: string): Promise<StopReport> {
    this.#attempts.abort(new WorkerAbandonedError(why))
    return this.stop({ deadlineMs: 0 })
  }

  status(): WorkerStatus {
    const polls = this.#polled.map((workerTask) => [
      workerTask.task.name,
      { succeededAtMs: this.#polledAtMs.get(workerTask.task.name), slots: this.#slotsOf(workerTask) },
    ])
    const taken = this.#attempts.count({ hasSlot: true })
    const held = this.#polled.filter(({ task }) => this.#outages.holding(task) !== undefined)
    return {
      state: this.#state,
      startedAtMs: this.#startedAtMs,
      nowMs: this.#clock.monotonicMs(),
      // Whoever polls decides how many run.
      slots: { limit: this.#options.polls === false ? taken : this.#slots.limit, taken },
      polls: Object.fromEntries(polls) as WorkerStatus['polls'],
      outages: this.#outages.outages(),
      held: held.map(({ task }) => task.name),
      freeSinceMs: this.#told.freeSinceMs,
      oldestResultAtMs: this.#sender.oldestAtMs,
      attempts: this.#attempts.show(),
    }
  }

  async #stop({ deadlineMs = WORKER_STOP_DEADLINE_MS }: StopOptions = {}): Promise<StopReport> {
    this.#state = 'stopping'
    this.#stopping.abort(new WorkerStoppingError())
    this.#attempts.shutDown()
    if (!(await this.#isIdleWithin(Math.max(0, deadlineMs - WORKER_ABORT_WAIT_MS)))) {
      this.#attempts.abort(new WorkerStoppingError())
      await this.#isIdleWithin(WORKER_ABORT_WAIT_MS - WORKER_BACKGROUND_WAIT_MS - WORKER_CLOSE_WAIT_MS)
    }
    const abandoned = this.#attempts.running
    for (const info of abandoned)
      this.#options.logger.error('an attempt did not end and is abandoned', { ...info })
    this.#closed.abort()
    await this.#isEndedWithin(
      WORKER_BACKGROUND_WAIT_MS,
      Promise.all([this.#background, this.#branches.close()]),
    )
    this.#state = 'stopped'
    this.#becomeReady()
    return { abandoned }
  }

  /** Whether all polls and attempts end in time. */
  async #isIdleWithin(waitMs: number): Promise<boolean> {
    const idle = async (): Promise<void> => {
      await this.#work
      await this.#attempts.untilNone()
    }
    return this.#isEndedWithin(waitMs, idle())
  }

  async #isEndedWithin(waitMs: number, work: Promise<unknown>): Promise<boolean> {
    const over = new AbortController()
    const tooLate = this.#clock.sleep(waitMs, over.signal).catch(() => undefined)
    const isEnded = await Promise.race([work.then(() => true), tooLate.then(() => false)])
    over.abort()
    return isEnded
  }

  #poll(workerTask: WorkerTask): Promise<void> {
    const { task } = workerTask
    const { queue, tasks, workerId, domain, logger } = this.#options
    return pollForTasks({
      queue,
      taskType: task.name,
      domain,
      slots: [openSlots(this.#slotsOf(workerTask)), this.#slots],
      hold: {
        isHeld: () => this.#outages.holding(task) !== undefined,
        untilFree: (signal) => this.#outages.untilFree(task, signal),
      },
      nextWorkerId: () => `${workerId}-${++this.#claims}`,
      clock: this.#clock,
      random: this.#random,
      logger: logger.child({ task: task.name }),
      stopping: this.#stopping.signal,
      onPolled: (poll) => {
        if (poll.error === undefined) this.#polledAtMs.set(task.name, this.#clock.monotonicMs())
        if (this.#polledAtMs.size === tasks.length) this.#becomeReady()
        this.#observe({ kind: 'poll', taskType: task.name, ...poll })
      },
      ends: this.#ends,
      onTask: (record, releaseSlots, sinceMs) =>
        this.#attempts.begin(record, workerTask, { releaseSlots, sinceMs }),
      onLateTask: (record) => this.#attempts.handBack(record),
    })
  }

  #slotsOf({ task }: WorkerTask): number {
    return Math.min(task.controls.limits.perWorker ?? this.#slots.limit, this.#slots.limit)
  }

  /** What could not be removed while a server was away. */
  async #removeLater(): Promise<void> {
    const { signal } = this.#closed
    while (!signal.aborted) {
      if (this.#outages.outages().length === 0) await this.#removals.removeAll(signal)
      await this.#clock.sleep(OUTBOX_SEND_INTERVAL_MS, signal).catch(() => undefined)
    }
  }
}
