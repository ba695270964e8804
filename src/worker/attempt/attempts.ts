/**
 * The attempts that one worker runs: each from its claim to its result, with its lease, and what was claimed too late and is
 * handed back.
 */

import { followSignals } from '../../base/abort-signals.ts'
import type { Clock } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import type { Random } from '../../base/random.ts'
import { createStepRecorder } from '../../base/steps.ts'
import { BodyAbortedError, WorkerProcessEndedError } from '../../tasks/author-errors.ts'
import type { AttemptInfo } from '../../tasks/task-definition.ts'
import type { BranchWatch } from '../branches/branch-watch.ts'
import type { AttemptStepEvent, WorkerObserver } from '../events.ts'
import type { Lease } from '../leases/lease.ts'
import type { Outages } from '../outages/outage.ts'
import type { TaskRecord } from '../ports.ts'
import { mapFailure } from '../results/failure-map.ts'
import { finishAttempt, type DeliverySurroundings } from '../results/finish-attempt.ts'
import type { Fallback } from '../results/outbox.ts'
import type { WorkerOptions, WorkerTask } from '../worker-options.ts'
import { readFreshAttempt } from './read-fresh-attempt.ts'
import { attemptInfoOf, runAttempt, type AttemptOutcome, type AttemptSurroundings } from './run-attempt.ts'

export interface RunningAttempt extends AttemptInfo {
  readonly executionId: string
  /** On the clock's monotonic scale, like all times here. */
  readonly startedAtMs: number
  readonly step: string
  /** When the queue last confirmed the lease. */
  readonly renewedAtMs: number
  readonly responseTimeoutSeconds: number
}

export interface AttemptsOptions extends WorkerOptions {
  readonly clock: Clock
  readonly random: Random
  readonly observe: WorkerObserver
  readonly outages: Outages
  readonly branches: Pick<BranchWatch, 'look'>
  /** How many may run at the same time. */
  readonly slotsMax: number
  /** Nothing is sent any more once it is aborted. */
  readonly closed: AbortSignal
  /** A result was left to the outbox. */
  readonly onKept: () => void
}

/** What comes with a task that was claimed. */
export interface Claimed {
  readonly releaseSlots: () => void
  /** When the poll was sent that claimed it, on the clock's monotonic scale. */
  readonly sinceMs?: number | undefined
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

export class Attempts {
  readonly #options: AttemptsOptions
  readonly #shutdown = new AbortController()
  readonly #abortAll = new AbortController()
  readonly #running = new Set<Running>()
  readonly #handingBack = new Set<Promise<void>>()

  constructor(options: AttemptsOptions) {
    this.#options = options
  }

  /** Tells the bodies; they go on. */
  shutDown(): void {
    this.#shutdown.abort(new BodyAbortedError('the worker is stopping'))
  }

  abort(reason: Error): void {
    this.#abortAll.abort(reason)
  }

