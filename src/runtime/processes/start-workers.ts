/** Worker processes for a module of tasks, under one supervisor: checked once before any of them starts. */

import { createDefinitionRegistry } from '../../conductor/definitions.ts'
import type { Logger } from '../../base/logger.ts'
import { loadModule } from '../../worker/bodies/load-tasks.ts'
import { openConductor } from '../connections/conductor-connection.ts'
import type { HiredProcess } from './prestarted-process.ts'
import { openLakefs } from '../connections/lakefs-connection.ts'
import { superviseWorkers, type Supervisor } from './supervisor.ts'
import { assertMayStart, examineRegistration } from '../modules/task-registration.ts'
import { adoptOutboxes } from '../worker.ts'
import { spawnWorker, type WorkerOrder } from './worker-processes.ts'

export interface StartWorkersRequest {
  readonly order: WorkerOrder
  /** How many processes. */
  readonly count: number
  readonly logger: Logger
  readonly signal: AbortSignal
  /** A process for the first worker, whose code loads while all is checked. */
  readonly hired?: HiredProcess
  /** Told of each process that serves its health somewhere. */
  readonly onHealth?: (index: number, url: string) => void
}

/** Throws what would keep every one of the processes from starting, in its own words. */
export async function startWorkers(request: StartWorkersRequest): Promise<Supervisor> {
  const { order, count, logger } = request
  await assertStartable(request)
  const started = new Set<number>()
  return superviseWorkers({
    root: order.options.root,
    count,
    logger,
    prepare: () => adoptOutboxes(order.options.root),
    spawn: (index) => {
      // Whoever is started again, and that may be days later, looks for itself.
      const isExamined = !started.has(index)
      started.add(index)
      return spawnWorker(
        { ...order, options: { ...order.options, ...healthOf(order, index), index, isExamined } },
        {
          hired: index === 0 ? request.hired : undefined,
          onOpened: (url) => {
            if (url !== undefined) request.onHealth?.(index, url)
          },
        },
      )
    },
  })
}

async function assertStartable({ order, logger, signal }: StartWorkersRequest): Promise<void> {
  const { tasks } = await loadModule(order.modulePath)
  // Only to hear what is not set; nothing is sent.
  await openLakefs(order.configuration, { logger }).close()
  const conductor = openConductor(order.configuration, { logger })
  try {
    const registrations = await examineRegistration(createDefinitionRegistry(conductor), tasks, { signal })
    assertMayStart(registrations, order.options)
  } finally {
    await conductor.close()
  }
}

/** Each process serves its own health: on the port that was named, and on those that follow it. */
function healthOf(
  { options: { health } }: WorkerOrder,
  index: number,
): Pick<WorkerOrder['options'], 'health'> {
  if (health === undefined) return {}
  return { health: { ...health, port: health.port === 0 ? 0 : health.port + index } }
}
