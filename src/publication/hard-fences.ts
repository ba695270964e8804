/**
 * What a process knows of hard fences: in which commits the file is, and whether the server evaluates it. One for each
 * client; shared by all its publications.
 */

import { unlessAborted } from '../base/abort-signals.ts'
import type { Clock } from '../base/clock.ts'
import { RefusedError } from '../base/errors.ts'
import type { BranchName, CommitRef, RepositoryName } from '../base/ids.ts'
import { silentLogger, type Logger } from '../base/logger.ts'
import { sendCanary } from './fence-canary.ts'
import { readFence, type FenceReading } from './fence-reading.ts'
import { fenceMissing, HardStrategy } from './hard-strategy.ts'
import { FENCE_ABSENCE_MS, FENCE_ABSENCES_MAX } from './limits.ts'
import type { CallOptions, VersionedRepo } from './ports.ts'
import type { PublishStrategy } from './strategy.ts'

export const FENCE_POLICIES = ['required', 'preferred', 'off'] as const
/** `preferred`: hard where the file is installed, and required there. `required`: refuses without the file. */
export type FencePolicy = (typeof FENCE_POLICIES)[number]

export interface HardFencesOptions {
  /** `preferred` unless set. */
  readonly policy?: FencePolicy | undefined
  /** Dates commits, and measures how long a branch is remembered to have no fence file. */
  readonly clock: Clock
  /** Told whether lakeFS evaluates the fence; silent unless given. */
  readonly logger?: Logger | undefined
}

export interface FencedWrite {
  readonly repo: VersionedRepo
  readonly branch: BranchName
  /** The commits on whose trees the write relies; the first that has the file counts. */
  readonly trees: readonly CommitRef[]
  /** Has a signal of its own, and repeats what was lost. */
  readonly repeat: <T>(operation: (call: CallOptions) => Promise<T>) => Promise<T>
}

export interface HardFences {
  readonly policy: FencePolicy
  /** `undefined`: the write is soft. Throws where a fence is required and cannot be relied on. */
  choose(write: FencedWrite): Promise<PublishStrategy | undefined>
  /** After a lost connection: the server that comes back may have other settings. */
  forget(): void
}

/**
 * ```ts
 * const fences = openHardFences({ policy: 'required', clock: systemClock })
 * ```
 */
export function openHardFences(options: HardFencesOptions): HardFences {
  return new Fences(options)
}

class Fences implements HardFences {
  readonly policy: FencePolicy
  readonly #clock: Clock
  readonly #logger: Logger
  /** By repository and branch: until when it is taken to have no file. */
  readonly #absentUntilMs = new Map<string, number>()
  readonly #canaries = new Map<RepositoryName, Promise<boolean>>()

  constructor({ policy = 'preferred', clock, logger = silentLogger }: HardFencesOptions) {
    this.policy = policy
    this.#clock = clock
    this.#logger = logger
  }

  async choose(write: FencedWrite): Promise<PublishStrategy | undefined> {
    const { repo, branch, trees, repeat } = write
    if (this.policy === 'off') return undefined
    const place = `${repo.repository}/${branch}`
    const absentUntilMs = this.#absentUntilMs.get(place) ?? 0
    if (this.policy === 'preferred' && absentUntilMs > this.#clock.monotonicMs()) return undefined
    for (const ref of trees) {
      const found = await repeat((call) => readFence(repo, ref, call))
      if (found === 'absent') continue
      if (found === 'other') throw fenceDamaged(branch, ref)
      await this.#requireEvaluated(write, ref)
      return this.#hard(repo)
    }
    const [first] = trees
    if (this.policy === 'required' && first !== undefined) throw fenceMissing(branch, first)
    this.#noteAbsent(place)
    return undefined
  }

  forget(): void {
    this.#canaries.clear()
  }

  #hard(repo: VersionedRepo): HardStrategy {
    return new HardStrategy({
      repo,
      clock: this.#clock,
      hasFence: async (ref, call): Promise<boolean> =>
        (await readFence(repo, ref, call)) === ('present' satisfies FenceReading),
      onNotHeld: () => {
        this.#canaries.delete(repo.repository)
        this.#logger.error('lakeFS did not evaluate the publish fence', { repository: repo.repository })
      },
    })
  }

  async #requireEvaluated({ repo, branch, repeat }: FencedWrite, at: CommitRef): Promise<void> {
    if (await repeat((call) => unlessAborted(this.#canaryOf(repo, at), call.signal))) return
    this.#canaries.delete(repo.repository)
    throw fenceOff(branch)
  }

  /** One for all that wait. Neither a failure nor an error is remembered. */
  #canaryOf(repo: VersionedRepo, at: CommitRef): Promise<boolean> {
    const { repository } = repo
    const known = this.#canaries.get(repository)
    if (known !== undefined) return known
    const canary = sendCanary(repo, { at, clock: this.#clock })
    this.#canaries.set(repository, canary)
    canary.then(
      (isEvaluated) =>
        isEvaluated
          ? this.#logger.info('lakeFS evaluates the publish fence', { repository })
          : this.#logger.error('lakeFS does not evaluate the publish fence', { repository }),
      () => this.#canaries.get(repository) === canary && this.#canaries.delete(repository),
    )
    return canary
  }

  #noteAbsent(place: string): void {
    this.#absentUntilMs.delete(place)
    this.#absentUntilMs.set(place, this.#clock.monotonicMs() + FENCE_ABSENCE_MS)
    const [oldest] = this.#absentUntilMs.keys()
    if (this.#absentUntilMs.size > FENCE_ABSENCES_MAX && oldest !== undefined)
      this.#absentUntilMs.delete(oldest)
  }
}

function fenceDamaged(branch: BranchName, ref: CommitRef): RefusedError {
  return new RefusedError(
    'publication/fence-damaged',
    `write branch "${branch}": the file of the hard fence in ${ref} is not the one that perago installs`,
    { details: { branch, ref }, next: 'Restore the file with "perago fence install", or remove it.' },
  )
}

function fenceOff(branch: BranchName): RefusedError {
  return new RefusedError(
    'publication/fence-off',
    `write branch "${branch}": the hard fence is installed, but lakeFS does not evaluate it`,
    {
      details: { branch },
      next: 'Set actions.enabled in the configuration of the lakeFS server; or remove the fence with "perago fence remove".',
    },
  )
}
