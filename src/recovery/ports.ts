/** What a recovery needs from outside. `runtime` meets it with Conductor, lakeFS and the directories of this machine. */

import type { BranchName, RepositoryName } from '../base/ids.ts'
import type { Clock } from '../base/clock.ts'
import type { JsonObject } from '../base/json.ts'
import type { Logger } from '../base/logger.ts'
import type { HardFences } from '../publication/hard-fences.ts'
import type { LedgerKeys } from '../publication/ledger-signature.ts'
import type { VersionedRepo } from '../publication/ports.ts'
import type { TaskQueue, TaskRecord, WorkflowId, WorkflowStatus } from '../worker/ports.ts'
import type { HeldResult } from '../worker/results/outbox-entries.ts'

export interface RecordedWorkflow {
  readonly workflowId: WorkflowId
  readonly name: string
  readonly status: WorkflowStatus
  readonly input: JsonObject
  readonly tasks: readonly TaskRecord[]
}

export interface RecoveryQueue extends Pick<
  TaskQueue,
  'readTask' | 'readWorkflowStatus' | 'readOpenWorkflows' | 'postResult' | 'appendLog'
> {
  /** `undefined`: there is none of this id. */
  readWorkflow(
    workflowId: WorkflowId,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<RecordedWorkflow | undefined>
  /** Refuses while another one that has not ended may write the branch. */
  startWorkflow(start: { readonly name: string; readonly input: JsonObject }): Promise<WorkflowId>
}

export interface RecoveryWorld {
  /** `undefined`: no Conductor is configured, and no task is known. */
  readonly queue: RecoveryQueue | undefined
  readonly repoOf: (repository: RepositoryName) => VersionedRepo
  /** Where they are installed, branches are moved with hard fences. */
  readonly fences?: HardFences | undefined
  /** With them, a publication whose ledger is not signed by one of them is not adopted. */
  readonly ledgerKeys?: LedgerKeys | undefined
  /** Of the outboxes of this machine. */
  readonly readHeldResults: () => Promise<readonly HeldResult[]>
  readonly clock: Clock
  readonly logger: Logger
  readonly signal?: AbortSignal | undefined
}

export interface BranchPlace {
  /** The name of the repository in lakeFS. */
  readonly repository: RepositoryName
  /** Only the name, such as `main`. */
  readonly branch: BranchName
}
