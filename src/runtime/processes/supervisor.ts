/**
 * Several worker processes over one root, each restarted when it ends.
 *
 * | a worker process | while running | while stopping |
 * |---|---|---|
 * | ends | restarted after a pause; the pause doubles, and is short again after a process that ran long enough | not restarted |
 * | does not end | | killed some time after its deadline |
 *
 * - SUP-1 One supervisor per root, by a lock that the system releases when its process ends.
 * - SUP-2 No worker outlives its supervisor: when the channel between them closes, it aborts its attempts and passes no
 *   fence any more; see `worker-process.ts`.
 */

import { resolve } from 'node:path'
import { isAborted } from '../../base/abort-signals.ts'
import { abortReason, systemClock, type Clock } from '../../base/clock.ts'
import {
  SUPERVISOR_KILL_AFTER_MS,
  SUPERVISOR_RESTART_MAX_MS,
  SUPERVISOR_RESTART_MS,
  SUPERVISOR_WELL_AFTER_MS,
} from '../limits.ts'
import { WORKER_ABORT_WAIT_MS, WORKER_STOP_DEADLINE_MS } from '../../worker/limits.ts'
import type { Logger } from '../../base/logger.ts'
import { once } from '../../base/once.ts'
import type { StopOptions } from '../../worker/worker.ts'
import type { ProcessLock } from '../../workspace/ownership/process-lock.ts'
import { takeRoot } from './take-root.ts'

/** A worker process as the supervisor sees it. */
export interface WorkerProcess {
  readonly pid: number | undefined
  /** Resolves when it takes work for the first time; never rejects, and may never resolve. */
  readonly ready: Promise<void>
  /** Resolves with how it ended; never rejects. */
  readonly ended: Promise<WorkerEnd>
  /** Asks it to stop within its deadline. */
  stop(deadlineMs: number): void
  kill(): void
}

export interface WorkerEnd {
  readonly how: string
  /** A restart cannot help, for example because the configuration is wrong. */
  readonly isForGood: boolean
}

export interface SupervisorOptions {
  readonly root: string
  readonly count: number
  /** Starts worker number `index`, from 0. `formerEnd`: how the one before it ended, unless it is the first. */
  readonly spawn: (index: number, formerEnd: string | undefined) => WorkerProcess
  readonly logger: Logger
  readonly clock?: Clock
}

/** Throws `runtime/root-taken` when somebody else has workers in the root. */
export async function superviseWorkers(options: SupervisorOptions): Promise<Supervisor> {
  return new Supervisor(options, await takeRoot(resolve(options.root)))
}

export class Supervisor {
  /** Resolves when each worker process was ready once. */
  readonly ready: Promise<void>
  /** Resolves when all have ended: after `stop`, or because one ended for good; then with the reason. */
  readonly ended: Promise<string | undefined>
  readonly #options: SupervisorOptions
  readonly #clock: Clock
  readonly #stopping = new AbortController()
  readonly #running = new Map<number, WorkerProcess>()
  #deadlineMs = WORKER_STOP_DEADLINE_MS
  #reason: string | undefined

  constructor(options: SupervisorOptions, lock: ProcessLock) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    const workers = Array.from({ length: options.count }, (_, index) => this.#supervise(index))
    this.ready = Promise.all(workers.map(({ ready }) => ready)).then(() => undefined)
    this.ended = Promise.all(workers.map(({ ended }) => ended))
      .finally(() => lock.release())
      .then(() => this.#reason)
  }

  /** The process ids of the workers that run. */
  pids(): readonly number[] {
    return [...this.#running.values()].map(({ pid }) => pid).filter((pid) => pid !== undefined)
  }

  /** Stops all of them. May be called twice. */
  readonly stop = once(async ({ deadlineMs = WORKER_STOP_DEADLINE_MS }: StopOptions = {}): Promise<void> => {
    this.#deadlineMs = deadlineMs
    this.#stopping.abort(new Error('the workers are stopping'))
    await this.ended
  })

  /** Ends all of them at once, as a crash would: what they were doing is repeated. */
  kill(): void {
    for (const worker of this.#running.values()) worker.kill()
  }

  #supervise(index: number): { readonly ready: Promise<void>; readonly ended: Promise<void> } {
    let becomeReady: () => void = () => undefined
    const ready = new Promise<void>((done) => (becomeReady = done))
    const ended = this.#run(index, becomeReady).finally(() => {
      this.#running.delete(index)
      becomeReady()
    })
    return { ready, ended }
  }

  async #run(index: number, becomeReady: () => void): Promise<void> {
    const { spawn, logger } = this.#options
    const { signal } = this.#stopping
    let pauseMs = SUPERVISOR_RESTART_MS
    let formerEnd: string | undefined
    while (!signal.aborted) {
      const startedAtMs = this.#clock.monotonicMs()
      const worker = spawn(index, formerEnd)
      this.#running.set(index, worker)
      worker.ready.then(becomeReady, () => undefined)
      const end = await this.#untilEnded(worker)
      formerEnd = end.how
      this.#running.delete(index)
      if (isAborted(signal)) return
      if (end.isForGood) {
        // Whoever waits for `ended` tells it.
        logger.debug('a worker process ended for good', { index, how: end.how })
        this.#reason ??= end.how
        this.#stopping.abort(new Error(end.how))
        return
      }
      if (this.#clock.monotonicMs() - startedAtMs >= SUPERVISOR_WELL_AFTER_MS) pauseMs = SUPERVISOR_RESTART_MS
      logger.warn('a worker process ended and is started again', { index, how: end.how, pauseMs })
      await this.#clock.sleep(pauseMs, signal).catch(() => undefined)
      pauseMs = Math.min(pauseMs * 2, SUPERVISOR_RESTART_MAX_MS)
    }
  }

  /** Asks it to stop when the supervisor stops, and kills it if it does not. */
  async #untilEnded(worker: WorkerProcess): Promise<WorkerEnd> {
    const over = new AbortController()
    const { signal } = this.#stopping
    const stop = (): void => {
      worker.stop(this.#deadlineMs)
      const withinMs = Math.max(this.#deadlineMs, WORKER_ABORT_WAIT_MS)
      this.#clock.sleep(withinMs + SUPERVISOR_KILL_AFTER_MS, over.signal).then(
        () => {
          this.#options.logger.error('a worker process did not stop and is killed', { pid: worker.pid })
          worker.kill()
        },
        () => undefined,
      )
    }
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    try {
      return await worker.ended
    } finally {
      signal.removeEventListener('abort', stop)
      over.abort(abortReason(undefined))
    }
  }
}
