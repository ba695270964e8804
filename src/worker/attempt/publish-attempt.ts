/** The publication of one attempt: asked for with what the attempt knows, and told to whoever watches. */

import { PUBLICATION_CLEANUP_MS } from '../../publication/limits.ts'
import type { AttemptSnapshot, FreshAttempt } from '../../fences/attempt-snapshot.ts'
import type { TaskIdentity } from '../../publication/commit-metadata.ts'
import { beginStaging } from '../../publication/early-staging.ts'
import type { EarlyStaging } from '../../publication/open-staging.ts'
import { isEmpty } from '../../publication/planned-changes.ts'
import type { VersionedRepo } from '../../publication/ports.ts'
import type { PublicationResult } from '../../publication/publication.ts'
import { publish } from '../../publication/publish.ts'
import { planChanges } from '../../publication/repository-source.ts'
import type { PublicationObserver } from '../../publication/steps.ts'
import type { ChangeSet } from '../../workspace/comparing/diff.ts'
import type { AttemptWorkspace } from '../../workspace/laying-out/lay-out.ts'
import type { Life } from './attempt-life.ts'
import { removeFormerStaging } from './remove-former-staging.ts'
import { judgeBudget } from '../../tasks/task-controls.ts'
import type { WorkspaceRef } from './task-input.ts'

/** Nothing is sent to it before the attempt was checked, but it is there by then. */
export function beginStagingEarly(
  life: Life,
  at: WorkspaceRef,
  repo: VersionedRepo,
): EarlyStaging | undefined {
  const { task, record, habits, clock, random, signal } = life
  if (habits?.publishesSoon(task.name) !== true) return undefined
  const early = beginStaging({
    ...{ repo, attempt: record, inputRef: at.ref, task: taskIdentityOf(life), clock, signal },
    ...(random === undefined ? {} : { random }),
    observer: observePublication(life),
  })
  life.later.push(() => early.discard())
  return early
}

export async function publishChanges(
  life: Life,
  given: {
    readonly at: WorkspaceRef
    readonly repo: VersionedRepo
    readonly changes: ChangeSet
    readonly workspace: AttemptWorkspace
    readonly early: EarlyStaging | undefined
  },
): Promise<PublicationResult> {
  const { record, task, clock, signal, log } = life
  const { at, repo, changes, workspace, early } = given
  const startMs = clock.monotonicMs()
  const planned = planChanges(changes)
  life.habits?.learn(task.name, { hasChanges: !isEmpty(planned), afterMs: startMs - life.beganAtMs })
  const publication = await publish({
    repo,
    target: { branch: at.branch, inputRef: at.ref, prefix: workspace.view.prefix },
    changes: planned,
    guard: {
      attempt: record,
      readFresh: async (options) => {
        life.assertMayAct?.()
        const askedAtMs = clock.monotonicMs()
        const fresh = await life.readFresh(record, options)
        life.currentAtMs = askedAtMs
        return fresh
      },
      policy: { whilePaused: task.controls.whilePaused },
    },
    task: taskIdentityOf(life),
    ...(early === undefined ? {} : { early }),
    replace: task.controls.replace,
    ...(life.uploadLimit === undefined ? {} : { uploadLimit: life.uploadLimit }),
    ...(life.random === undefined ? {} : { random: life.random }),
    observer: observePublication(life),
    keepRecord: (kept) => {
      life.evidence = kept
      log.add(`kept: staging branch "${kept.stagingBranch}" at ${kept.stagedRef ?? '(nothing staged)'}`)
      return Promise.resolve()
    },
    cleanUpLater: (remove) => life.later.push(remove),
    clock,
    signal,
  })
  life.publication = publication
  life.later.push(async () => {
    const readFresh = (attempt: AttemptSnapshot): Promise<FreshAttempt> =>
      life.readFresh(attempt, { signal: AbortSignal.timeout(PUBLICATION_CLEANUP_MS) })
    await removeFormerStaging({ repo, record, readFresh })
  })
  tellPublication(life, publication, clock.monotonicMs() - startMs)
  return publication
}

function taskIdentityOf({ record, executionId, codeVersion }: Life): TaskIdentity {
  const { referenceTaskName, seq, iteration } = record
  return { referenceTaskName, seq, iteration, executionId, codeVersion }
}

function observePublication({ observe }: Life): PublicationObserver {
  return (event) => observe?.({ ...event, step: `publish/${event.step}` })
}

/** The start has held the budget against the definition that is registered; a workflow keeps the one it began with. */
export function warnOfShortLease({ record, task, log }: Life): void {
  if (record.responseTimeoutSeconds <= 0) return
  for (const problem of judgeBudget(task.controls.publishBudget, record.responseTimeoutSeconds))
    log.logger.warn(`the lease of this attempt may end while it is published: publishBudget: ${problem}`)
}

/** A replaced commit is never silently gone: the task's log names it, and the tag that keeps it. */
function tellPublication({ log, task }: Life, publication: PublicationResult, durationMs: number): void {
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
