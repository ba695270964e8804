/**
 * Tasks of perago as workers of Conductor's JavaScript SDK: its loop polls, everything else is as in a worker of ours. The
 * SDK itself is not loaded; its versions 3.1 and 4 take workers of one shape.
 */

import { aborted } from '../../base/abort-signals.ts'
import { readTaskRecord } from '../../conductor/task-records.ts'
import type { TaskDefinition } from '../../tasks/task-definition.ts'
import type { WorkerHealth } from '../../worker/health.ts'
import type { StopOptions } from '../../worker/worker.ts'
import { openHere, readOpening, type OpeningOptions } from '../open-here.ts'
import { TaskReplies, type ConductorSdkReply } from './task-replies.ts'

/** A `ConductorWorker` of the SDK. Polling, concurrency and domain are set as for any worker of it. */
export interface ConductorSdkWorker {
  taskDefName: string
  /** Given a task as the SDK polled it. */
  execute: (task: object) => Promise<ConductorSdkReply>
  /** Leases are renewed here; the SDK does not wait for its own renewals before a result. */
  leaseExtendEnabled: false
}

export type ConductorWorkersOptions = OpeningOptions

export interface ConductorWorkers {
  /** One for each task; for `TaskManager` and `TaskHandler`. */
  readonly workers: ConductorSdkWorker[]
  /** Resolves when all has stopped. */
  readonly closed: Promise<void>
  /** The address of health and metrics, if they are served. */
  readonly healthUrls: readonly string[]
  /** Whether tasks are worked on; nothing of the SDK's polls. */
  health(): WorkerHealth
  /**
   * Lets running tasks finish, and hands them back at the deadline. Call it after the SDK was told to stop polling, which waits
   * for nothing. May be called twice.
   */
  stop(options?: StopOptions): Promise<void>
}

/**
 * `tasks`: the module that exports them, or the tasks themselves. Throws what keeps workers from starting, as `startWorkers`.
 *
 * ```ts
 * const perago = await conductorWorkers('tasks.ts')
 * const manager = new TaskManager(client, [...perago.workers, ...others])
 * manager.startPolling()
 * process.once('SIGTERM', () => void manager.stopPolling().then(() => perago.stop()))
 * ```
 */
export async function conductorWorkers(
  tasks: string | readonly TaskDefinition[],
  options: ConductorWorkersOptions = {},
): Promise<ConductorWorkers> {
  const { signal } = options
  signal?.throwIfAborted()
  const opening = await readOpening(options)
  const replies = new TaskReplies()
  const handed = { watch: replies.watch }
  const here = await openHere(tasks, { ...opening, options: { ...opening.options, handed } }, signal)
  aborted(signal)
    .then(() => here.stop())
    .catch(() => undefined)
  const { closed, healthUrls, health, stop, worker } = here
  const workers = here.tasks.map(({ name }) => ({
    taskDefName: name,
    execute: async (task: object) => replies.replyTo(readTaskRecord(task), worker),
    leaseExtendEnabled: false as const,
  }))
  return { workers, closed, healthUrls, health, stop }
}
