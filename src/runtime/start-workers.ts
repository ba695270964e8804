/** Starts workers from code: one in this process, or several processes under a supervisor. */

import { resolve } from 'node:path'
import { aborted } from '../base/abort-signals.ts'
import { defined } from '../base/defined.ts'
import { InvalidError } from '../base/errors.ts'
import { silentLogger, type Logger, type LogLevel } from '../base/logger.ts'
import { createRedactor } from '../base/redaction.ts'
import type { TaskDefinition } from '../tasks/task-definition.ts'
import type { WorkerHealth } from '../worker/health.ts'
import type { StopOptions } from '../worker/worker.ts'
import type { LoadedConfiguration, LogFormat } from './configuration/configuration.ts'
import type { HealthAddress } from './telemetry/worker-health.ts'
import type { OpenWorkerOptions } from './worker.ts'

/** Settings by the names they have in `perago.yaml`. They win over environment variables and the file. */
export interface WorkersSettings {
  readonly lakefs?: {
    readonly endpoint?: string
    readonly accessKeyId?: string
    readonly secretAccessKey?: string
    readonly connections?: number
  }
  readonly conductor?: {
    readonly serverUrl?: string
    readonly authKey?: string
    readonly authSecret?: string
  }
  readonly cache?: { readonly size?: string | 0; readonly warm?: boolean }
  readonly outages?: { readonly giveUpAfter?: string }
  readonly results?: { readonly secrets?: 'refuse' | 'redact' }
  readonly log?: { readonly level?: LogLevel; readonly format?: LogFormat }
}

export interface StartWorkersOptions {
  /** The module that exports the tasks, such as `tasks.ts`; or the tasks themselves, for a worker in this process. */
  readonly tasks: string | readonly TaskDefinition[]
  /** What is not set here comes from environment variables and the configuration file, as for `perago start`. */
  readonly settings?: WorkersSettings
  /** The configuration file; `perago.yaml` of the working directory unless given. */
  readonly configurationFile?: string
  /** The directory for workspaces and undelivered results; `.perago/work` unless given. Only one start per root. */
  readonly root?: string
  /** How many worker processes to start, restarted when they end; without it the worker runs in this process. */
  readonly processes?: number
  /** How many tasks each worker runs at the same time; 4 unless given. */
  readonly slots?: number
  /** Takes only tasks of this domain. */
  readonly domain?: string
  /** Starts even if the server has other definitions of the tasks. */
  readonly allowDrift?: boolean
  /** The version of the task code, recorded with each publication. */
  readonly codeVersion?: string
  /** Serves `/healthz`, `/readyz` and `/metrics`; further processes take the ports that follow. */
  readonly health?: HealthAddress
  /** Aborted to stop the workers, as `stop()` does. */
  readonly signal?: AbortSignal
  /** Silent unless given. Worker processes write their own logs to stderr, as the settings of `log` say. */
  readonly logger?: Logger
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
  // Loaded here and below, because every module that declares tasks imports the package.
  const { loadConfiguration } = await import('./configuration/configuration.ts')
  const loaded = await loadConfiguration({
    directory: process.cwd(),
    environment: process.env,
    path: options.configurationFile,
    flags: flagsOf(options.settings ?? {}),
  })
  const { slots, domain, allowDrift, codeVersion, health } = options
  const { 'cache.size': cacheSize, 'cache.warm': warm, 'outages.giveUpAfter': outageGiveUp } = loaded.settings
  const opening: Opening = {
    loaded,
    logger: options.logger ?? silentLogger,
    options: {
      root: resolve(options.root ?? '.perago/work'),
      ...defined({ cacheBytes: cacheSize.value, warm: warm.value, outageGiveUpMs: outageGiveUp.value }),
      ...defined({ slots, domain, allowDrift, codeVersion, health }),
    },
  }
  const { tasks, processes, signal } = options
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

interface Opening {
  readonly loaded: LoadedConfiguration
  readonly logger: Logger
  readonly options: Omit<OpenWorkerOptions, 'logger' | 'redactor' | 'assertMayAct' | 'observers' | 'signal'>
}

async function startHere(
  tasks: StartWorkersOptions['tasks'],
  { loaded, logger, options }: Opening,
  signal: AbortSignal | undefined,
): Promise<Workers> {
  if (typeof tasks !== 'string') assertRunHere(tasks)
  const [{ takeRoot }, { openWorker }, { judgeReadiness }] = await Promise.all([
    import('./processes/take-root.ts'),
    import('./worker.ts'),
    import('../worker/health.ts'),
  ])
  const lock = await takeRoot(options.root)
  try {
    const redactor = createRedactor(loaded.secrets)
    const opened = await openWorker(loaded.configuration, tasks, { ...options, logger, redactor, signal })
    let settle: (closing: Promise<void>) => void = () => undefined
    const closed = new Promise<void>((resolve) => (settle = resolve))
    return {
      ready: opened.worker.ready,
      closed,
      healthUrls: opened.healthUrl === undefined ? [] : [opened.healthUrl],
      health: () => judgeReadiness(opened.worker.status()),
      stop: (stop) => {
        settle(opened.close(stop).then(() => lock.release()))
        return closed
      },
    }
  } catch (error) {
    lock.release()
    throw error
  }
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

/** Bodies in a thread or a process load the module of their task. */
function assertRunHere(tasks: readonly TaskDefinition[]): void {
  const hosted = tasks.find(({ body }) => body.kind === 'function' && body.runIn !== 'inline')
  if (hosted === undefined) return
  throw needsModule(
    `start task "${hosted.name}"`,
    'Give the path of the module that exports the tasks, or declare them with runIn: "inline".',
  )
}

function needsModule(doing: string, next: string): InvalidError {
  return new InvalidError('worker/no-module', `${doing}: the module that declares the tasks is not known`, {
    next,
  })
}

/** `{ lakefs: { endpoint } }` becomes `{ 'lakefs.endpoint': … }`, the form of command-line flags. */
function flagsOf(settings: WorkersSettings): Record<string, { flag: string; value: unknown }> {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([group, values]: [string, object]) =>
      Object.entries(values)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => [
          `${group}.${name}`,
          { flag: `settings.${group}.${name}`, value: value as unknown },
        ]),
    ),
  )
}
