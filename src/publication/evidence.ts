/** Keeps what a refusal or a replacement would otherwise make unreachable: the refs, who published, the decision. */

import { isPeragoError, RefusedError, type ErrorCode, type PeragoError } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import { StaleAttemptError, type AttemptDifference } from '../fences/attempt-fence.ts'
import type { AttemptSnapshot } from '../fences/attempt-snapshot.ts'
import { PublishFenceError, type PublishRefusal } from '../fences/publish-fence.ts'
import { PUBLICATION_CLEANUP_MS } from './limits.ts'
import type { StagingSession } from './open-staging.ts'
import type { CallOptions, TagOutcome } from './ports.ts'
import type { Session } from './session.ts'

export interface EvidenceRecord {
  readonly code: ErrorCode
  readonly message: string
  readonly branch: BranchName
  readonly inputRef: CommitRef
  readonly stagingBranch: BranchName
  /** `undefined`: nothing was staged. */
  readonly stagedRef: CommitRef | undefined
  readonly attempt?: AttemptSnapshot
  /** Who published without an attempt. */
  readonly actor?: string
  readonly executionId: string
  /** Why the branch was refused, and its state then. */
  readonly refusal?: {
    readonly reason: PublishRefusal
    readonly head: CommitRef | undefined
    readonly headFirstParent: CommitRef | undefined
  }
  /** How the attempt differed from what was polled. */
  readonly differences?: readonly AttemptDifference[]
}

/** Tags the commit that is about to leave the branch. Without the tag the branch does not move. */
export async function keepSuperseded(session: Session, supersededRef: CommitRef): Promise<string> {
  const { repo, steps, repeat } = session
  const tag = evidenceTag(supersededRef)
  let isLost = false
  const create = async (call: CallOptions): Promise<TagOutcome> => {
    // A server that was away has to be back first; then a tag that was created is found to be there.
    if (isLost) await repo.readCommit(supersededRef, call)
    isLost = true
    return repo.createTag({ tag, at: supersededRef }, call)
  }
  const outcome = await steps.run(
    'keep-superseded',
    () => repeat(create),
    () => ({ tag, supersededRef }),
  )
  if (outcome.created || outcome.at === supersededRef) return tag
  throw new RefusedError(
    'publication/evidence-tag-taken',
    `keep ${supersededRef} under tag "${tag}": the tag points at ${outcome.at}`,
    {
      details: { tag, supersededRef, at: outcome.at },
      next: "Remove or rename that tag, it is not perago's.",
    },
  )
}

/** The tag that keeps a superseded commit reachable. One commit has one name, so keeping it twice changes nothing. */
export function evidenceTag(supersededRef: CommitRef): string {
  return `perago-superseded-${supersededRef}`
}

/**
 * `undefined` for a failure that leaves no evidence: nothing was refused, and nothing is uncertain, or the caller ended the
 * publication. That needs nobody's look: the next attempt starts from the facts.
 */
export function describeRefusal(
  error: unknown,
  session: StagingSession,
  of: Pick<EvidenceRecord, 'branch' | 'stagedRef'>,
): EvidenceRecord | undefined {
  if (!isPeragoError(error) || (error.kind !== 'refused' && error.kind !== 'uncertain')) return undefined
  if (isEndedByCaller(error, session)) return undefined
  const { authority, inputRef, stagingBranch } = session
  const { code, message } = error
  const record: EvidenceRecord = {
    ...{ code, message, ...of, inputRef, stagingBranch, executionId: authority.executionId },
    ...(authority.kind === 'actor' ? { actor: authority.actor } : { attempt: authority.attempt }),
  }
  if (error instanceof StaleAttemptError) return { ...record, differences: error.differences }
  if (!(error instanceof PublishFenceError)) return record
  const { reason, facts } = error
  return { ...record, refusal: { reason, head: facts.head, headFirstParent: facts.headFirstParent } }
}

/** Stopped, abandoned, or without its lease. */
function isEndedByCaller(error: PeragoError, { call: { signal } }: StagingSession): boolean {
  // A request that was cut while it ran is uncertain.
  return signal?.aborted === true && (error === signal.reason || error.kind === 'uncertain')
}

/**
 * Keeps the record with the staging branch, in the metadata of one last, empty commit, and hands it to the caller. A
 * failure to keep it is reported to the observer, and does not change the refusal.
 */
export async function keepRefusal(
  { repo, steps, stagingBranch }: StagingSession,
  record: EvidenceRecord,
  keepRecord: ((record: EvidenceRecord) => Promise<void>) | undefined,
): Promise<void> {
  const commitRecord = async (): Promise<void> => {
    if (record.stagedRef === undefined) return
    const message = `Evidence: ${record.code}`
    const metadata = { 'publish.run': record.executionId, 'publish.evidence': JSON.stringify(record) }
    const signal = AbortSignal.timeout(PUBLICATION_CLEANUP_MS)
    await repo.commit({ branch: stagingBranch, message, metadata, allowEmpty: true }, { signal })
  }
  const describe = (): Readonly<Record<string, unknown>> => ({ record })
  await Promise.allSettled([
    steps.runAlways('keep-evidence', commitRecord, describe),
    keepRecord && steps.runAlways('keep-evidence', () => keepRecord(record), describe),
  ])
}
