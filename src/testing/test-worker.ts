/** A complete worker in this process, over a queue in this process: for testing tasks without a Conductor. */

import { resolve } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { silentLogger, type Logger } from '../base/logger.ts'
import { once } from '../base/once.ts'
import { plainRedactor } from '../base/redaction.ts'
import type { RepositoryName } from '../base/ids.ts'
import { createLakefsClient } from '../lakefs/client.ts'
import { openLakefsRepo } from '../lakefs/versioned-repo.ts'
import type { VersionedRepo } from '../publication/ports.ts'
import type { WorkerObserver } from '../worker/events.ts'
import { openLocalLeases } from '../worker/leases/lease.ts'
import { loadWithBuiltIns } from '../runtime/modules/built-in-tasks.ts'
import { bindBranchHead } from '../worker/bodies/bind-branch-head.ts'
import type { LoadedModule } from '../worker/bodies/load-tasks.ts'
import { openOutbox } from '../worker/results/outbox.ts'
import type { TaskQueue } from '../worker/ports.ts'
import { startWorker, type RunningWorker, type StopReport } from '../worker/worker.ts'
import { openWorkspaceRoot } from '../workspace/ownership/ownership.ts'
import type { QueueControl } from '../engine/protocol/control.ts'
import { taskDefOf, workflowDefOf } from './register-definitions.ts'

interface LakefsAddress {
  readonly url: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

type OpenRepo = (repository: RepositoryName) => VersionedRepo

export interface TestWorkerOptions {
  /** Gives the tasks, and gets their results. */
  readonly queue: TaskQueue
  /** A separate connection for lease renewals, which may fail alone as in a real worker. Default: `queue`. */
  readonly leaseQueue?: TaskQueue
  /** The module that exports the tasks. */
  readonly module: string
  /** Only these tasks of the module. */
  readonly only?: readonly string[]
  /** The server, or a function that opens a repository in this process, such as `() => scriptedRepo.connect('worker')`. */
  readonly lakefs: LakefsAddress | OpenRepo
  /** The directory for workspaces and undelivered results. */
  readonly root: string
  /** Unique among the workers of the queue. */
  readonly workerId: string
  /** How many tasks run at the same time; 4 unless given. */
  readonly slots?: number
  /** Gets the log of the worker; silent unless given. */
  readonly logger?: Logger
  /** Called with every event of the worker. */
  readonly observe?: WorkerObserver
}

export interface TestWorker {
  readonly worker: RunningWorker
  /** Stops the worker and closes what it opened. May be called twice. */
  close(options?: { readonly deadlineMs?: number }): Promise<StopReport>
}

/**
 * ```ts
 * const worker = await openTestWorker({ queue, module: 'tasks.ts', lakefs, root: 'work', workerId: 'a' })
 * await worker.close()
 * ```
 */
export async function openTestWorker(options: TestWorkerOptions): Promise<TestWorker> {
  const { queue, leaseQueue = queue, only, lakefs, workerId, logger = silentLogger } = options
  const { path, tasks } = await loadWithBuiltIns(options.module)
  const directory = resolve(options.root)
  const repos: OpenedRepos =
    typeof lakefs === 'function' ? { openRepo: lakefs } : connectLakefs(lakefs, logger)
  const root = await openWorkspaceRoot({ directory, workerId, logger })
  const leases = openLocalLeases({ queue: leaseQueue, clock: systemClock, logger })
  const outbox = await openOutbox({
    directory: resolve(directory, 'outbox', workerId),
    logger,
    now: () => new Date(),
  })
  const worker = startWorker({
    queue,
    tasks: tasks
      .filter(({ name }) => only === undefined || only.includes(name))
      .map((task) => ({ task: bindBranchHead(task, repos.openRepo), modulePath: path })),
    openRepo: repos.openRepo,
    root,
    leases,
    outbox,
    workerId,
    logger,
    redactor: plainRedactor,
    observers: options.observe === undefined ? [] : [options.observe],
    ...(options.slots === undefined ? {} : { slots: options.slots }),
  })
  return {
    worker,
    close: once((stop) =>
      worker.stop(stop).finally(async () => {
        await leases.close()
        await root.close()
        await repos.close?.()
      }),
    ),
  }
}

interface OpenedRepos {
  readonly openRepo: OpenRepo
  readonly close?: () => Promise<void>
}

function connectLakefs({ url, ...credentials }: LakefsAddress, logger: Logger): OpenedRepos {
  const client = createLakefsClient({ ...credentials, endpoint: url, logger })
  return { openRepo: (repository) => openLakefsRepo(client, repository), close: () => client.close() }
}

/** Registers the tasks and workflows of a module with a queue in this process; it supports fewer settings than Conductor. */
export async function registerModule(control: QueueControl, module: string): Promise<LoadedModule> {
  const loaded = await loadWithBuiltIns(module)
  for (const task of loaded.tasks) await control.registerTask(taskDefOf(task))
  for (const workflow of loaded.workflows) await control.registerWorkflow(workflowDefOf(workflow))
  return loaded
}
