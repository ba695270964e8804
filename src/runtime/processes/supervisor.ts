/**
 * Several worker processes over one root, each started again when it ends.
 *
 * | a worker process | while running | while stopping |
 * |---|---|---|
 * | ends | started again after a pause; the pauses double, and begin anew after one that ran well | not started again |
 * | does not end | | killed after its deadline and a grace |
 *
 * - SUP-1 One supervisor for each root, by a lock that dies with its process, however that dies.
 * - SUP-2 No worker outlives its supervisor: each notices that the channel between them has closed, aborts what it
 *   does and passes no fence any more; see `worker-process.ts`.
 */

import { join, resolve } from 'node:path'
import { abortReason, systemClock, type Clock } from '../../base/clock.ts'
import { InvalidError, RefusedError } from '../../base/errors.ts'
import {
  SUPERVISOR_KILL_AFTER_MS,
  SUPERVISOR_RESTART_MAX_MS,
  SUPERVISOR_RESTART_MS,
  SUPERVISOR_WELL_AFTER_MS,
} from '../limits.ts'
import { WORKER_STOP_DEADLINE_MS } from '../../worker/limits.ts'
import type { Logger } from '../../base/logger.ts'
import { makeDirectory } from '../../base/make-directory.ts'
import { takeProcessLock } from '../../workspace/ownership/process-lock.ts'

/** One worker process, as the supervisor meets it. */
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
  /** It says that starting it again cannot help, such as for a configuration that is wrong. */
  readonly isForGood: boolean
}

export interface SupervisorOptions {
  readonly root: string
  readonly count: number
  /** Starts worker number `index`, from 0. */
  readonly spawn: (index: number) => WorkerProcess
  /** Done while the lock is held and no worker runs yet. */
  readonly prepare?: () => Promise<void>
  readonly logger: Logger
  readonly clock?: Clock
}

export interface Supervisor {
  /** Resolves when each worker process was ready once. */
  readonly ready: Promise<void>
  /** Resolves when all have ended: after `stop`, or because one ended for good; then with its words. */
  readonly ended: Promise<string | undefined>
  /** The process ids of the workers that live. */
  pids(): readonly number[]
  /** Stops all of them. Again: the same promise. */
  stop(options?: { readonly deadlineMs?: number }): Promise<void>
}

/** Throws `runtime/root-taken` when another supervisor has the root. */
export async function superviseWorkers(options: SupervisorOptions): Promise<Supervisor> {
  const directory = resolve(options.root)
  makeRoot(directory)
  const lock = await takeProcessLock(join(directory, 'supervisor.lock'))
  if (lock === undefined) {
    throw new RefusedError(
      'runtime/root-taken',
      `start workers in ${JSON.stringify(directory)}: others run there`,
      { next: 'Stop them first, or give these a root of their own.' },
    )
  }
  try {
    await options.prepare?.()
  } catch (error) {
    lock.release()
    throw error
  }
  return new OpenSupervisor(options, () => lock.release())
}

function makeRoot(directory: string): void {
  try {
    makeDirectory(directory)
  } catch (error) {
    throw new InvalidError(
      'runtime/bad-root',
      `start workers in ${JSON.stringify(directory)}: ${error instanceof Error ? error.message : String(error)}`,
      { next: 'Name a directory that this user may make and write.', cause: error },
    )
  }
}

class OpenSupervisor implements Supervisor {
  readonly ready: Promise<void>
  readonly ended: Promise<string | undefined>
  readonly #options: SupervisorOptions
  readonly #clock: Clock
  readonly #stopping = new AbortController()
  readonly #living = new Map<number, WorkerProcess>()
  #deadlineMs = WORKER_STOP_DEADLINE_MS
  #stopped: Promise<void> | undefined
  #why: string | undefined

  constructor(options: SupervisorOptions, release: () => void) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    const kept = Array.from({ length: options.count }, (_, index) => this.#keep(index))
    this.ready = Promise.all(kept.map(({ ready }) => ready)).then(() => undefined)
    this.ended = Promise.all(kept.map(({ ended }) => ended)).then(
      () => {
        release()
        return this.#why
      },
      (error: unknown) => {
        release()
        throw error
      },
    )
  }

  pids(): readonly number[] {
    return [...this.#living.values()].map(({ pid }) => pid).filter((pid) => pid !== undefined)
  }

  stop({ deadlineMs = WORKER_STOP_DEADLINE_MS }: { readonly deadlineMs?: number } = {}): Promise<void> {
    if (this.#stopped === undefined) {
      this.#deadlineMs = deadlineMs
      this.#stopping.abort(new Error('the workers are stopping'))
      this.#stopped = this.ended.then(() => undefined)
    }
    return this.#stopped
  }

  #keep(index: number): { readonly ready: Promise<void>; readonly ended: Promise<void> } {
    let becomeReady: () => void = () => undefined
    const ready = new Promise<void>((done) => (becomeReady = done))
    const ended = this.#run(index, becomeReady).finally(() => {
      this.#living.delete(index)
      becomeReady()
    })
    return { ready, ended }
  }

  async #run(index: number, becomeReady: () => void): Promise<void> {
    const { spawn, logger } = this.#options
    const { signal } = this.#stopping
    let pauseMs = SUPERVISOR_RESTART_MS
    while (!signal.aborted) {
      const startedAtMs = this.#clock.monotonicMs()
      const worker = spawn(index)
      this.#living.set(index, worker)
      worker.ready.then(becomeReady, () => undefined)
      const end = await this.#untilEnded(worker)
      this.#living.delete(index)
      if (isAborted(signal)) return
      if (end.isForGood) {
        logger.error('a worker process ended for good', { index, how: end.how })
        this.#why ??= end.how
        this.#stopping.abort(new Error(end.how))
        return
      }
      if (this.#clock.monotonicMs() - startedAtMs >= SUPERVISOR_WELL_AFTER_MS) pauseMs = SUPERVISOR_RESTART_MS
      logger.warn('a worker process ended and is started again', { index, how: end.how, pauseMs })
      await this.#clock.sleep(pauseMs, signal).catch(() => undefined)
      pauseMs = Math.min(pauseMs * 2, SUPERVISOR_RESTART_MAX_MS)
    }
  }

  /** Asks it to stop when everybody is asked to, and kills it when it does not. */
  async #untilEnded(worker: WorkerProcess): Promise<WorkerEnd> {
    const over = new AbortController()
    const { signal } = this.#stopping
    const stop = (): void => {
      worker.stop(this.#deadlineMs)
      this.#clock.sleep(this.#deadlineMs + SUPERVISOR_KILL_AFTER_MS, over.signal).then(
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

// A function, because the signal changes while the loop awaits, which control-flow analysis cannot know.
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted
}
