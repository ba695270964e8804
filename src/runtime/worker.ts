/** From a configuration and a module of tasks to a worker that runs, and back down again. */

import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename, rmdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { createAdaptiveLimit } from '../base/adaptive-limit.ts'
import { systemClock } from '../base/clock.ts'
import { CACHE_MAX_BYTES } from './limits.ts'
import type { RepositoryName } from '../base/ids.ts'
import type { Logger } from '../base/logger.ts'
import { plainRedactor, type Redactor } from '../base/redaction.ts'
import { createDefinitionRegistry } from '../conductor/definitions.ts'
import { createHttpTaskQueue } from '../conductor/http-task-queue.ts'
import { requirePayloadFits } from '../worker/payload-limits.ts'
import { openLakefsRepo } from '../lakefs/versioned-repo.ts'
import type { VersionedRepo } from '../publication/ports.ts'
import type { FailureOptions } from '../worker/results/failure-map.ts'
import type { WorkerObserver } from '../worker/events.ts'
import { loadTasks } from '../worker/bodies/load-tasks.ts'
import { openOutbox, sendForeseen } from '../worker/results/outbox.ts'
import type { TaskDefinition } from '../tasks/task-definition.ts'
import { openThreadedLeases } from '../worker/leases/threaded-leases.ts'
import { startWorker, type RunningWorker, type StopReport } from '../worker/worker.ts'
import type { KeptForLater } from '../worker/attempt/attempt-workspace.ts'
import { openWarmDirectories, type WarmDirectories } from '../worker/attempt/warm-directories.ts'
import { openContentCache, type ContentCache } from '../workspace/cache/content-cache.ts'
import { openWorkspaceRoot, type WorkspaceRoot } from '../workspace/ownership/ownership.ts'
import type { PeragoConfiguration } from './configuration/configuration.ts'
import { conductorSettings, openConductor } from './connections/conductor-connection.ts'
import { openLakefs } from './connections/lakefs-connection.ts'
import { leaseQueueModule } from './connections/lease-queue.ts'
import { assertMayStart, examineRegistration } from './modules/task-registration.ts'
import { serveWorkerHealth, type HealthServer } from './telemetry/worker-health.ts'
import { openWorkerMetrics } from './telemetry/worker-metrics.ts'
import { traceWorker } from './telemetry/worker-tracing.ts'

export interface OpenWorkerOptions {
  /** Where workspaces and undelivered results are kept. One supervisor, or one worker, for each. */
  readonly root: string
  readonly logger: Logger
  readonly redactor?: Redactor
  /** How many attempts run at the same time. */
  readonly slots?: number
  readonly domain?: string
  /** Which of the worker processes of this root it is, from 0. */
  readonly index?: number
  /** Starts even if the server has other definitions of the tasks. */
  readonly allowDrift?: boolean
  /** The definitions on the server were examined a moment ago. */
  readonly isExamined?: boolean
  /** What a refused publication becomes; terminal unless set. */
  readonly publishRefused?: FailureOptions['publishRefused']
  /** Of the task code; recorded with each publication. */
  readonly codeVersion?: string
  /** How many bytes of objects the root keeps for later tasks; 0 keeps none. */
  readonly cacheBytes?: number
  /** Whether a task may take over the directory of the one before; it may unless this is `false`. */
  readonly warm?: boolean
  /** Where health and metrics are served; nowhere unless set. */
  readonly health?: { readonly port: number; readonly host?: string }
  /** Asked before every fence; throws when this process may not act any more. */
  readonly assertMayAct?: () => void
  readonly observers?: readonly WorkerObserver[]
}

export interface OpenedWorker {
  readonly worker: RunningWorker
  readonly tasks: readonly TaskDefinition[]
  /** Where health and metrics are served. */
  readonly healthUrl: string | undefined
  /** Stops the worker and closes everything that was opened for it. Again: the same promise. */
  close(options?: { readonly deadlineMs?: number }): Promise<StopReport>
  /** As `close`, at once, and nothing is published or reported any more. */
  abandon(why: string): Promise<StopReport>
}

/**
 * ```ts
 * const opened = await openWorker(configuration, 'tasks.ts', { root: '.perago/work', logger })
 * process.once('SIGTERM', () => void opened.close())
 * ```
 */
