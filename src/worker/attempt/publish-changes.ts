/** The publication of one run: asked for with what the run knows, and reported to its log and its observer. */

import { beginStaging, type EarlyStaging } from '../../publication/open-staging.ts'
import { isEmpty, type PlannedChanges } from '../../publication/planned-changes.ts'
import type { VersionedRepo } from '../../publication/ports.ts'
import type { PublicationResult } from '../../publication/publication.ts'
import { publish } from '../../publication/publish.ts'
import type { SessionOptions } from '../../publication/session.ts'
import type { PublicationObserver } from '../../publication/steps.ts'
import { judgeBudget } from '../../tasks/task-controls.ts'
import type { ChangeSet } from '../../workspace/comparing/diff.ts'
import type { AttemptWorkspace } from '../../workspace/laying-out/lay-out.ts'
import type { AttemptState } from './attempt-state.ts'
import type { WorkspaceRef } from './task-input.ts'

/** Nothing is sent to it before the attempt was checked, but it exists by then. */
export function beginStagingEarly(
  state: AttemptState,
  at: WorkspaceRef,
  repo: VersionedRepo,
): EarlyStaging | undefined {
  if (state.hints?.publishesSoon(state.task.name) !== true) return undefined
  const early = beginStaging({ ...sessionOf(state, repo), inputRef: at.ref })
  state.later.push(() => early.discard())
  return early
}

export async function publishChanges(
  state: AttemptState,
  given: {
    readonly at: WorkspaceRef
    readonly repo: VersionedRepo
    readonly changes: ChangeSet
    readonly workspace: AttemptWorkspace
    readonly early: EarlyStaging | undefined
  },
): Promise<PublicationResult> {
  const { task, clock, log, later, cleanUpPublished, uploadLimit } = state
  const { at, repo, changes, workspace, early } = given
  const startMs = clock.monotonicMs()
  const planned = planChanges(changes)
  state.hints?.learn(task.name, { hasChanges: !isEmpty(planned), afterMs: startMs - state.beganAtMs })
  const publication = await publish({
    ...sessionOf(state, repo),
    target: { branch: at.branch, inputRef: at.ref, prefix: workspace.view.prefix },
    changes: planned,
    early,
    uploadLimit,
    keepRecord: (kept) => {
      state.evidence = kept
      log.add(`kept: staging branch "${kept.stagingBranch}" at ${kept.stagedRef ?? '(nothing staged)'}`)
      return Promise.resolve()
    },
    cleanUpLater: (remove) => later.push(remove),
  })
  state.publication = publication
  if (cleanUpPublished !== undefined) later.push(() => cleanUpPublished(repo))
  reportPublication(state, publication, clock.monotonicMs() - startMs)
  return publication
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

function sessionOf(
  { authority, clock, random, signal, observe }: AttemptState,
  repo: VersionedRepo,
): SessionOptions {
  const observer: PublicationObserver = (event) => observe?.({ ...event, step: `publish/${event.step}` })
  return { repo, authority, clock, random, signal, observer }
}

/** A replaced commit never disappears silently: the task's log names it, and the tag that keeps it. */
function reportPublication(
  { log, task }: AttemptState,
  publication: PublicationResult,
  durationMs: number,
): void {
  const { action, outputRef, strength } = publication
  log.add(`published: ${action} at ${outputRef}, ${strength} fence`)
  if (publication.action === 'replaced' || publication.action === 'relocated') {
    const { supersededRef, evidenceTag } = publication
    log.logger.warn(`superseded ${supersededRef}, which stays reachable as tag "${evidenceTag}"`)
  }
  const { publishSeconds } = task.controls.publishBudget
  if (durationMs > publishSeconds * 1_000) {
    log.logger.warn(
      `the publication took ${Math.round(durationMs / 1_000)} s, more than its budget of ${publishSeconds} s`,
    )
  }
}
