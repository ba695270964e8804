/**
 * Removes what ended attempts have left in a repository, in whichever language their worker was written: staging branches, by age
 * **and** by the state of their attempt. The rules are those of the workers' own look (`worker/branches/left-staging.ts`): what
 * cannot be known keeps the branch, evidence stays, and a branch that changes meanwhile stays.
 *
 * The age of a branch counts from its own commit; one that has none (it stands at its input) from when a run of this saw it first.
 */

import type { BranchName, RepositoryName } from '../base/ids.ts'
import { InvalidError } from '../base/errors.ts'
import type { MetadataKey } from '../publication/commit-metadata.ts'
import { isStagingOf } from '../publication/staging-name.ts'
import { listStaging, removeLeftStaging, type StagingNotes } from '../worker/branches/left-staging.ts'
import { STAGING_LISTED_MAX } from '../worker/limits.ts'
import type { RecoveryWorld } from './ports.ts'

export interface CollectRequest {
  readonly repository: RepositoryName
  /** How old a branch of an ended attempt must be. */
  readonly endedAgeMs: number
  /** How old one must be of whose attempt Conductor knows nothing. */
  readonly unknownAgeMs: number
  /** Otherwise nothing is removed. */
  readonly apply: boolean
  /** Of an earlier run. */
  readonly notes: StagingNotes
}

export interface Collected {
  /** What is due; with `apply` also what was removed. */
  readonly due: readonly BranchName[]
  readonly removed: readonly BranchName[]
  readonly kept: number
  /** For the next run. */
  readonly notes: StagingNotes
}

export async function collectStaging(world: RecoveryWorld, request: CollectRequest): Promise<Collected> {
  const { repository, endedAgeMs, unknownAgeMs, apply } = request
  const { queue, clock, signal } = world
  if (queue === undefined) {
    throw new InvalidError('recovery/no-conductor', 'collect staging branches: no Conductor is configured', {
      next: 'Set conductor.serverUrl: only Conductor says which attempts have ended.',
    })
  }
  const repo = world.repoOf(repository)
  const nowMs = clock.now().getTime()
  const notes = { after: '', seen: await sinceOwnCommit(world, request) }
  const look = { repo, queue, notes, nowMs, endedAgeMs, unknownAgeMs }
  return removeLeftStaging({ ...look, examinedMax: STAGING_LISTED_MAX, isDryRun: !apply }, { signal })
}

/** Notes as if each branch had been seen when its own commit was made. */
async function sinceOwnCommit(
  world: RecoveryWorld,
  { repository, notes }: CollectRequest,
): Promise<StagingNotes['seen']> {
  const repo = world.repoOf(repository)
  const call = { signal: world.signal }
  const seen = { ...notes.seen }
  for (const { branch, head } of await listStaging(repo, call)) {
    const commit = await repo.readCommit(head, call)
    const run = commit?.metadata['publish.run' satisfies MetadataKey]
    if (commit === undefined || run === undefined || !isStagingOf(branch, run)) continue
    const sinceMs = commit.createdAt.getTime()
    const before = seen[branch]
    if (before?.head !== head || before.sinceMs > sinceMs) seen[branch] = { head, sinceMs }
  }
  return seen
}