export async function openWorker(
  configuration: PeragoConfiguration,
  modulePath: string,
  options: OpenWorkerOptions,
): Promise<OpenedWorker> {
  const { logger, index = 0 } = options
  const closing: (() => Promise<unknown>)[] = []
  try {
    const tasks = await loadTasks(modulePath)
    const settings = conductorSettings(configuration)
    const running: { worker?: RunningWorker } = {}
    const status = (): ReturnType<RunningWorker['status']> | undefined => running.worker?.status()
    const metrics = openWorkerMetrics(status)
    const lakefs = openLakefs(configuration, { logger, onExchange: metrics.requestsOf('lakefs') })
    closing.push(() => lakefs.close())
    const conductor = openConductor(configuration, { logger, onExchange: metrics.requestsOf('conductor') })
    closing.push(() => conductor.close())
    if (options.isExamined !== true)
      assertMayStart(await examineRegistration(createDefinitionRegistry(conductor), tasks), options)

    const workerId = newWorkerId(index)
    const directory = resolve(options.root)
    const root = await openWorkspaceRoot({ directory, workerId, logger })
    closing.push(() => root.close())
    const kept = openKept(options, root)
    closing.push(() => closeKept(kept))
    const outbox = await openOutbox({ directory: outboxOf(directory, index), logger, now: () => new Date() })
    const leases = openThreadedLeases({ queue: leaseQueueModule(settings), clock: systemClock, logger })
    closing.push(() => leases.close())

    const health = await serveHealth(options, { status, metrics })
    if (health !== undefined) closing.push(() => health.close())

    const worker = startWorker({
      queue: createHttpTaskQueue(conductor),
      tasks: tasks.map((task) => ({ task, modulePath: resolve(modulePath) })),
      openRepo: openRepos((repository) => openLakefsRepo(lakefs, repository)),
      root,
      ...kept,
      outbox,
      leases,
      workerId,
      logger,
      redactor: options.redactor ?? plainRedactor,
      checkOutput: (output) => requirePayloadFits('task output', output),
      uploadLimit: createAdaptiveLimit(),
      observers: [metrics.observe, traceWorker(), ...(options.observers ?? [])],
      ...given(options, ['slots', 'domain', 'publishRefused', 'codeVersion', 'assertMayAct']),
    })
    running.worker = worker
    const closeAfter = once((report: Promise<StopReport>) => report.finally(() => closeAll(closing, logger)))
    return {
      worker,
      tasks,
      healthUrl: health?.url,
      close: (stop) => closeAfter(() => worker.stop(stop)),
      abandon: (why) => closeAfter(() => worker.abandon(why)),
    }
  } catch (error) {
    await closeAll(closing, logger)
    throw error
  }
}

/**
 * Gives the outboxes of worker processes that are no more to the first one: when fewer are started than before, what
 * the others left must not wait for ever. Only for whoever holds the lock of the root, before any worker of it runs.
 */
export async function adoptOutboxes(root: string): Promise<void> {
  const directory = join(resolve(root), OUTBOX)
  const first = outboxOf(resolve(root), 0)
  await mkdir(first, { recursive: true, mode: 0o700 })
  for (const name of await readdir(directory)) {
    if (name === '0') continue
    const left = join(directory, name)
    await sendForeseen(left)
    for (const entry of await readdir(left, { withFileTypes: true })) {
      if (entry.isFile() && entry.name.endsWith('.json') && !entry.name.startsWith('.'))
        await rename(join(left, entry.name), join(first, entry.name))
    }
    // What was refused stays where an operator may look for it; what is empty goes.
    for (const emptied of [join(left, 'begun'), left]) await rmdir(emptied).catch(() => undefined)
  }
}

const OUTBOX = 'outbox'

function outboxOf(root: string, index: number): string {
  return join(root, OUTBOX, String(index))
}

/** Readable, and unique among all that live or lived: the random end makes it so. */
function newWorkerId(index: number): string {
  return `${hostname().slice(0, 60)}-${process.pid}-${index}-${randomBytes(4).toString('hex')}`
}

/** One repository for each name: what it keeps between requests is shared by all attempts. */
function openRepos(
  open: (repository: RepositoryName) => VersionedRepo,
): (repository: RepositoryName) => VersionedRepo {
  const opened = new Map<RepositoryName, VersionedRepo>()
  return (repository) => {
    const repo = opened.get(repository) ?? open(repository)
    opened.set(repository, repo)
    return repo
  }
}

async function serveHealth(
  { health }: OpenWorkerOptions,
  from: Pick<Parameters<typeof serveWorkerHealth>[0], 'status' | 'metrics'>,
): Promise<HealthServer | undefined> {
  return health === undefined ? undefined : serveWorkerHealth({ ...from, ...health })
}

/** What attempts of this process keep for one another. That it cannot be kept is no reason not to work. */
function openKept(
  { cacheBytes = CACHE_MAX_BYTES, warm, logger }: OpenWorkerOptions,
  root: WorkspaceRoot,
): KeptForLater {
  const kept: { cache?: ContentCache; warm?: WarmDirectories } = {}
  if (warm !== false) kept.warm = openWarmDirectories({ root, clock: systemClock, logger })
  if (cacheBytes === 0) return kept
  try {
    kept.cache = openContentCache({ root: root.directory, maxBytes: cacheBytes, logger })
  } catch (error) {
    logger.warn('there is no content cache: it could not be opened', { error })
  }
  return kept
}

async function closeKept({ cache, warm }: KeptForLater): Promise<void> {
  await cache?.close()
  await warm?.close()
}

/** The first call decides; all get its promise. */
function once(
  follow: (report: Promise<StopReport>) => Promise<StopReport>,
): (begin: () => Promise<StopReport>) => Promise<StopReport> {
  let ending: Promise<StopReport> | undefined
  return (begin) => {
    // An abandonment has to reach a worker that is stopping already.
    const report = begin()
    ending ??= follow(report)
    return ending
  }
}

async function closeAll(closing: (() => Promise<unknown>)[], logger: Logger): Promise<void> {
  for (let close = closing.pop(); close !== undefined; close = closing.pop()) {
    try {
      await close()
    } catch (error) {
      logger.warn('could not close a part of the worker', { error })
    }
  }
}

/** Only what was given: an optional field must not be there with `undefined` in it. */
function given<Options extends object, Name extends keyof Options>(
  options: Options,
  names: readonly Name[],
): Pick<Options, Name> {
  return Object.fromEntries(
    names.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]),
  ) as Pick<Options, Name>
}
