/** A whole worker in this process, over a queue in this process: what tasks do, tried without a Conductor. */

import { resolve } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { silentLogger, type Logger } from '../base/logger.ts'
import { plainRedactor } from '../base/redaction.ts'
import { createLakefsClient } from '../lakefs/client.ts'
import { openLakefsRepo } from '../lakefs/versioned-repo.ts'
import { buildTaskDef } from '../tasks/build-taskdef.ts'
import type { WorkerObserver } from '../worker/events.ts'
import { openLocalLeases } from '../worker/leases/lease.ts'
import { loadModule, type LoadedModule } from '../worker/bodies/load-tasks.ts'
import { openOutbox } from '../worker/results/outbox.ts'
import type { TaskQueue } from '../worker/ports.ts'
import type { JsonObject } from '../base/json.ts'
import { startWorker, type RunningWorker, type StopReport } from '../worker/worker.ts'
import { openWorkspaceRoot } from '../workspace/ownership/ownership.ts'
import type { QueueControl } from '../engine/protocol/control.ts'
import type { TestTaskDef, TestWorkflowTask } from '../engine/protocol/definitions.ts'

export interface TestWorkerOptions {
  readonly queue: TaskQueue
  /** The connection over which leases are renewed; as in a real worker it may be lost alone. The queue's unless given. */
  readonly leaseQueue?: TaskQueue
  /** The module that exports the tasks. */
  readonly module: string
  /** Takes only these tasks of it. */
  readonly only?: readonly string[]
  readonly lakefs: { readonly url: string; readonly accessKeyId: string; readonly secretAccessKey: string }
  /** Where workspaces and undelivered results are kept. */
  readonly root: string
  /** Unique among the workers of the queue. */
  readonly workerId: string
  readonly slots?: number
  readonly logger?: Logger
  readonly observe?: WorkerObserver
}

export interface TestWorker {
  readonly worker: RunningWorker
  /** Stops the worker and closes what was opened for it. Again: the same promise. */
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
  const { path, tasks } = await loadModule(options.module)
  const directory = resolve(options.root)
  const client = createLakefsClient({ ...lakefs, endpoint: lakefs.url, logger })
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
      .map((task) => ({ task, modulePath: path })),
    openRepo: (repository) => openLakefsRepo(client, repository),
    root,
    leases,
    outbox,
    workerId,
    logger,
    redactor: plainRedactor,
    observers: options.observe === undefined ? [] : [options.observe],
    ...(options.slots === undefined ? {} : { slots: options.slots }),
  })
  let closed: Promise<StopReport> | undefined
  return {
    worker,
    close: (stop) =>
      (closed ??= worker.stop(stop).finally(async () => {
        await leases.close()
        await root.close()
        await client.close()
      })),
  }
}

/** Registers what a module declares with a queue in this process, which keeps less of it than Conductor does. */
export async function registerModule(control: QueueControl, module: string): Promise<LoadedModule> {
  const loaded = await loadModule(module)
  for (const task of loaded.tasks) {
    const {
      name,
      retryCount,
      retryDelaySeconds,
      maxRetryDelaySeconds,
      responseTimeoutSeconds,
      timeoutSeconds,
    } = buildTaskDef(task)
    const { logic } = task.controls.retry
    const { policy } = task.controls.timeout
    const def: TestTaskDef = {
      ...{
        name,
        retryCount,
        retryDelaySeconds,
        maxRetryDelaySeconds,
        responseTimeoutSeconds,
        timeoutSeconds,
      },
      retryLogic: logic,
      timeoutPolicy: policy,
    }
    await control.registerTask(def)
  }
  for (const { document } of loaded.workflows) {
    const { name, version, tasks, outputParameters, timeoutSeconds, timeoutPolicy } = document
    await control.registerWorkflow({
      ...{ name, version, timeoutSeconds, timeoutPolicy },
      // Any step the queue in this process cannot run is refused by it.
      tasks: tasks as unknown as readonly TestWorkflowTask[],
      ...(isEmpty(outputParameters) ? {} : { outputParameters }),
    })
  }
  return loaded
}

function isEmpty(value: JsonObject): boolean {
  return Object.keys(value).length === 0
}
