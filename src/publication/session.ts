/** What the steps of one publication or relocation share. */

import { systemClock, type Clock } from '../base/clock.ts'
import { errorKindOf } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import { systemRandom, type Random } from '../base/random.ts'
import { retry } from '../base/retry.ts'
import { createStepRecorder, type StepRecorder } from '../base/steps.ts'
import { confirmAuthority, requireAuthority, type Authority } from './authority.ts'
import { PUBLICATION_REPEATS_MAX } from './limits.ts'
import type { CallOptions, CommitRecord, VersionedRepo } from './ports.ts'
import type { HardFences } from './hard-fences.ts'
import { SoftStrategy } from './soft-strategy.ts'
import type { PublicationObserver, PublicationStep } from './steps.ts'
import type { PublishStrategy } from './strategy.ts'

export interface SessionOptions {
  readonly repo: VersionedRepo
  readonly authority: Authority
  /** Soft unless set. */
  readonly strategy?: PublishStrategy | undefined
  /** Where they are installed, branches are written with hard fences; without this, never. */
  readonly fences?: HardFences | undefined
  /** Told of each step when it ends; what it throws is ignored. Default: nobody is told. */
  readonly observer?: PublicationObserver | undefined
  /** Measures the steps and the waits between tries. Default: the machine's clock. */
  readonly clock?: Clock | undefined
  /** For the waits between tries. Default: the operating system's randomness. */
  readonly random?: Random | undefined
  readonly signal?: AbortSignal | undefined
}

export interface Session {
  readonly repo: VersionedRepo
  readonly authority: Authority
  readonly strategy: PublishStrategy
  readonly fences: HardFences | undefined
  readonly steps: StepRecorder<PublicationStep>
  readonly clock: Clock
  readonly random: Random
  /** The caller's signal, as calls take it. */
  readonly call: CallOptions
  /**
   * For reads, and for writes that may be done twice without harm: repeats the operation when its response is lost. What
   * was surely not done the repository's own client has tried again already. The caller's signal unless another is given.
   */
  readonly repeat: <T>(operation: (call: CallOptions) => Promise<T>, signal?: AbortSignal) => Promise<T>
}

/** A head that left the branch's history. Its tag keeps it reachable. */
export interface Move {
  readonly action: 'replaced' | 'relocated'
  readonly supersededRef: CommitRef
  readonly evidenceTag: string
}

export function openSession(options: SessionOptions): Session {
  const { repo, authority, observer, clock = systemClock, random = systemRandom, signal } = options
  requireAuthority(authority)
  return {
    repo,
    authority,
    strategy: options.strategy ?? new SoftStrategy(repo, clock),
    fences: options.fences,
    steps: createStepRecorder({ clock, observer, signal }),
    clock,
    random,
    call: { signal },
    repeat: (operation, own = signal) =>
      retry(() => operation({ signal: own }), {
        policy: { maxAttempts: PUBLICATION_REPEATS_MAX },
        shouldRetry: (error) => errorKindOf(error) === 'uncertain',
        ...{ clock, random, signal: own },
      }),
  }
}

/** With the strategy for a write that relies on one of these trees. Throws where a fence is required and cannot be had. */
export async function withFence<Of extends Session>(
  session: Of,
  write: { readonly branch: BranchName; readonly trees: readonly CommitRef[] },
): Promise<Of> {
  const { repo, repeat, fences } = session
  const strategy = await fences?.choose({ repo, repeat, ...write })
  return strategy === undefined ? session : { ...session, strategy }
}

/** An actor has no attempt, so there is nothing to read and no step to report. */
export async function checkAuthority(
  { authority, steps, call }: Session,
  position: 'before-staging' | 'before-relocation' | 'before-publishing' | 'before-adopting',
): Promise<void> {
  const confirm = (): Promise<void> => confirmAuthority(authority, call)
  if (authority.kind === 'actor') await confirm()
  else await steps.run('attempt-fence', confirm, () => ({ position }))
}

/** `undefined`: there is no such branch. */
export function readHead(
  session: Session,
  branch: BranchName,
  options?: CallOptions,
): Promise<CommitRecord | undefined> {
  const { steps, strategy, repeat } = session
  return steps.run(
    'read-facts',
    () => repeat((call) => strategy.readHead(branch, { ...options, ...call })),
    (head) => ({ head: head?.ref, headFirstParent: head?.parents[0] }),
  )
}
