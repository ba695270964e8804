/** Opens everything one worker needs, starts it, and closes everything again. */

import { randomBytes, randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { defined } from '../base/defined.ts'
import { once } from '../base/once.ts'
import { WORKER_CLOSE_WAIT_MS } from '../worker/limits.ts'
import type { RepositoryName } from '../base/ids.ts'
import type { Logger } from '../base/logger.ts'
import { plainRedactor, type Redactor } from '../base/redaction.ts'
import { createDefinitionRegistry } from '../conductor/definitions.ts'
import { createHttpTaskQueue } from '../conductor/http-task-queue.ts'
import { requirePayloadFits } from '../worker/payload-limits.ts'
import { LakefsWatch } from '../lakefs/lakefs-watch.ts'
import { openLakefsRepo } from '../lakefs/versioned-repo.ts'
import { openHardFences, type HardFences } from '../publication/hard-fences.ts'
import type { VersionedRepo } from '../publication/ports.ts'
import { createUploadLimit } from '../publication/upload.ts'
import { mapFailure, type FailureOptions } from '../worker/results/failure-map.ts'
import type { WorkerObserver } from '../worker/events.ts'
import { bindBranchHead } from '../worker/bodies/bind-branch-head.ts'
import { openOutbox, outboxDirectory, type Outbox } from '../worker/results/outbox.ts'
import { WorkerProcessEndedError } from '../tasks/author-errors.ts'
import type { TaskDefinition } from '../tasks/task-definition.ts'
import type { StagingTimes } from '../worker/branches/staging-collector.ts'
import { ThreadedLeases } from '../worker/leases/threaded-leases.ts'
import { startWorker, type RunningWorker, type StopOptions, type StopReport } from '../worker/worker.ts'
import type { KeptForLater } from '../worker/attempt/attempt-workspace.ts'
import { WarmDirectories } from '../worker/attempt/warm-directories.ts'
import { NODE_PROBE_CACHE_BYTES } from '../worker/limits.ts'
import { NodeWatch } from '../worker/outages/node-watch.ts'
import { openWorkspaceRoot, workerHome, type WorkspaceRoot } from '../workspace/ownership/ownership.ts'
import { openContentCache } from './open-content-cache.ts'
import type { PeragoConfiguration } from './configuration/configuration.ts'
import { ledgerOf } from './ledger-settings.ts'
import { conductorSettings, openConductor } from './connections/conductor-connection.ts'
import { openLakefs } from './connections/lakefs-connection.ts'
import { leaseQueueModule } from './connections/lease-queue.ts'
import { loadWithBuiltIns, withBranchHead } from './modules/built-in-tasks.ts'
import { assertMayStart, examineRegistration } from './modules/task-registration.ts'
import { keepStatusFile } from './telemetry/keep-status-file.ts'
import { serveWorkerHealth, type HealthAddress } from './telemetry/worker-health.ts'
import { openWorkerMetrics } from './telemetry/worker-metrics.ts'
import { traceWorker } from './telemetry/worker-tracing.ts'

export interface OpenWorkerOptions {
  /** The directory for workspaces and undelivered results. */
  readonly root: string
  readonly logger: Logger
  readonly redactor?: Redactor
  /** Also runs the built-in task that reads the head of a branch, whether or not the module names it. */
  readonly branchHead?: boolean
  /** How many attempts run at the same time. */
  readonly slots?: number
  readonly domain?: string
  /** The number of this worker among those of its root, from 0. */
  readonly index?: number
  /** Starts even if the server has other definitions of the tasks. */
  readonly allowDrift?: boolean
  /** The definitions on the server were checked just before. */
  readonly isExamined?: boolean
  /** The status of a task whose publication was refused; `FAILED_WITH_TERMINAL_ERROR` unless set. */
  readonly publishRefused?: FailureOptions['publishRefused']
  /** How long after it was first taken a task is handed back for servers that are away; a week unless set. */
  readonly outageGiveUpMs?: number
  /** The version of the task code, recorded with each publication. */
  readonly codeVersion?: string
  /** How many bytes of objects to keep for later tasks; 0 keeps none. */
  readonly cacheBytes?: number
  /** Whether a task may use the directory of the task before it; true unless set. */
  readonly warm?: boolean
  /** Serves health and metrics over HTTP. */
  readonly health?: HealthAddress
  /** When to look for staging branches that were left behind. */
  readonly stagingTimes?: StagingTimes
  /** Ends the opening; a worker that runs is stopped by `close`. */
  readonly signal?: AbortSignal | undefined
  /** Another loop polls, and gives tasks to `worker.take`; it watches the results that are written. */
  readonly handed?: { readonly watch: (outbox: Outbox) => Outbox }
  /** Called before every fence; throws when this process may not act any more. */
  readonly assertMayAct?: () => void
  readonly observers?: readonly WorkerObserver[]
  /** False where an observer says how attempts end, so that the log need not. */
  readonly logsEnds?: boolean
  /** How the process of this number ended before, as one clause. */
  readonly formerEnd?: string
}

export interface OpenedWorker {
  readonly worker: RunningWorker
  readonly tasks: readonly TaskDefinition[]
  /** The address of health and metrics, if they are served. */
  readonly healthUrl: string | undefined
  /** Stops the worker and closes everything that was opened for it. May be called twice. */
  close(options?: StopOptions): Promise<StopReport>
  /** As `close`, but at once: nothing is published or reported any more. */
  abandon(why: string): Promise<StopReport>
}

/**
 * `source`: the module that exports the tasks, or the tasks themselves.
 *
 * ```ts
 * const opened = await openWorker(configuration, 'tasks.ts', { root: '.perago/work', logger })
 * process.once('SIGTERM', () => void opened.close())
 * ```
 */
export async function openWorker(
  configuration: PeragoConfiguration,
  source: string | readonly TaskDefinition[],
  options: OpenWorkerOptions,
): Promise<OpenedWorker> {
  const {
    logger,
    index = 0,
    slots,
    domain,
    publishRefused,
    codeVersion,
    assertMayAct,
    outageGiveUpMs,
    logsEnds,
  } = options
  const closing: (() => Promise<unknown>)[] = []
  try {
    const loaded = typeof source === 'string' ? await loadWithBuiltIns(source) : { tasks: source }
    const tasks = options.branchHead === true ? withBranchHead(loaded.tasks) : loaded.tasks
    const settings = conductorSettings(configuration)
    const running: { worker?: RunningWorker } = {}
    const status = (): ReturnType<RunningWorker['status']> | undefined => running.worker?.status()
    const metrics = openWorkerMetrics(status)
    const prober = openLakefs(configuration, { logger, connections: 1 })
    closing.push(() => prober.close())
    const availability = new LakefsWatch(prober, { clock: systemClock, logger })
    closing.push(() => availability.close())
    const onExchange = metrics.requestsOf('lakefs')
    const ledger = ledgerOf(configuration)
    const fences = openHardFences({ policy: configuration.lakefs.fence, clock: systemClock, logger })
    const lakefs = openLakefs(configuration, {
      logger,
      onExchange: forgetWhenLost(fences, onExchange),
      availability,
    })
    closing.push(() => lakefs.close())
    const conductor = openConductor(configuration, { logger, onExchange: metrics.requestsOf('conductor') })
    closing.push(() => conductor.close())
    if (options.isExamined !== true)
      assertMayStart(
        await examineRegistration(
          createDefinitionRegistry(conductor),
          tasks,
          defined({ signal: options.signal }),
        ),
        options,
      )

    const workerId = newWorkerId(index)
    const directory = resolve(options.root)
    const root = await openWorkspaceRoot({ directory, workerId, logger })
    closing.push(() => root.close())
    const kept = openKept(options, root)
    closing.push(async () => kept.warm?.close())
    closing.push(async () => kept.cache?.close())
    const node = openNodeWatch(root, kept, logger)
    closing.push(() => node.close())
    const results = await openOutbox({
      directory: outboxDirectory(directory, index),
      logger,
      now: () => new Date(),
      ...defined({ formerEnd: formerEndOf(options) }),
    })
    closing.push(() => results.close())
    const outbox = options.handed?.watch(results) ?? results
    const redactor = options.redactor ?? plainRedactor
    const told = keepStatusFile({
      root: directory,
      index,
      process: root.identity,
      workerId,
      redactor,
      logger,
    })
    closing.push(() => told.close())
    const leases = new ThreadedLeases({ queue: leaseQueueModule(settings), clock: systemClock, logger })
    closing.push(() => leases.close())

    const health = options.health && (await serveWorkerHealth({ ...options.health, status, metrics }))
    if (health !== undefined) closing.push(() => health.close())

    options.signal?.throwIfAborted()
    const openRepo = openRepos((repository) => openLakefsRepo(lakefs, repository))
    const modulePath = 'path' in loaded ? loaded.path : undefined
    const worker = startWorker({
      queue: createHttpTaskQueue(conductor),
      tasks: tasks.map((task) => ({ task: bindBranchHead(task, openRepo), ...defined({ modulePath }) })),
      openRepo,
      root,
      ...kept,
      outbox,
      leases,
      workerId,
      // Their loop's worker id is the same for all of its claims.
      ...(options.handed && { polls: false, executionIdOf: () => `${workerId}-${randomUUID()}` }),
      logger,
      redactor,
      secretResults: configuration.results?.secrets,
      checkOutput: (output) => requirePayloadFits('task output', output),
      uploadLimit: createUploadLimit(),
      fences,
      ledger,
      watches: [availability, node],
      onFileError: (error) => node.notice(error),
      observers: [metrics.observe, told.observe, traceWorker(), ...(options.observers ?? [])],
      ...defined({
        slots,
        domain,
        publishRefused,
        codeVersion,
        assertMayAct,
        outageGiveUpMs,
        logsEnds,
        stagingTimes: options.stagingTimes,
      }),
    })
    running.worker = worker
    told.start(() => worker.status())
    const closeAfter = once((report: Promise<StopReport>) => report.finally(() => closeAll(closing, logger)))
    return {
      worker,
      tasks,
      healthUrl: health?.url,
      close: (stop) => closeAfter(worker.stop(stop)),
      // Also reaches a worker that is stopping already.
      abandon: (why) => closeAfter(worker.abandon(why)),
    }
  } catch (error) {
    await closeAll(closing, logger)
    throw error
  }
}

function formerEndOf({ formerEnd, redactor = plainRedactor }: OpenWorkerOptions): string | undefined {
  return formerEnd && mapFailure(new WorkerProcessEndedError(formerEnd), { redactor }).reason
}

/** The server that comes back after a lost connection may evaluate no fence. */
function forgetWhenLost<Notice extends { readonly status: number | undefined }>(
  fences: HardFences,
  onExchange: (notice: Notice) => void,
): (notice: Notice) => void {
  return (notice) => {
    if (notice.status === undefined) fences.forget()
    onExchange(notice)
  }
}

/** Readable for people, and unique because of its random end. */
function newWorkerId(index: number): string {
  return `${hostname().slice(0, 60)}-${process.pid}-${index}-${randomBytes(4).toString('hex')}`
}

/** One repository for each name, shared by all attempts. */
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

/** What attempts of this process keep for later ones. A worker can do without. */
function openKept({ cacheBytes, warm, logger }: OpenWorkerOptions, root: WorkspaceRoot): KeptForLater {
  return defined({
    warm: warm === false ? undefined : new WarmDirectories({ root, clock: systemClock, logger }),
    cache: openContentCache(root.directory, { cacheBytes, logger }),
  })
}

/** A full disk may be full of what this worker keeps. */
function openNodeWatch(root: WorkspaceRoot, { warm, cache }: KeptForLater, logger: Logger): NodeWatch {
  return new NodeWatch({
    directory: workerHome(root.directory, root.token),
    clock: systemClock,
    logger,
    makeRoom: async () => {
      await warm?.clear()
      await cache?.makeRoom(NODE_PROBE_CACHE_BYTES)
    },
  })
}

async function closeAll(closing: (() => Promise<unknown>)[], logger: Logger): Promise<void> {
  const over = new AbortController()
  const tooLate = systemClock.sleep(WORKER_CLOSE_WAIT_MS, over.signal).then(
    () =>
      logger.warn(
        'the worker ends before all of it is closed; the next worker of the root removes what is left',
      ),
    () => undefined,
  )
  await Promise.race([closeEach(closing, logger), tooLate])
  over.abort()
}

async function closeEach(closing: (() => Promise<unknown>)[], logger: Logger): Promise<void> {
  for (let close = closing.pop(); close !== undefined; close = closing.pop()) {
    try {
      await close()
    } catch (error) {
      logger.warn('could not close a part of the worker', { error })
    }
  }
}
