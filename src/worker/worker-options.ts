/** What a worker is given. */

import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { TaskDefinition } from '../tasks/task-definition.ts'
import type { AttemptSurroundings } from './attempt/run-attempt.ts'
import type { StagingTimes } from './branches/staging-collector.ts'
import type { WorkerObserver } from './events.ts'
import type { LeaseKeeper } from './leases/lease.ts'
import type { OutageWatch } from './outages/outage.ts'
import type { TaskQueue, TaskRecord } from './ports.ts'
import type { Outbox } from './results/outbox.ts'

/** A task that a worker takes. */
export interface WorkerTask {
  readonly task: TaskDefinition
  /** The absolute path of its module; needed by bodies that do not run inline. */
  readonly modulePath?: string
}

export interface WorkerOptions extends Omit<
  AttemptSurroundings,
  'readFresh' | 'clock' | 'random' | 'outages'
> {
  readonly queue: TaskQueue
  readonly tasks: readonly WorkerTask[]
  readonly leases: LeaseKeeper
  readonly outbox: Outbox
  /** Unique among all workers; each claim adds a number. */
  readonly workerId: string
  /** False: somebody else's loop polls, and gives the tasks to `take`. */
  readonly polls?: boolean
  /** Names each execution of an attempt; its claim does unless set, which needs a worker id for each claim. */
  readonly executionIdOf?: (record: TaskRecord) => string
  /** How many attempts of all tasks run at the same time. */
  readonly slots?: number
  readonly domain?: string
  /** What may keep tasks from being taken. The caller closes them, after the worker. */
  readonly watches?: readonly OutageWatch[]
  /** Given an error that the worker's own files met. */
  readonly onFileError?: (error: unknown) => void
  /** When to look for staging branches that were left behind. */
  readonly stagingTimes?: StagingTimes
  readonly observers?: readonly WorkerObserver[]
  /** False where an observer says how attempts end, so that the log need not. */
  readonly logsEnds?: boolean
  readonly clock?: Clock
  readonly random?: Random
}
