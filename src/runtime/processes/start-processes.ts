/** Worker processes for a module of tasks, under one supervisor: checked once before any of them starts. */

import { defined } from '../../base/defined.ts'
import type { Logger } from '../../base/logger.ts'
import { examineAhead } from './examine-ahead.ts'
import type { PrestartedWorker } from './prestarted-worker.ts'
import { superviseWorkers, type Supervisor } from './supervisor.ts'
import { spawnWorker, type WorkerOrder } from './worker-processes.ts'

export interface StartProcessesRequest {
  readonly order: WorkerOrder
  /** How many processes. */
  readonly count: number
  readonly logger: Logger
  readonly signal?: AbortSignal | undefined
  /** A process for the first worker; it loads its code while everything is checked. */
  readonly prestarted?: PrestartedWorker
  /** The caller has registered what the module declares now. This process may have loaded an older version, and does not look. */
  readonly isRegistered?: boolean
  /** Called for each process that serves its health. */
  readonly onHealth?: (index: number, url: string) => void
}

/** Throws the error that would keep every one of the processes from starting. */
export async function startProcesses(request: StartProcessesRequest): Promise<Supervisor> {
  const { order, count, logger, prestarted } = request
  if (request.isRegistered !== true) await assertStartableSomewhere(request)
  const started = new Set<number>()
  return superviseWorkers({
    root: order.options.root,
    count,
    logger,
    spawn: (index, formerEnd) => {
      // A process that is restarted, perhaps days later, checks for itself.
      const isExamined = !started.has(index)
      started.add(index)
      return spawnWorker(
        {
          ...order,
          options: {
            ...{ ...order.options, ...healthOf(order, index), index, isExamined },
            ...defined({ formerEnd }),
          },
        },
        {
          prestarted: index === 0 ? prestarted : undefined,
          onOpened: (url) => {
            if (url !== undefined) request.onHealth?.(index, url)
          },
        },
      )
    },
  })
}

/** Here only where no process was started ahead: whoever supervises need not hold the tasks in memory. */
async function assertStartableSomewhere(request: StartProcessesRequest): Promise<void> {
  const { order, prestarted, signal } = request
  if (prestarted !== undefined && (await examineAhead(prestarted, order, signal))) return
  const { assertStartable } = await import('./assert-startable.ts')
  await assertStartable(order, request)
}

/** Each process serves its own health: the first on the given port, the others on the ports that follow. */
function healthOf(
  { options: { health } }: WorkerOrder,
  index: number,
): Pick<WorkerOrder['options'], 'health'> {
  if (health === undefined) return {}
  return { health: { ...health, port: health.port === 0 ? 0 : health.port + index } }
}
