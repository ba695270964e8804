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

import { followSignals } from '../base/abort-signals.ts'
import { systemClock, type Clock } from '../base/clock.ts'
import { once } from '../base/once.ts'
import {
  OUTBOX_SEND_INTERVAL_MS,
  WORKER_ABORT_WAIT_MS,
  WORKER_SLOTS,
  WORKER_STOP_DEADLINE_MS,
} from './limits.ts'
import { systemRandom, type Random } from '../base/random.ts'
import { createStepRecorder } from '../base/steps.ts'
import { collectPeriodically } from '../workspace/ownership/collect-orphans.ts'
import {
  BodyAbortedError,
  WorkerAbandonedError,
  WorkerProcessEndedError,
  WorkerStoppingError,
} from '../tasks/author-errors.ts'
import { openBranchWatch, type BranchWatch } from './branches/branch-watch.ts'
import { tellAll, type AttemptStepEvent, type WorkerObserver } from './events.ts'
import { deliverItem, finishAttempt, type DeliverySurroundings } from './results/finish-attempt.ts'
import { mapFailure } from './results/failure-map.ts'
import type { Lease, LeaseKeeper } from './leases/lease.ts'
import type { Fallback, Outbox } from './results/outbox.ts'
import { pollForTasks } from './polling/poller.ts'
import type { TaskQueue, TaskRecord } from './ports.ts'
import { PublishHints } from './attempt/publish-hints.ts'
import { readFreshAttempt } from './attempt/read-fresh-attempt.ts'
import {
  attemptInfoOf,
  runAttempt,
  type AttemptOutcome,
  type AttemptSurroundings,
} from './attempt/run-attempt.ts'
import { openSlots } from './polling/slots.ts'
import type { AttemptInfo, TaskDefinition } from '../tasks/task-definition.ts'

/** A task that a worker takes. */
export interface WorkerTask {
  readonly task: TaskDefinition
  /** The absolute path of its module; needed by bodies that do not run inline. */
  readonly modulePath?: string
}

export interface WorkerOptions extends Omit<AttemptSurroundings, 'readFresh' | 'clock' | 'random' | 'hints'> {
  readonly queue: TaskQueue
  readonly tasks: readonly WorkerTask[]
  readonly leases: LeaseKeeper
  readonly outbox: Outbox
  /** Unique among all workers; each claim adds a number. */
  readonly workerId: string
  /** How many attempts of all tasks run at the same time. */
  readonly slots?: number
  readonly domain?: string
  readonly observers?: readonly WorkerObserver[]
  readonly clock?: Clock
  readonly random?: Random
}

export interface RunningAttempt extends AttemptInfo {
  readonly executionId: string
  /** On the clock's monotonic scale, like all times here. */
  readonly startedAtMs: number
  readonly step: string
  /** When the queue last confirmed the lease. */
  readonly renewedAtMs: number
  readonly responseTimeoutSeconds: number
}

export interface WorkerStatus {
  readonly state: 'running' | 'stopping' | 'stopped'
  readonly startedAtMs: number
  readonly nowMs: number
  readonly slots: { readonly limit: number; readonly taken: number }
  /** By task type; `slots` is how many of it may run here at the same time. */
  readonly polls: Readonly<
    Record<string, { readonly succeededAtMs: number | undefined; readonly slots: number }>
  >
  readonly attempts: readonly RunningAttempt[]
}

export interface StopOptions {
  /** How long attempts may take to finish before they are aborted. */
  readonly deadlineMs?: number
}

export interface StopReport {
  /** Attempts that did not end in time; their leases run out. */
  readonly abandoned: readonly AttemptInfo[]
}

