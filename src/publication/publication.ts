/** What is asked of a publication, and what it answers. */

import type { AdaptiveLimit } from '../base/adaptive-limit.ts'
import type { Clock } from '../base/clock.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import type { Random } from '../base/random.ts'
import type { AttemptGuard } from './attempt-guard.ts'
import type { TaskIdentity } from './commit-metadata.ts'
import type { EvidenceRecord } from './evidence-record.ts'
import type { EarlyStaging } from './open-staging.ts'
import type { PlannedChanges } from './planned-changes.ts'
import type { VersionedRepo } from './ports.ts'
import type { PublicationObserver } from './steps.ts'
import type { FenceStrength, PublishStrategy } from './strategy.ts'

export interface PublicationTarget {
  readonly branch: BranchName
  /** From the task's input, and from nowhere else. */
  readonly inputRef: CommitRef
  /** Empty, or ending with "/". Nothing outside it changes. */
  readonly prefix: string
}

/** `any`: whatever stands directly above the input ref; `own`: only what this very task published. */
export type ReplacePolicy = 'any' | 'own'

export interface PublicationRequest {
  readonly repo: VersionedRepo
  readonly target: PublicationTarget
  readonly changes: PlannedChanges
  readonly guard: AttemptGuard
  readonly task: TaskIdentity
  readonly replace?: ReplacePolicy
  /** Soft unless told. */
  readonly strategy?: PublishStrategy
  /** A staging branch that was begun before; nothing is uploaded to it before the first attempt check has passed. */
  readonly early?: EarlyStaging
  /** Shared by the publications of one worker, so that together they do not overrun the server. */
  readonly uploadLimit?: AdaptiveLimit
  readonly observer?: PublicationObserver
  /** Where the record of a refused publication goes besides the staging branch. */
  readonly keepRecord?: (record: EvidenceRecord) => Promise<void>
  /**
   * Takes over the removal of the staging branch after a success, for a worker that reports its result first. Whoever
   * takes it over runs it; it never throws. Without this it is done before `publish` answers.
   */
  readonly cleanUpLater?: (cleanUp: () => Promise<void>) => void
  readonly clock?: Clock
  readonly random?: Random
  readonly signal?: AbortSignal
}

export type PublicationResult = {
  readonly outputRef: CommitRef
  readonly strength: FenceStrength
} & (
  | { readonly action: 'merged' | 'completed' }
  | {
      readonly action: 'replaced' | 'relocated'
      readonly supersededRef: CommitRef
      /** Keeps the superseded commit reachable. */
      readonly evidenceTag: string
    }
)