  count({ hasSlot }: { readonly hasSlot: boolean }): number {
    return [...this.#running].filter((running) => running.hasSlot === hasSlot).length
  }

  get running(): readonly AttemptInfo[] {
    return [...this.#running].map(({ info }) => info)
  }

  show(): readonly RunningAttempt[] {
    return [...this.#running].map(
      ({ info, lease, executionId, startedAtMs, step, responseTimeoutSeconds }) => ({
        ...{ ...info, executionId, startedAtMs, step, responseTimeoutSeconds },
        renewedAtMs: lease.renewedAtMs,
      }),
    )
  }

  async untilNone(): Promise<void> {
    // A late poll may have added one meanwhile.
    while (this.#running.size + this.#handingBack.size > 0)
      await Promise.all([...[...this.#running].map(({ ended }) => ended), ...this.#handingBack])
  }

  begin(record: TaskRecord, workerTask: WorkerTask, { releaseSlots, sinceMs }: Claimed): void {
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
      executionId: this.#options.executionIdOf?.(record) ?? `${record.workerId}-${record.pollCount}`,
      startedAtMs: this.#options.clock.monotonicMs(),
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
      if (this.count({ hasSlot: false }) < this.#options.slotsMax) free()
    }
    this.#running.add(running)
    this.#options.branches.look({ record, task, info, logger })
    running.ended = this.#run({ record, workerTask, running, logger, onDecided, sinceMs })
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
    readonly sinceMs: number | undefined
  }): Promise<void> {
    const { record, workerTask, running, logger, onDecided, sinceMs } = of
    const { info, executionId, lease } = running
    const { queue } = this.#options
    const { traceparent } = record
    const started = { kind: 'attempt-started', attempt: info, executionId } as const
    this.#options.observe({ ...started, ...defined({ traceparent }) })
    const onLost = (): void => {
      // The end of the attempt says why.
      logger.info('the lease of an attempt is lost')
      this.#options.observe({ kind: 'lease-lost', attempt: info, error: lease.lost.reason })
    }
    lease.lost.addEventListener('abort', onLost, { once: true })
    const followed = followSignals(lease.lost, this.#abortAll.signal)
    const tellStep = (event: AttemptStepEvent): void => {
      running.step = event.step
      logger.debug(`step ${event.step}: ${event.outcome}`, { ...event.details, durationMs: event.durationMs })
      this.#options.observe({ kind: 'step', attempt: info, executionId, event })
    }
    const puttingFallback = this.#putFallback(record, logger)
    const served = this.#options.outages.whileServed()
    const outcome = await runAttempt(
      {
        ...workerTask,
        ...{ record, sinceMs },
        beforeBody: puttingFallback,
        whileLayingOut: served.signal,
        executionId,
        signal: followed.signal,
        shutdown: this.#shutdown.signal,
        observe: tellStep,
        sendLog: (text, options) => queue.appendLog(record.taskId, text, options),
        onProgress: (done, total, what) =>
          this.#options.observe({ kind: 'progress', attempt: info, done, total, what }),
      },
      {
        ...this.#options,
        logger,
        readFresh: (attempt, options) => readFreshAttempt(queue, attempt, options),
      },
    )
    followed.release()
    served.release()
    const delivery = await finishAttempt(
      {
        attempt: record,
        outcome,
        lease,
        fallback: await puttingFallback,
        onDecided,
        step: createStepRecorder({ clock: this.#options.clock, observer: tellStep }).runAlways,
      },
      this.#delivery(logger),
    )
    if (delivery === 'kept') this.#options.onKept()
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
      this.#options.onFileError?.(error)
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
      strength: publication?.strength,
      delivery,
      errorCode: typeof code === 'string' ? (code as `${string}/${string}`) : undefined,
      durationMs: this.#options.clock.monotonicMs() - running.startedAtMs,
      outputRef: publication?.outputRef,
      changed: outcome.changed,
    }
    if (this.#options.logsEnds === false)
      logger.debug('the attempt has ended', { evidence: outcome.evidence })
    else if (error === undefined) logger.info('the task is done', summary)
    else logger.warn('the task did not succeed', { ...summary, error, evidence: outcome.evidence })
    this.#options.observe({
      kind: 'attempt-ended',
      attempt: running.info,
      executionId: running.executionId,
      summary,
      ...(error !== undefined && { error }),
    })
  }

  /** A task that came while the worker was stopping; nothing has begun. */
  handBack(record: TaskRecord): Promise<void> {
    const handingBack = this.#deliverBack(record).finally(() => this.#handingBack.delete(handingBack))
    this.#handingBack.add(handingBack)
    return handingBack
  }

  async #deliverBack(record: TaskRecord): Promise<void> {
    const { taskId, workflowId, workerId } = record
    const outcome: AttemptOutcome = {
      result: { taskId, workflowId, workerId, status: 'IN_PROGRESS', output: {}, callbackAfterSeconds: 0 },
      publication: undefined,
      evidence: undefined,
      changed: undefined,
      error: undefined,
      cleanUp: () => Promise.resolve(),
    }
    const logger = this.#loggerFor(record)
    logger.info('a task came while the worker was stopping and is handed back')
    const delivery = await finishAttempt(
      { attempt: record, outcome, lease: undefined },
      this.#delivery(logger),
    )
    if (delivery === 'kept') this.#options.onKept()
  }

  #delivery(logger: AttemptSurroundings['logger']): DeliverySurroundings {
    const { queue, outbox, clock, closed } = this.#options
    return { queue, outbox, clock, logger, signal: closed }
  }

  #loggerFor(record: TaskRecord): AttemptSurroundings['logger'] {
    return this.#options.logger.child({
      workflow: record.workflowId,
      task: record.taskType,
      taskId: record.taskId,
      attempt: record.retryCount,
    })
  }
}
