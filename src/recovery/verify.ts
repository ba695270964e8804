/**
 * Walks the first-parent history of a branch and proves or refutes what perago promises of it. Each check is refuted by a finding;
 * what can only be noticed (commits of others, publishers that know no fence) is named, and refutes nothing.
 *
 * The history is read page by page, and what is remembered of it is bounded, so that its length does not matter.
 */

import { MissingError } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import { readNewest } from '../publication/claims.ts'
import type { CommitRecord, VersionedRepo } from '../publication/ports.ts'
import { HistoryJudge, type VerifyFinding } from './history-judge.ts'
import { RECOVERY_NAMED_MAX, VERIFY_REMEMBERED_MAX } from './limits.ts'
import { LostOutputs } from './lost-outputs.ts'
import type { BranchPlace, RecoveryWorld } from './ports.ts'
import { makerOf, UnfencedPublishers, type UnfencedPublisher } from './publishers.ts'

export interface VerifyRequest extends BranchPlace {
  /** A commit, branch or tag: only what is above it is judged. */
  readonly since?: string | undefined
  /** The newest so many commits; all of them unless given. */
  readonly limit?: number | undefined
  /** Commits, tasks and workflows that are remembered at a time. */
  readonly rememberedMax?: number | undefined
}

export interface Verification {
  readonly holds: boolean
  readonly commits: number
  /** Where the walk ended: at the first commit of the branch, at that of `since`, or after `limit` commits. */
  readonly stopped: 'beginning' | 'since' | 'limit'
  /** The oldest commit that was judged. */
  readonly oldest: CommitRef | undefined
  /** Whether the walk came to the first commit; else only what is above `oldest` was judged, with it. */
  readonly isWhole: boolean
  /** Workflows that Conductor does not know, so that `nothing-lost` is not judged for them; some of them. */
  readonly unknownWorkflows: readonly string[]
  /** The newest of them. */
  readonly refuted: readonly VerifyFinding[]
  readonly refutedCount: number
  /** Who published without a hard fence, because there was none, or because the worker knows none. */
  readonly withoutFence: readonly UnfencedPublisher[]
  /** Commits that no worker has made: by hand, or by a tool that perago does not know; the newest of them. */
  readonly foreign: readonly CommitRef[]
  readonly foreignCount: number
}

/**
 * ```ts
 * const { holds, stopped } = await verify(world, { repository, branch, since: 'v1.0' })
 * ```
 */
export async function verify(world: RecoveryWorld, request: VerifyRequest): Promise<Verification> {
  const { repository, branch, since, limit, rememberedMax = VERIFY_REMEMBERED_MAX } = request
  const { signal } = world
  const repo = world.repoOf(repository)
  const stopAt = since === undefined ? undefined : await resolve(repo, since, signal)
  // By its id: the branch may move meanwhile.
  const head = await resolve(repo, branch, signal)
  const judge = new HistoryJudge(rememberedMax)
  const outputs = new LostOutputs(world, request, rememberedMax)
  const unfenced = new UnfencedPublishers()
  const refuted = new Counted<VerifyFinding>()
  const foreign = new Counted<CommitRef>()
  let stopped: Verification['stopped'] = 'beginning'
  let commits = 0
  let oldest: CommitRecord | undefined

  for await (const commit of repo.log(head, { firstParent: true, signal, ...(stopAt && { stopAt }) })) {
    if (commit.ref === stopAt || commits === limit) {
      stopped = commit.ref === stopAt ? 'since' : 'limit'
      break
    }
    commits += 1
    oldest = commit
    for (const finding of judge.judge(commit)) refuted.add(finding)
    for (const finding of await outputs.pass(commit)) refuted.add(finding)
    unfenced.note(commit)
    if (makerOf(commit) === 'other' && commit.parents.length > 0) foreign.add(commit.ref)
  }
  for (const finding of await outputs.end(oldest)) refuted.add(finding)

  return {
    ...{ holds: refuted.count === 0, commits, stopped, oldest: oldest?.ref },
    ...{ isWhole: stopped === 'beginning', unknownWorkflows: outputs.unknownWorkflows },
    ...{ refuted: refuted.first, refutedCount: refuted.count, withoutFence: unfenced.all },
    ...{ foreign: foreign.first, foreignCount: foreign.count },
  }
}

/** Counts all, and keeps the first. */
class Counted<T> {
  readonly first: T[] = []
  count = 0

  add(item: T): void {
    this.count += 1
    if (this.first.length < RECOVERY_NAMED_MAX) this.first.push(item)
  }
}

async function resolve(
  repo: VersionedRepo,
  ref: string,
  signal: AbortSignal | undefined,
): Promise<CommitRef> {
  const found = await readNewest(repo, ref as BranchName, { signal })
  if (found !== undefined) return found.ref
  throw new MissingError(
    'recovery/no-such-ref',
    `verify: repository "${repo.repository}" has no branch, tag or commit ${JSON.stringify(ref)}`,
    { next: 'Name a branch, a tag or a whole commit id of the repository.' },
  )
}
