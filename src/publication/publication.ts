/** What is asked of a publication, what it answers, and what its steps share. */

import type { AdaptiveLimit } from '../base/adaptive-limit.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import type { Json } from '../base/json.ts'
import type { Transferred } from '../base/transferred.ts'
import type { EvidenceRecord } from './evidence.ts'
import type { LedgerKeys } from './ledger-signature.ts'
import type { StagingSession } from './open-staging.ts'
import type { PlannedChanges, StoredChecksums } from './planned-changes.ts'
import type { Metadata } from './ports.ts'
import type { Move, SessionOptions } from './session.ts'
import type { FenceStrength } from './strategy.ts'

export interface PublicationTarget {
  readonly branch: BranchName
  /** From the task's input, and from nowhere else. */
  readonly inputRef: CommitRef
  /** Empty, or ending with "/". Nothing outside it changes. */
  readonly prefix: string
}

/** What a run gives back. */
export interface GivenResult {
  readonly value: Json
  /** Not recorded: everybody who reads the repository could read it. */
  readonly isSecret?: boolean
  /** Nothing is published where it cannot be recorded. */
  readonly isRequired?: boolean
}

export interface PublicationRequest extends SessionOptions {
  readonly target: PublicationTarget
  readonly changes: PlannedChanges
  /** What the run gives back; recorded with the publication, so that a retry can give the same. */
  readonly result?: GivenResult | undefined
  /** What its author wants the commit to say; what perago says itself stays as it is. */
  readonly commit?: { readonly message: string | undefined; readonly metadata: Metadata } | undefined
  /** The first signs what is recorded. */
  readonly ledgerKeys?: LedgerKeys | undefined
  /** Only to install or remove a fence: everybody else's changes of `_lakefs_actions/` are refused. */
  readonly changesActions?: true
  /** Awaited before the first upload, beside what comes before it. */
  readonly beforeUpload?: Promise<unknown> | undefined
  /** Throws if what was uploaded has changed at its source. Awaited beside the verification of what was staged. */
  readonly assertSourceUnchanged?: (() => Promise<void>) | undefined
  /** Called after each upload. */
  readonly onUploaded?: ((so: Transferred) => void) | undefined
  /** Shared by the publications of one worker, so that together they do not overload the server. */
  readonly uploadLimit?: AdaptiveLimit | undefined
  /** Where the record of a refused publication goes besides the staging branch. */
  readonly keepRecord?: (record: EvidenceRecord) => Promise<void>
  /**
   * Takes over the removal of the staging branch after a success, for a worker that reports its result first. The
   * function it is given never throws. Without this the branch is removed before `publish` answers.
   */
  readonly cleanUpLater?: (cleanUp: () => Promise<void>) => void
}

/** The outcome, apart from what every answer has. */
export type Settled = { readonly outputRef: CommitRef } & ({ readonly action: 'merged' | 'completed' } | Move)

export type PublicationResult = Settled & {
  readonly strength: FenceStrength
  /** What was uploaded; empty where nothing was. */
  readonly stored: StoredChecksums
}

export interface PublicationRun extends StagingSession {
  readonly request: PublicationRequest
  readonly metadata: Metadata
}
