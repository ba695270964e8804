/** Keeps what a refusal or a replacement would otherwise make unreachable. */

import { RefusedError } from '../base/errors.ts'
import type { CommitRef } from '../base/ids.ts'
import { PUBLICATION_CLEANUP_MS } from './limits.ts'
import { evidenceMetadata, evidenceTag, type EvidenceRecord } from './evidence-record.ts'
import { repeatWhenLost } from './repeat.ts'
import type { PublicationRun } from './run.ts'

/** Tags the commit that is about to leave the branch. Without the tag the branch does not move. */
export async function keepSuperseded(run: PublicationRun, supersededRef: CommitRef): Promise<string> {
  const tag = evidenceTag(supersededRef)
  const outcome = await run.steps.run(
    'keep-superseded',
    () => repeatWhenLost(() => run.request.repo.createTag({ tag, at: supersededRef }, run.call), run.repeat),
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

/**
 * Leaves the record with the staging branch, as the message of one last, empty commit, and wherever else the caller
 * wants it. That it could not be kept is told, and changes nothing about the refusal.
 */
export async function keepRefusal(run: PublicationRun, record: EvidenceRecord): Promise<void> {
  const { request, steps, stagingBranch } = run
  const signal = AbortSignal.timeout(PUBLICATION_CLEANUP_MS)
  const close = async (): Promise<void> => {
    if (record.stagedRef === undefined) return
    const message = `Evidence: ${record.code}`
    const metadata = evidenceMetadata(record)
    await request.repo.commit({ branch: stagingBranch, message, metadata, allowEmpty: true }, { signal })
  }
  const hand = async (): Promise<void> => request.keepRecord?.(record)
  const describe = (): Readonly<Record<string, unknown>> => ({ record })
  await Promise.allSettled([
    steps.run('keep-evidence', close, describe),
    request.keepRecord && steps.run('keep-evidence', hand, describe),
  ])
}
