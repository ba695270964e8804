/** Starts workers from code: one in this process, or several processes under a supervisor. */

import { resolve } from 'node:path'
import { aborted } from '../base/abort-signals.ts'
import { defined } from '../base/defined.ts'
import { InvalidError } from '../base/errors.ts'
import type { TaskDefinition } from '../tasks/task-definition.ts'
import type { WorkerHealth } from '../worker/health.ts'
import type { StopOptions } from '../worker/worker.ts'
import { needsModule, openHere, readOpening, type Opening, type OpeningOptions } from './open-here.ts'

export interface StartWorkersOptions extends OpeningOptions {
  /** The module that exports the tasks, such as `tasks.ts`; or the tasks themselves, for a worker in this process. */
  readonly tasks: string | readonly TaskDefinition[]
  /** How many worker processes to start, restarted when they end; without it the worker runs in this process. */
  readonly processes?: number
  /** How many tasks each worker runs at the same time; 4 unless given. */
  readonly slots?: number
  /** Takes only tasks of this domain. */
  readonly domain?: string
}

export interface Workers {
  /** Resolves when every worker has polled for each of its tasks, or has stopped. */
  readonly ready: Promise<void>
  /** Resolves when all have stopped; rejects with `runtime/workers-ended` if one ended and a restart cannot help. */
  readonly closed: Promise<void>
  /** The addresses of health and metrics, as far as they are known. */
  readonly healthUrls: readonly string[]
  /** Whether tasks are taken and worked on; for worker processes, whether each of them runs. */
  health(): WorkerHealth
  /** Takes no more tasks, lets running ones finish, and aborts them at the deadline. May be called twice. */
  stop(options?: StopOptions): Promise<void>
}

/**
 * Throws what keeps the workers from starting: a configuration that is wrong, tasks that are not registered, a root that
 * other workers use.
 *
 * ```ts
 * const workers = await startWorkers({ tasks: 'tasks.ts', slots: 8 })
 * await workers.ready
 * process.once('SIGTERM', () => void workers.stop())
 * await workers.closed
 * ```
 */
export async function startWorkers(options: StartWorkersOptions): Promise<Workers> {
  options.signal?.throwIfAborted()
  const { tasks, processes, signal, slots, domain } = options
  const read = await readOpening(options)
  const opening = { ...read, options: { ...read.options, ...defined({ slots, domain }) } }
  const workers =
    processes === undefined
      ? await startHere(tasks, opening, signal)
      : await startSupervised(tasks, processes, opening, signal)
  // Who waits for `closed` learns of a failure; if nobody does, it must not end this process.
  workers.closed.catch(() => undefined)
  aborted(signal)
    .then(() => workers.stop())
    .catch(() => undefined)
  return workers
}

async function startHere(
  tasks: StartWorkersOptions['tasks'],
  opening: Opening,
  signal: AbortSignal | undefined,
): Promise<Workers> {
  const { worker, closed, healthUrls, health, stop } = await openHere(tasks, opening, signal)
  return { ready: worker.ready, closed, healthUrls, health, stop }
}

async function startSupervised(
  tasks: StartWorkersOptions['tasks'],
  count: number,
  { loaded, logger, options }: Opening,
  signal: AbortSignal | undefined,
): Promise<Workers> {
  if (typeof tasks !== 'string') {
    throw needsModule('start worker processes', 'Give the path of the module that exports the tasks.')
  }
  const { startProcesses } = await import('./processes/start-processes.ts')
  const healthUrls: string[] = []
  const supervisor = await startProcesses({
    order: {
      configuration: loaded.configuration,
      modulePath: resolve(tasks),
      secrets: loaded.secrets,
      log: { ...loaded.configuration.log, isTerminal: process.stderr.isTTY },
      options,
    },
    count,
    logger,
    signal,
    onHealth: (index, url) => (healthUrls[index] = url),
  })
  return {
    ready: supervisor.ready,
    closed: supervisor.ended.then((reason) => {
      if (reason === undefined) return
      const problem = `keep the workers running: one ended for good: ${reason}`
      throw new InvalidError('runtime/workers-ended', problem, {
        next: 'Correct what is named, and start again.',
      })
    }),
    get healthUrls() {
      return Object.values(healthUrls)
    },
    health: () => {
      const missing = count - supervisor.pids().length
      const problems = missing === 0 ? [] : [`${missing} of ${count} worker processes do not run`]
      return { ok: missing === 0, problems }
    },
    stop: (stop) => supervisor.stop(stop),
  }
}
