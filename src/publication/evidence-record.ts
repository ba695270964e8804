/** What is kept of a publication that was refused: the refs, the attempt, the decision. */

import { isPeragoError, type ErrorCode } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import { StaleAttemptError, type AttemptDifference } from '../fences/attempt-fence.ts'
import type { AttemptSnapshot } from '../fences/attempt-snapshot.ts'
import { PublishFenceError, type PublishRefusal } from '../fences/publish-fence.ts'
import type { Metadata } from './ports.ts'

export interface EvidenceRecord {
  readonly code: ErrorCode
  readonly message: string
  readonly branch: BranchName
  readonly inputRef: CommitRef
  readonly stagingBranch: BranchName
  /** `undefined`: nothing was staged. */
  readonly stagedRef: CommitRef | undefined
  readonly attempt: AttemptSnapshot
  readonly executionId: string
  /** Why the branch was refused, and how it stood. */
  readonly refusal?: {
    readonly reason: PublishRefusal
    readonly head: CommitRef | undefined
    readonly headFirstParent: CommitRef | undefined
  }
  /** How the attempt differed from what was polled. */
  readonly differences?: readonly AttemptDifference[]
}

/** `undefined` when the failure is none that leaves evidence: it refused nothing and left nothing uncertain. */
export function describeRefusal(
  error: unknown,
  of: Omit<EvidenceRecord, 'code' | 'message' | 'refusal' | 'differences'>,
): EvidenceRecord | undefined {
  if (!isPeragoError(error) || (error.kind !== 'refused' && error.kind !== 'uncertain')) return undefined
  const record = { code: error.code, message: error.message, ...of }
  if (error instanceof StaleAttemptError) return { ...record, differences: error.differences }
  if (!(error instanceof PublishFenceError)) return record
  const { reason, facts } = error
  return { ...record, refusal: { reason, head: facts.head, headFirstParent: facts.headFirstParent } }
}

/** The record as metadata of the commit that closes a kept staging branch. */
export function evidenceMetadata(record: EvidenceRecord): Metadata {
  return { 'publish.run': record.executionId, 'publish.evidence': JSON.stringify(record) }
}

/** The tag that keeps a superseded commit reachable. One commit, one name, so that keeping it twice is keeping it once. */
export function evidenceTag(supersededRef: CommitRef): string {
  return `perago-superseded-${supersededRef}`
}
