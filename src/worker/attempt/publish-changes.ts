/** The publication of one run: asked for with what the run knows, and reported to its log and its observer. */

import type { PlannedChanges } from '../../publication/planned-changes.ts'
import type { VersionedRepo } from '../../publication/ports.ts'
import type { GivenResult, PublicationResult } from '../../publication/publication.ts'
import { publish } from '../../publication/publish.ts'
import type { SessionOptions } from '../../publication/session.ts'
import type { PublicationObserver } from '../../publication/steps.ts'
import type { AuthoredCommit } from '../../tasks/commit-spec.ts'
import { judgeBudget } from '../../tasks/task-controls.ts'
import type { ChangeSet } from '../../workspace/comparing/diff.ts'
import type { AttemptWorkspace } from '../../workspace/laying-out/lay-out.ts'
import type { Json } from '../../base/json.ts'
import { tellKept, tellPublished, tellSuperseded } from '../results/publication-lines.ts'
import { isAdopting } from './adopting.ts'
import type { AttemptState } from './attempt-state.ts'
import type { WorkspaceRef } from './task-input.ts'

export async function publishChanges(
  state: AttemptState,
  given: {
    readonly at: WorkspaceRef
    readonly repo: VersionedRepo
    readonly changes: ChangeSet
    readonly result: Json
    readonly commit: AuthoredCommit | undefined
    readonly workspace: AttemptWorkspace
    readonly beforeUpload: Promise<unknown>
  },
): Promise<PublicationResult> {
  const { clock, log, later, cleanUpPublished, uploadLimit } = state
  const { at, repo, changes, result, commit, workspace, beforeUpload } = given
  const startMs = clock.monotonicMs()
  const publication = await publish({
    ...sessionOf(state, repo),
    target: { branch: at.branch, inputRef: at.ref, prefix: workspace.view.prefix },
    changes: planChanges(changes),
    beforeUpload,
    assertSourceUnchanged: () => changes.assertUnchanged(state.signal),
    uploadLimit,
    onUploaded: (so) => state.onTransferred?.('upload', so),
    result: givenResult(state, result),
    commit,
    ledgerKeys: state.ledger?.keys,
    keepRecord: (kept) => {
      state.evidence = kept
      log.add(tellKept(kept.stagingBranch, kept.stagedRef))
      return Promise.resolve()
    },
    cleanUpLater: (remove) => later.push(remove),
  })
  state.publication = publication
  if (cleanUpPublished !== undefined) later.push(() => cleanUpPublished(repo))
  reportPublication(state, publication, clock.monotonicMs() - startMs)
  return publication
}

/** Whoever reads the repository reads the ledger, so a result with a secret in it is not recorded. */
function givenResult(state: AttemptState, value: Json): GivenResult {
  const text = JSON.stringify(value)
  return { value, isSecret: state.redactor.text(text) !== text, isRequired: isAdopting(state) }
}

/** What a workspace changed, as a publication takes it. */
export function planChanges({ uploads, deletes }: Pick<ChangeSet, 'uploads' | 'deletes'>): PlannedChanges {
  return {
    uploads: uploads.map((file) => {
      const { key: path, sizeBytes, md5, contentType, metadata } = file
      const body = { sizeBytes, open: () => file.open(), ...(md5 === undefined ? {} : { md5 }) }
      return { path, body, contentType, metadata }
    }),
    deletes,
  }
}

/** The start has compared the budget with the definition that is registered; a workflow keeps the one it began with. */
export function warnOfShortLease({ responseTimeoutSeconds = 0, task, log }: AttemptState): void {
  if (responseTimeoutSeconds <= 0) return
  for (const problem of judgeBudget(task.controls.publishBudget, responseTimeoutSeconds))
    log.logger.warn(`the lease of this attempt may end while it is published: publishBudget: ${problem}`)
}

export function sessionOf(
  { authority, fences, clock, random, signal, observe }: AttemptState,
  repo: VersionedRepo,
): SessionOptions {
  const observer: PublicationObserver = (event) => observe?.({ ...event, step: `publish/${event.step}` })
  return { repo, authority, fences, clock, random, signal, observer }
}

function reportPublication(
  { log, task }: AttemptState,
  publication: PublicationResult,
  durationMs: number,
): void {
  log.add(tellPublished(publication))
  if (publication.action === 'replaced' || publication.action === 'relocated') {
    const { supersededRef, evidenceTag } = publication
    log.logger.warn(tellSuperseded(supersededRef, evidenceTag))
  }
  const { publishSeconds } = task.controls.publishBudget
  if (durationMs > publishSeconds * 1_000) {
    log.logger.warn(
      `the publication took ${Math.round(durationMs / 1_000)} s, more than its budget of ${publishSeconds} s`,
    )
  }
}
