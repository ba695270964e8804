/** What one attempt is made from, what it is while it lasts, and what comes of it. */

import type { AdaptiveLimit } from '../../base/adaptive-limit.ts'
import type { Clock } from '../../base/clock.ts'
import type { RepositoryName } from '../../base/ids.ts'
import type { Logger } from '../../base/logger.ts'
import type { Random } from '../../base/random.ts'
import type { Redactor } from '../../base/redaction.ts'
import type { AttemptSnapshot, FreshAttempt } from '../../fences/attempt-snapshot.ts'
import type { EvidenceRecord } from '../../publication/evidence-record.ts'
import type { VersionedRepo } from '../../publication/ports.ts'
import type { PublicationResult } from '../../publication/publication.ts'
import type { WorkspaceRoot } from '../../workspace/ownership/ownership.ts'
import type { KeptForLater } from './attempt-workspace.ts'
import type { AttemptStepEvent } from '../events.ts'
import type { FailureOptions } from '../results/failure-map.ts'
import type { QueueCallOptions, TaskRecord, TaskResult } from '../ports.ts'
import type { JsonObject } from '../../base/json.ts'
import type { PublishHabits } from './publish-hints.ts'
import type { TaskDefinition } from '../../tasks/task-definition.ts'
import type { TaskLog } from '../results/task-log.ts'

/** What all attempts of a worker share. */
export interface AttemptSurroundings extends KeptForLater {
  readonly root: WorkspaceRoot
  readonly openRepo: (repository: RepositoryName) => VersionedRepo
  /** The task and its workflow as they are now; throws when that cannot be known. */
  readonly readFresh: (attempt: AttemptSnapshot, options: QueueCallOptions) => Promise<FreshAttempt>
  readonly clock: Clock
  readonly logger: Logger
  readonly redactor: Redactor
  readonly random?: Random
  /** Throws when the task queue would not take this as a task's output. */
  readonly checkOutput?: (output: JsonObject) => void
  /** What a refused publication becomes; terminal unless set. */
  readonly publishRefused?: FailureOptions['publishRefused']
  /** Of the task code; informative. */
  readonly codeVersion?: string
  /** Shared by all publications of the worker. */
  readonly uploadLimit?: AdaptiveLimit
  /** What is known of the tasks' former runs; without it no staging branch is begun before it is needed. */
  readonly habits?: PublishHabits
  /** Asked right before every attempt fence; throws when this process may not act any more. */
  readonly assertMayAct?: () => void
}

export interface AttemptRequest {
  readonly task: TaskDefinition
  /** Of the module that declares the task; needed by bodies outside this thread. */
  readonly modulePath?: string | undefined
  /** The task as it was handed out. */
  readonly record: TaskRecord
  /** Unique for each execution of an attempt. */
  readonly executionId: string
  /** Aborted when the attempt is lost or has to end; its reason is an error that says why. */
  readonly signal: AbortSignal
  /** Aborted when the worker is asked to stop. */
  readonly shutdown: AbortSignal
  /** Awaited before the body begins, and under way while its directory is made. Must not reject. */
  readonly beforeBody?: Promise<unknown>
  readonly observe?: (event: AttemptStepEvent) => void
  readonly onProgress?: (done: number, total?: number, what?: string) => void
}

export interface AttemptOutcome {
  readonly result: TaskResult
  readonly publication: PublicationResult | undefined
  /** What was kept of a refused publication. */
  readonly evidence: EvidenceRecord | undefined
  /** Why the attempt failed, or undefined. */
  readonly error: unknown
  /** Of a success: when the reading began that let the attempt fence pass last, on the clock's monotonic scale. */
  readonly currentAtMs?: number | undefined
  /** Removes the directory and the staging branch. Never throws. */
  readonly cleanUp: () => Promise<void>
}

/** An attempt under way. */
export interface Life extends AttemptSurroundings, AttemptRequest {
  readonly log: TaskLog
  /** What is left to be cleaned up, last in first out. */
  readonly later: (() => Promise<void>)[]
  evidence: EvidenceRecord | undefined
  publication: PublicationResult | undefined
  currentAtMs: number | undefined
  readonly beganAtMs: number
}