export interface RunningWorker {
  /** Resolves when every task type was polled once, or the worker was stopped before. */
  readonly ready: Promise<void>
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

interface Running {
  readonly info: AttemptInfo
  readonly executionId: string
  readonly startedAtMs: number
  readonly responseTimeoutSeconds: number
  readonly lease: Lease
  step: string
  /** False after its slots were released: only the clean-up is left. */
  hasSlot: boolean
  ended: Promise<void>
}

class OpenWorker implements RunningWorker {
  readonly ready: Promise<void>
  readonly #options: WorkerOptions
  readonly #clock: Clock
  readonly #random: Random
  readonly #observe: WorkerObserver
  readonly #stopping = new AbortController()
  readonly #shutdown = new AbortController()
  readonly #abortAll = new AbortController()
  readonly #closed = new AbortController()
  readonly #slots: ReturnType<typeof openSlots>
  readonly #branches: BranchWatch
  readonly #hints = new PublishHints()
  readonly #polledAtMs = new Map<string, number>()
  readonly #running = new Set<Running>()
  readonly #work: Promise<unknown>
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
    this.#observe = tellAll(options.observers ?? [])
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
    const collecting = collectPeriodically(options.root, { signal: this.#closed.signal })
    this.#background = Promise.all([this.#sendOutbox(), collecting])
    this.#work = Promise.all(options.tasks.map((task) => this.#poll(task)))
  }

  abandon(why: string): Promise<StopReport> {
    this.#abortAll.abort(new WorkerAbandonedError(why))
    return this.stop({ deadlineMs: 0 })
  }

  status(): WorkerStatus {
    const polls = this.#options.tasks.map((workerTask) => [
      workerTask.task.name,
      { succeededAtMs: this.#polledAtMs.get(workerTask.task.name), slots: this.#slotsOf(workerTask) },
    ])
    return {
      state: this.#state,
      startedAtMs: this.#startedAtMs,
      nowMs: this.#clock.monotonicMs(),
      slots: { limit: this.#slots.limit, taken: this.#countRunning({ hasSlot: true }) },
      polls: Object.fromEntries(polls) as WorkerStatus['polls'],
      attempts: [...this.#running].map(
        ({ info, lease, executionId, startedAtMs, step, responseTimeoutSeconds }) => ({
          ...{ ...info, executionId, startedAtMs, step, responseTimeoutSeconds },
          renewedAtMs: lease.renewedAtMs,
        }),
      ),
    }
  }

  async #stop({ deadlineMs = WORKER_STOP_DEADLINE_MS }: StopOptions = {}): Promise<StopReport> {
    this.#state = 'stopping'
    this.#stopping.abort(new WorkerStoppingError())
    this.#shutdown.abort(new BodyAbortedError('the worker is stopping'))
    if (!(await this.#isIdleWithin(deadlineMs))) {
      this.#abortAll.abort(new WorkerStoppingError())
      await this.#isIdleWithin(WORKER_ABORT_WAIT_MS)
    }
    const abandoned = [...this.#running].map(({ info }) => info)
    for (const info of abandoned)
      this.#options.logger.error('an attempt did not end and is abandoned', { ...info })
    this.#closed.abort()
    await Promise.all([this.#background, this.#branches.close()])
    this.#state = 'stopped'
    this.#becomeReady()
    return { abandoned }
  }

  #countRunning({ hasSlot }: { readonly hasSlot: boolean }): number {
    return [...this.#running].filter((running) => running.hasSlot === hasSlot).length
  }

  /** Whether all polls and attempts end in time. */
  async #isIdleWithin(waitMs: number): Promise<boolean> {
    const over = new AbortController()
    const idle = async (): Promise<boolean> => {
      await this.#work
      // A late poll may have added one meanwhile.
      while (this.#running.size > 0) await Promise.all([...this.#running].map(({ ended }) => ended))
      return true
    }
    const tooLate = this.#clock.sleep(waitMs, over.signal).catch(() => undefined)
    const isIdle = await Promise.race([idle(), tooLate.then(() => false)])
    over.abort()
    return isIdle
  }

  #poll(workerTask: WorkerTask): Promise<void> {
    const { task } = workerTask
    const { queue, tasks, workerId, domain, logger } = this.#options
    return pollForTasks({
      queue,
      taskType: task.name,
      domain,
      slots: [openSlots(this.#slotsOf(workerTask)), this.#slots],
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
      onTask: (record, releaseSlots) => this.#begin(record, workerTask, releaseSlots),
      onLateTask: (record) => this.#handBack(record),
    })
  }

  #slotsOf({ task }: WorkerTask): number {
    return Math.min(task.controls.limits.perWorker ?? this.#slots.limit, this.#slots.limit)
  }

  #begin(record: TaskRecord, workerTask: WorkerTask, releaseSlots: () => void): void {
    const { task } = workerTask
    const info = attemptInfoOf(record)
    const logger = this.#loggerFor(record)
    const responseTimeoutSeconds =
      record.responseTimeoutSeconds > 0
        ? record.responseTimeoutSeconds
        : task.controls.timeout.responseSeconds
    const lease = this.#options.leases.hold({
      attempt: record,
      responseTimeoutSeconds,
      policy: { whilePaused: task.controls.whilePaused },
    })
    const running: Running = {
      info,
      executionId: `${record.workerId}-${record.pollCount}`,
      startedAtMs: this.#clock.monotonicMs(),
      responseTimeoutSeconds,
      lease,
      step: 'claimed',
      hasSlot: true,
      ended: Promise.resolve(),
    }
    const free = (): void => {
      running.hasSlot = false
      releaseSlots()
    }
    // The next attempt need not wait for this clean-up, as long as there are fewer clean-ups than slots.
    const onDecided = (): void => {
      if (this.#countRunning({ hasSlot: false }) < this.#slots.limit) free()
    }
    this.#running.add(running)
    this.#branches.look({ record, task, info, logger })
    running.ended = this.#run({ record, workerTask, running, logger, onDecided })
      .catch((error: unknown) => logger.error('an attempt ended with an unexpected error', { error }))
      .finally(() => {
        this.#running.delete(running)
        free()
      })
  }

  async #run(of: {
    readonly record: TaskRecord
    readonly workerTask: WorkerTask
    readonly running: Running
    readonly logger: AttemptSurroundings['logger']
    readonly onDecided: () => void
  }): Promise<void> {
    const { record, workerTask, running, logger, onDecided } = of
    const { info, executionId, lease } = running
    const { queue } = this.#options
    this.#observe({ kind: 'attempt-started', attempt: info, executionId })
    const onLost = (): void => {
      logger.warn('the lease of an attempt is lost', { error: lease.lost.reason as unknown })
      this.#observe({ kind: 'lease-lost', attempt: info, error: lease.lost.reason })
    }
    lease.lost.addEventListener('abort', onLost, { once: true })
    const followed = followSignals(lease.lost, this.#abortAll.signal)
    const tellStep = (event: AttemptStepEvent): void => {
      running.step = event.step
      logger.debug(`step ${event.step}: ${event.outcome}`, { ...event.details, durationMs: event.durationMs })
      this.#observe({ kind: 'step', attempt: info, executionId, event })
    }
    const puttingFallback = this.#putFallback(record, logger)
    const outcome = await runAttempt(
      {
        ...workerTask,
        record,
        beforeBody: puttingFallback,
        executionId,
        signal: followed.signal,
        shutdown: this.#shutdown.signal,
        observe: tellStep,
        onProgress: (done, total, what) =>
          this.#observe({ kind: 'progress', attempt: info, done, total, what }),
      },
      {
        ...this.#options,
        clock: this.#clock,
        random: this.#random,
        logger,
        hints: this.#hints,
        readFresh: (attempt, options) => readFreshAttempt(queue, attempt, options),
      },
    )
    followed.release()
    const delivery = await finishAttempt(
      {
        attempt: record,
        outcome,
        lease,
        fallback: await puttingFallback,
        onDecided,
        step: createStepRecorder({ clock: this.#clock, observer: tellStep }).runAlways,
      },
      this.#delivery(logger),
    )
    lease.lost.removeEventListener('abort', onLost)
    this.#tellEnd({ running, outcome, delivery, logger })
  }

  /** If the body ends this process, the next one reports that, and the task is retried at once. */
  async #putFallback(
    record: TaskRecord,
    logger: AttemptSurroundings['logger'],
  ): Promise<Fallback | undefined> {
    const { taskId, workflowId, workerId } = record
    const { status, reason: reasonForIncompletion } = mapFailure(new WorkerProcessEndedError(), this.#options)
    const result = { taskId, workflowId, workerId, status, output: {}, reasonForIncompletion }
    try {
      return await this.#options.outbox.putFallback(record, result)
    } catch (error) {
      logger.warn('no fallback result could be written: if this process ends, the task has to time out', {
        error,
      })
      return undefined
    }
  }

  #tellEnd(of: {
    readonly running: Running
    readonly outcome: AttemptOutcome
    readonly delivery: Awaited<ReturnType<typeof finishAttempt>>
    readonly logger: AttemptSurroundings['logger']
  }): void {
    const { running, outcome, delivery, logger } = of
    const { error, result, publication } = outcome
    const code = (error as { readonly code?: unknown } | undefined)?.code
    const summary = {
      status: result.status,
      action: publication?.action,
      delivery,
      errorCode: typeof code === 'string' ? (code as `${string}/${string}`) : undefined,
      durationMs: this.#clock.monotonicMs() - running.startedAtMs,
    }
    if (error === undefined)
      logger.info('the task is done', { ...summary, outputRef: publication?.outputRef })
    else logger.warn('the task did not succeed', { ...summary, error, evidence: outcome.evidence })
    this.#observe({ kind: 'attempt-ended', attempt: running.info, executionId: running.executionId, summary })
  }

  /** A task that came while the worker was stopping; nothing has begun. */
  async #handBack(record: TaskRecord): Promise<void> {
    const { taskId, workflowId, workerId } = record
    const outcome: AttemptOutcome = {
      result: { taskId, workflowId, workerId, status: 'IN_PROGRESS', output: {}, callbackAfterSeconds: 0 },
      publication: undefined,
      evidence: undefined,
      error: undefined,
      cleanUp: () => Promise.resolve(),
    }
    const logger = this.#loggerFor(record)
    logger.info('a task came while the worker was stopping and is handed back')
    await finishAttempt({ attempt: record, outcome, lease: undefined }, this.#delivery(logger))
  }

  #delivery(logger: AttemptSurroundings['logger']): DeliverySurroundings {
    const { queue, outbox } = this.#options
    return { queue, outbox, clock: this.#clock, logger, signal: this.#closed.signal }
  }

  #loggerFor(record: TaskRecord): AttemptSurroundings['logger'] {
    return this.#options.logger.child({
      workflow: record.workflowId,
      task: record.taskType,
      taskId: record.taskId,
      attempt: record.retryCount,
    })
  }

  /** Sends results that an earlier process left, or that could not be delivered: at the start, and periodically. */
  async #sendOutbox(): Promise<void> {
    const { outbox, logger } = this.#options
    const { signal } = this.#closed
    while (!signal.aborted) {
      try {
        const items = await outbox.pending()
        this.#observe({ kind: 'outbox', waiting: items.length })
        for (const item of items) {
          const { workflowId, taskId } = item.attempt
          await deliverItem(item, this.#delivery(logger.child({ workflow: workflowId, taskId })))
        }
      } catch (error) {
        logger.error('the outbox could not be read', { error })
      }
      await this.#clock.sleep(OUTBOX_SEND_INTERVAL_MS, signal).catch(() => undefined)
    }
  }
}
