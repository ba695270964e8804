/**
 * One executor of a pool: polls for its units while it is up and has room, and knows how it does.
 *
 * | health | polls | units that run |
 * |---|---|---|
 * | up | yes | run |
 * | down | none | are aborted and given back |
 */

import { setMaxListeners } from 'node:events'
import { aborted, isAborted, unlessAborted } from '../../base/abort-signals.ts'
import { abortReason, type Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import type { Random } from '../../base/random.ts'
import { ExecutorLostError, WorkerStoppingError } from '../../tasks/author-errors.ts'
import { attemptInfoOf } from '../attempt/run-attempt.ts'
import { EXECUTOR_EXAMINE_MS, EXECUTOR_EXAMINE_TIMEOUT_MS } from '../limits.ts'
import { pollForTasks } from '../polling/poller.ts'
import { openSlots } from '../polling/slots.ts'
import type { TaskQueue, TaskRecord } from '../ports.ts'
import type { Executor, ExecutorStatus, RunningUnit } from './executor-port.ts'
import { giveBack, runUnit, type UnitEnd, type UnitRunParts } from './run-unit.ts'

export interface PooledExecutorParts extends UnitRunParts {
  readonly queue: TaskQueue
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** Distinguishes the claims of this process from those of others. */
  readonly instance: string
  /** A result was left to the outbox. */
  readonly onKept: () => void
}

export class PooledExecutor {
  readonly executor: Executor
  readonly #parts: PooledExecutorParts
  readonly #stopping = new AbortController()
  /** Aborts what runs; a new one for each time that the executor is up. */
  #period = openPeriod()
  #down: string | undefined
  #since: Date
  readonly #running = new Map<TaskRecord, RunningUnit>()
  readonly #units = new Set<Promise<void>>()
  readonly #ended = { completed: 0, failed: 0, givenBack: 0, superseded: 0 }
  #claims = 0
  #rise: () => void = () => undefined
  #risen: Promise<void> = Promise.resolve()
  readonly #work: Promise<unknown>

  constructor(executor: Executor, parts: PooledExecutorParts) {
    this.executor = executor
    this.#parts = parts
    this.#since = parts.clock.now()
    setMaxListeners(0, this.#stopping.signal)
    // What can be examined is, before it gets its first unit.
    if (executor.examine !== undefined) this.#setDown('it is being examined')
    this.#work = Promise.all([this.#examine(), this.#poll()])
  }

  status(): ExecutorStatus {
    const { name, types, capacity, domain, labels = {} } = this.executor
    const since = this.#since.toISOString()
    const health =
      this.#down === undefined
        ? ({ is: 'up', since } as const)
        : ({ is: 'down', why: this.#down, since } as const)
    return {
      ...{ name, types, capacity, labels, health },
      ...(domain === undefined ? {} : { domain }),
      state: isAborted(this.#stopping.signal) ? 'stopping' : 'running',
      running: [...this.#running.values()],
      ended: { ...this.#ended },
    }
  }

  /** Takes no more units, lets those that run end, and gives back at the deadline what still runs. May be called twice. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping.abort(new WorkerStoppingError())
    const over = new AbortController()
    const tooLate = this.#parts.clock.sleep(deadlineMs, over.signal).then(
      () => this.#period.abort(new WorkerStoppingError()),
      () => undefined,
    )
    await this.#work
    while (this.#units.size > 0) await Promise.all(this.#units)
    over.abort()
    await tooLate
  }

  async #poll(): Promise<void> {
    const { name, types, capacity, domain } = this.executor
    const { queue, clock, random, logger, instance } = this.#parts
    const shared = openSlots(capacity)
    const polls = types.map((taskType) =>
      pollForTasks({
        ...{ queue, taskType, domain, clock, random },
        logger: logger.child({ executor: name, task: taskType }),
        slots: [openSlots(capacity), shared],
        hold: {
          isHeld: () => this.#down !== undefined,
          untilFree: (signal) => this.#untilUp(signal),
        },
        nextWorkerId: () => `${name}:${instance}-${++this.#claims}`,
        stopping: this.#stopping.signal,
        onPolled: () => undefined,
        onTask: (record, releaseSlots) => this.#begin(record, releaseSlots),
        onLateTask: (record) => this.#giveBack(record),
      }),
    )
    await Promise.all(polls)
  }

  #begin(record: TaskRecord, releaseSlots: () => void): void {
    const { clock } = this.#parts
    const logger = this.#loggerFor(record)
    const { signal: stop } = this.#period
    this.#running.set(record, { ...attemptInfoOf(record), since: clock.now().toISOString() })
    const unit = runUnit({ record, executor: this.executor, stop }, { ...this.#parts, logger })
      .then((end) => this.#note(end, logger))
      .catch((error: unknown) => logger.error('a unit ended with an unexpected error', { error }))
      .finally(() => {
        this.#running.delete(record)
        this.#units.delete(unit)
        releaseSlots()
      })
    this.#units.add(unit)
  }

  #note({ is, isKept, error }: UnitEnd, logger: Logger): void {
    this.#ended[is] += 1
    if (isKept) this.#parts.onKept()
    if (error === undefined) logger.info('a unit is done')
    else logger.warn('a unit did not succeed', { error, end: is })
    if (error instanceof ExecutorLostError) this.#setDown(messageOf(error))
  }

  /** It came while the executor was stopping; nothing has begun. */
  async #giveBack(record: TaskRecord): Promise<void> {
    const isKept = await giveBack(record, { ...this.#parts, logger: this.#loggerFor(record) })
    this.#ended.givenBack += 1
    if (isKept) this.#parts.onKept()
  }

  /** Until it is stopped. One that cannot be examined is up again after a while. */
  async #examine(): Promise<void> {
    const { signal } = this.#stopping
    const { clock } = this.#parts
    let waitMs = this.executor.examine === undefined ? EXECUTOR_EXAMINE_MS : 0
    while (!isAborted(signal)) {
      await clock.sleep(waitMs, signal).catch(() => undefined)
      waitMs = EXECUTOR_EXAMINE_MS
      if (isAborted(signal)) return
      const why = await this.#findFault(signal)
      if (why !== undefined) this.#setDown(why)
      else if (!isAborted(signal)) this.#setUp()
    }
  }

  async #findFault(stopping: AbortSignal): Promise<string | undefined> {
    const { executor } = this
    if (executor.examine === undefined) return undefined
    const over = new AbortController()
    const { clock } = this.#parts
    const tooLong = clock
      .sleep(EXECUTOR_EXAMINE_TIMEOUT_MS, over.signal)
      .then(() => 'it did not answer in time')
    tooLong.catch(() => undefined)
    try {
      const examined = Promise.resolve().then(() => executor.examine?.({ signal: over.signal }))
      const answered = examined.then(
        () => undefined,
        (error: unknown) => messageOf(error),
      )
      return await unlessAborted(Promise.race([answered, tooLong]), stopping)
    } catch {
      // It is being stopped.
      return undefined
    } finally {
      over.abort()
    }
  }

  #setDown(why: string): void {
    const wasUp = this.#down === undefined
    this.#down = why
    if (!wasUp) return
    this.#since = this.#parts.clock.now()
    this.#risen = new Promise((resolve) => (this.#rise = resolve))
    this.#parts.logger.warn('an executor gets no units until it is up again', {
      ...{ executor: this.executor.name, why },
    })
    this.#period.abort(new ExecutorLostError(`run units on executor "${this.executor.name}": ${why}`))
  }

  #setUp(): void {
    if (this.#down === undefined) return
    this.#down = undefined
    this.#since = this.#parts.clock.now()
    this.#period = openPeriod()
    this.#parts.logger.info('an executor is up', { executor: this.executor.name })
    this.#rise()
  }

  async #untilUp(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#risen, aborted(signal)])
    if (signal.aborted) throw abortReason(signal)
  }

  #loggerFor({ workflowId, taskType, taskId, retryCount }: TaskRecord): Logger {
    return this.#parts.logger.child({
      ...{ executor: this.executor.name, workflow: workflowId },
      ...{ task: taskType, taskId, attempt: retryCount },
    })
  }
}

function openPeriod(): AbortController {
  const period = new AbortController()
  // Each unit that runs follows it.
  setMaxListeners(0, period.signal)
  return period
}
