/** What starting a worker in this process takes, whoever polls for it: settings are read, the root is taken, the worker is opened. */

import { resolve } from 'node:path'
import { defined } from '../base/defined.ts'
import { InvalidError } from '../base/errors.ts'
import { silentLogger, type Logger, type LogLevel } from '../base/logger.ts'
import { createRedactor } from '../base/redaction.ts'
import type { TaskDefinition } from '../tasks/task-definition.ts'
import type { WorkerHealth } from '../worker/health.ts'
import type { StopOptions } from '../worker/worker.ts'
import type { LoadedConfiguration, LogFormat } from './configuration/configuration.ts'
import type { HealthAddress } from './telemetry/worker-health.ts'
import type { OpenedWorker, OpenWorkerOptions } from './worker.ts'

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

/** What every start of workers from code may be given. */
export interface OpeningOptions {
  /** What is not set here comes from environment variables and the configuration file, as for `perago start`. */
  readonly settings?: WorkersSettings
  /** The configuration file; `perago.yaml` of the working directory unless given. */
  readonly configurationFile?: string
  /** The directory for workspaces and undelivered results; `.perago/work` unless given. Only one start per root. */
  readonly root?: string
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

export interface Opening {
  readonly loaded: LoadedConfiguration
  readonly logger: Logger
  readonly options: Omit<OpenWorkerOptions, 'logger' | 'redactor' | 'assertMayAct' | 'observers' | 'signal'>
}

export interface OpenedHere {
  readonly worker: OpenedWorker['worker']
  readonly tasks: readonly TaskDefinition[]
  /** Resolves when it has stopped. */
  readonly closed: Promise<void>
  readonly healthUrls: readonly string[]
  readonly health: () => WorkerHealth
  readonly stop: (options?: StopOptions) => Promise<void>
}

export async function readOpening(options: OpeningOptions): Promise<Opening> {
  // Loaded here and below, because every module that declares tasks imports the package.
  const { loadConfiguration } = await import('./configuration/configuration.ts')
  const loaded = await loadConfiguration({
    directory: process.cwd(),
    environment: process.env,
    path: options.configurationFile,
    flags: flagsOf(options.settings ?? {}),
  })
  const { allowDrift, codeVersion, health } = options
  const { 'cache.size': cacheSize, 'cache.warm': warm, 'outages.giveUpAfter': outageGiveUp } = loaded.settings
  return {
    loaded,
    logger: options.logger ?? silentLogger,
    options: {
      root: resolve(options.root ?? '.perago/work'),
      ...defined({ cacheBytes: cacheSize.value, warm: warm.value, outageGiveUpMs: outageGiveUp.value }),
      ...defined({ allowDrift, codeVersion, health }),
    },
  }
}

/** `tasks`: the module that exports them, or the tasks themselves. */
export async function openHere(
  tasks: string | readonly TaskDefinition[],
  { loaded, logger, options }: Opening,
  signal: AbortSignal | undefined,
): Promise<OpenedHere> {
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
      worker: opened.worker,
      tasks: opened.tasks,
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

/** Bodies in a thread or a process load the module of their task. */
function assertRunHere(tasks: readonly TaskDefinition[]): void {
  const hosted = tasks.find(({ body }) => body.kind === 'function' && body.runIn !== 'inline')
  if (hosted === undefined) return
  throw needsModule(
    `start task "${hosted.name}"`,
    'Give the path of the module that exports the tasks, or declare them with runIn: "inline".',
  )
}

export function needsModule(doing: string, next: string): InvalidError {
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
