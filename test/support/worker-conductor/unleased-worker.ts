// A worker without lease renewal that does not notice it: only the attempt fence can stop it.
import { silentLogger } from '../../../src/base/logger.ts'
import { plainRedactor } from '../../../src/base/redaction.ts'
import { openConductorClient } from '../../../src/conductor/client.ts'
import { createHttpTaskQueue } from '../../../src/conductor/http-task-queue.ts'
import { openLakefs } from '../../../src/runtime/connections/lakefs-connection.ts'
import { openLakefsRepo } from '../../../src/lakefs/versioned-repo.ts'
import type { LeaseKeeper } from '../../../src/worker/leases/lease.ts'
import { loadTasks } from '../../../src/worker/bodies/load-tasks.ts'
import { openOutbox } from '../../../src/worker/results/outbox.ts'
import { startWorker, type RunningWorker } from '../../../src/worker/worker.ts'
import { openWorkspaceRoot } from '../../../src/workspace/ownership/ownership.ts'
import { TASKS_PATH, type WorkerWorld } from './world.ts'

const DEAF: LeaseKeeper = {
  hold: () => ({
    lost: new AbortController().signal,
    renewedAtMs: performance.now(),
    release: () => Promise.resolve(),
  }),
  close: () => Promise.resolve(),
}

export interface UnleasedWorker {
  readonly worker: RunningWorker
  close(): Promise<void>
}

/** With one place, so that it takes nothing else meanwhile. */
export async function openUnleasedWorker(world: WorkerWorld): Promise<UnleasedWorker> {
  const conductor = openConductorClient({ endpoint: world.front.url })
  const lakefs = openLakefs(world.configuration, { logger: silentLogger })
  const workerId = `unleased-${world.domain}`
  const root = await openWorkspaceRoot({ directory: world.at('unleased'), workerId })
  const tasks = await loadTasks(TASKS_PATH)
  const worker = startWorker({
    queue: createHttpTaskQueue(conductor),
    tasks: tasks.map((task) => ({ task, modulePath: TASKS_PATH })),
    openRepo: (repository) => openLakefsRepo(lakefs, repository),
    root,
    outbox: await openOutbox({
      directory: world.at('unleased-outbox'),
      logger: silentLogger,
      now: () => new Date(),
    }),
    leases: DEAF,
    workerId,
    slots: 1,
    domain: world.domain,
    logger: silentLogger,
    redactor: plainRedactor,
    observers: [(event) => world.events.push(event)],
  })
  return {
    worker,
    async close() {
      await worker.stop({ deadlineMs: 0 })
      await root.close()
      await conductor.close()
      await lakefs.close()
    },
  }
}
