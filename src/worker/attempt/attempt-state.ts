/** What a run of a task is made from, its state while it lasts, and its outcome. */

import type { AdaptiveLimit } from '../../base/adaptive-limit.ts'
import type { Clock } from '../../base/clock.ts'
import type { RepositoryName } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Logger } from '../../base/logger.ts'
import type { Random } from '../../base/random.ts'
import type { Redactor } from '../../base/redaction.ts'
import type { Transferred } from '../../base/transferred.ts'
import type { StepRecorder } from '../../base/steps.ts'
import type { Authority } from '../../publication/authority.ts'
import type { EvidenceRecord } from '../../publication/evidence.ts'
import type { Adoption } from '../../publication/adopt.ts'
import type { LedgerKeys } from '../../publication/ledger-signature.ts'
import type { HardFences } from '../../publication/hard-fences.ts'
import type { CommitRecord, VersionedRepo } from '../../publication/ports.ts'
import type { PublicationResult } from '../../publication/publication.ts'
import type { OnRetry } from '../../tasks/task-controls.ts'
import type { AttemptInfo, TaskDefinition } from '../../tasks/task-definition.ts'
import type { ChangeSet } from '../../workspace/comparing/diff.ts'
import type { WorkspaceAttempt, WorkspaceRoot } from '../../workspace/ownership/ownership.ts'
import type { AttemptStep, AttemptStepEvent, ChangedFiles } from '../events.ts'
import type { SendLines } from '../results/send-task-log.ts'
import type { TaskLog } from '../results/task-log.ts'
import type { KeptForLater } from './attempt-workspace.ts'
import type { SecretResults } from './withhold-secrets.ts'

/** What is recorded with publications, and what retries do with it. */
export interface LedgerSettings {
  /** Of tasks that do not say it themselves. */
  readonly onRetry: OnRetry
  readonly keys?: LedgerKeys | undefined
}

/** What all runs of a process share. */
export interface RunSurroundings extends KeptForLater {
  readonly root: WorkspaceRoot
  readonly openRepo: (repository: RepositoryName) => VersionedRepo
  /** Shared by all publications of the process. */
  readonly fences?: HardFences
  /** Without it tasks that say nothing replace, and nothing is signed. */
  readonly ledger?: LedgerSettings | undefined
  readonly clock: Clock
  readonly logger: Logger
  readonly redactor: Redactor
  /** What becomes of a result with a configured secret in it; refused unless set. */
  readonly secretResults?: SecretResults | undefined
  readonly random?: Random
  /** Throws when the task queue would not accept this as a task's output. */
  readonly checkOutput?: (output: JsonObject) => void
  /** Shared by all publications of the process. */
  readonly uploadLimit?: AdaptiveLimit
}

export interface RunOptions {
  readonly task: TaskDefinition
  /** Of the module that declares the task; needed by bodies outside this thread. */
  readonly modulePath?: string | undefined
  /** Stop before the publication, and say what would be published. */
  readonly isDryRun?: boolean | undefined
  /** Aborted when the run has to end; its reason is an error that says why. */
  readonly signal: AbortSignal
  /** Aborted when the process is asked to stop. */
  readonly shutdown: AbortSignal
  /** Aborted when the run is to end unless its directory is laid out already: what came after that is worth waiting for. */
  readonly whileLayingOut?: AbortSignal
  /** Awaited before the body begins, while its directory is made. Must not reject. */
  readonly beforeBody?: Promise<unknown>
  readonly observe?: (event: AttemptStepEvent) => void
  /** Called after each file that was laid out or uploaded. */
  readonly onTransferred?: (step: 'lay-out' | 'upload', so: Transferred) => void
  /** Sends lines of the task's log while the run lasts; without it all of them come with the outcome. */
  readonly sendLog?: SendLines
  readonly onProgress?: (done: number, total?: number, what?: string) => void
}

/** One run of a task over a workspace, for a task queue or without one. */
export interface RunRequest extends RunOptions {
  /** What the body is told of the attempt. */
  readonly info: AttemptInfo
  /** Who owns the directory of the run. */
  readonly owner: WorkspaceAttempt
  /** On whose behalf the changes are published. */
  readonly authority: Authority
  /** The task's input; throws when there is none. */
  readonly readInput: () => JsonObject
  /** How long the lease of the attempt lasts without a renewal. */
  readonly responseTimeoutSeconds?: number
  /** More to clean up, once something was published. */
  readonly cleanUpPublished?: (repo: VersionedRepo) => Promise<unknown>
}

export interface RunOutcome {
  /** Of a success. */
  readonly output: JsonObject | undefined
  /** Why the run failed, or `undefined`. */
  readonly error: unknown
  /** The log of the task. */
  readonly logs: readonly string[]
  readonly publication: PublicationResult | Adoption | undefined
  /** Once it was compared with the input. */
  readonly changed?: ChangedFiles | undefined
  /** What was kept of a refused publication. */
  readonly evidence: EvidenceRecord | undefined
  /** Of a dry run. */
  readonly planned?: ChangeSet | undefined
  /** Removes the directory and the staging branch. Never throws. */
  readonly cleanUp: () => Promise<void>
}

/** A run under way. */
export interface AttemptState extends RunSurroundings, RunRequest {
  /** Ends the run by an error of its body that nobody caught. */
  readonly onStray: (error: Error) => void
  readonly log: TaskLog
  readonly steps: StepRecorder<AttemptStep>
  /** What is left to be cleaned up, last in first out. */
  readonly later: (() => Promise<unknown>)[]
  /** The head of the branch, where something to adopt was looked for. */
  seen: { readonly head: CommitRecord | undefined } | undefined
  changed: ChangedFiles | undefined
  evidence: EvidenceRecord | undefined
  publication: PublicationResult | Adoption | undefined
  planned: ChangeSet | undefined
}
