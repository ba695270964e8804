/**
 * Walks the first-parent history of a branch and proves or refutes what perago promises of it. Each check is refuted by a finding;
 * what can only be noticed (commits of others, publishers that know no fence) is named, and refutes nothing.
 *
 * The history is read page by page, and what is remembered of it is bounded, so that its length does not matter.
 */

import { followSignals, isAborted } from '../base/abort-signals.ts'
import { abortReason } from '../base/clock.ts'
import { MissingError, UnavailableError } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import { readNewest } from '../publication/claims.ts'
import type { CommitRecord, VersionedRepo } from '../publication/ports.ts'
import { HistoryJudge, VERIFIED_CHECKS, type VerifiedCheck, type VerifyFinding } from './history-judge.ts'
import { RECOVERY_NAMED_MAX, VERIFY_REMEMBERED_MAX } from './limits.ts'
import { LostOutputs } from './lost-outputs.ts'
import type { BranchPlace, RecoveryWorld } from './ports.ts'
import { makerOf, UnfencedPublishers, type UnfencedPublisher } from './publishers.ts'

export interface VerifyRequest extends BranchPlace {
  /** A commit, branch or tag: only what is above it is judged. */
  readonly since?: string | undefined
  /** The newest so many commits; all of them unless given. */
  readonly limit?: number | undefined
  /** Aborted, it ends the walk and its requests; what was judged until then is told. */
  readonly until?: AbortSignal | undefined
  /** Commits, tasks and workflows that are remembered at a time. */
  readonly rememberedMax?: number | undefined
}

export interface Verification {
  readonly holds: boolean
  readonly commits: number
  /** Where the walk ended: at the first commit of the branch, at that of `since`, after `limit` commits, or when its time was over. */
  readonly stopped: 'beginning' | 'since' | 'limit' | 'time'
  /** The oldest commit that was judged. */
  readonly oldest: CommitRef | undefined
  /** Whether the walk came to the first commit; else only what is above `oldest` was judged, with it. */
  readonly isWhole: boolean
  /** Workflows that Conductor does not know, so that `nothing-lost` is not judged for them; some of them. */
  readonly unknownWorkflows: readonly string[]
  /** The newest of them. */
  readonly refuted: readonly VerifyFinding[]
  readonly refutedCount: number
  /** How often each check is refuted. */
  readonly refutedOf: Readonly<Record<VerifiedCheck, number>>
  /** Outputs that were not judged: they may lie below the end of the walk. */
  readonly openOutputs: number
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
  const { until } = request
  if (until === undefined) return new Walk(world, request).verify()
  const both = followSignals(world.signal, until)
  try {
    return await new Walk({ ...world, signal: both.signal }, request).verify()
  } finally {
    both.release()
  }
}

class Walk {
  readonly #world: RecoveryWorld
  readonly #request: VerifyRequest
  readonly #repo: VersionedRepo
  readonly #judge: HistoryJudge
  readonly #outputs: LostOutputs
  readonly #unfenced = new UnfencedPublishers()
  readonly #refuted = new Counted<VerifyFinding>()
  readonly #refutedOf = Object.fromEntries(Object.keys(VERIFIED_CHECKS).map((check) => [check, 0])) as Record<
    VerifiedCheck,
    number
  >
  readonly #foreign = new Counted<CommitRef>()
  #commits = 0
  #oldest: CommitRecord | undefined

  constructor(world: RecoveryWorld, request: VerifyRequest) {
    const { repository, rememberedMax = VERIFY_REMEMBERED_MAX } = request
    this.#world = world
    this.#request = request
    this.#repo = world.repoOf(repository)
    this.#judge = new HistoryJudge(rememberedMax)
    this.#outputs = new LostOutputs(world, request, {
      rememberedMax,
      onLost: (finding) => this.#refute(finding),
    })
  }

  async verify(): Promise<Verification> {
    const stopped = await this.#walk()
    return {
      ...{ holds: this.#refuted.count === 0, commits: this.#commits, stopped, oldest: this.#oldest?.ref },
      ...{ isWhole: stopped === 'beginning', unknownWorkflows: this.#outputs.unknownWorkflows },
      ...{ refuted: this.#refuted.first, refutedCount: this.#refuted.count, refutedOf: this.#refutedOf },
      ...{ openOutputs: this.#outputs.openCount, withoutFence: this.#unfenced.all },
      ...{ foreign: this.#foreign.first, foreignCount: this.#foreign.count },
    }
  }

  async #walk(): Promise<Verification['stopped']> {
    try {
      const { branch, since } = this.#request
      const stopAt = since === undefined ? undefined : await this.#resolve(since)
      // By its id: the branch may move meanwhile.
      const stopped = await this.#walkDown(await this.#resolve(branch), stopAt)
      await this.#outputs.end(this.#oldest)
      return stopped
    } catch (error) {
      const { until } = this.#request
      if (until === undefined || !isAborted(until)) throw error
      // Nothing that was looked at is not the same as nothing that was found.
      if (this.#commits === 0) throw this.#tooSlow(error)
      return 'time'
    }
  }

  async #walkDown(head: CommitRef, stopAt: CommitRef | undefined): Promise<Verification['stopped']> {
    const { signal } = this.#world
    const { limit, until } = this.#request
    for await (const commit of this.#repo.log(head, {
      firstParent: true,
      signal,
      ...(stopAt && { stopAt }),
    })) {
      if (commit.ref === stopAt) return 'since'
      if (this.#commits === limit) return 'limit'
      await this.#outputs.pass(commit)
      this.#pass(commit)
      // A page of commits is walked without a request that could end.
      if (until !== undefined && isAborted(until)) throw abortReason(until)
    }
    return 'beginning'
  }

  #pass(commit: CommitRecord): void {
    this.#commits += 1
    this.#oldest = commit
    for (const finding of this.#judge.judge(commit)) this.#refute(finding)
    this.#unfenced.note(commit)
    if (makerOf(commit) === 'other' && commit.parents.length > 0) this.#foreign.add(commit.ref)
  }

  #refute(finding: VerifyFinding): void {
    this.#refuted.add(finding)
    this.#refutedOf[finding.check] += 1
  }

  async #resolve(ref: string): Promise<CommitRef> {
    const { repository } = this.#request
    const found = await readNewest(this.#repo, ref as BranchName, { signal: this.#world.signal })
    if (found !== undefined) return found.ref
    throw new MissingError(
      'recovery/no-such-ref',
      `verify: repository "${repository}" has no branch, tag or commit ${JSON.stringify(ref)}`,
      { next: 'Name a branch, a tag or a whole commit id of the repository.' },
    )
  }

  #tooSlow(cause: unknown): UnavailableError {
    const { repository, branch } = this.#request
    return new UnavailableError(
      'recovery/too-slow',
      `verify ${repository}/${branch}: no commit could be judged in time`,
      { cause, next: `Run "perago verify ${repository} ${branch}", which has no time limit.` },
    )
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
