/** What the steps of one publication or relocation share, and the parts that every branch write is made of. */

import { systemClock, type Clock } from '../base/clock.ts'
import { errorKindOf, UncertainError } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import type { Random } from '../base/random.ts'
import { retry } from '../base/retry.ts'
import { createStepRecorder, type StepRecorder } from '../base/steps.ts'
import { confirmAuthority, requireAuthority, type Authority } from './authority.ts'
import { PUBLICATION_REPEATS_MAX, PUBLICATION_TURNS_MAX } from './limits.ts'
import type { CallOptions, CommitRecord, VersionedRepo } from './ports.ts'
import { SoftStrategy } from './soft-strategy.ts'
import type { PublicationObserver, PublicationStep } from './steps.ts'
import type { BranchWrite, PublishStrategy } from './strategy.ts'

export interface SessionOptions {
  readonly repo: VersionedRepo
  readonly authority: Authority
  /** Soft unless set. */
  readonly strategy?: PublishStrategy | undefined
  readonly observer?: PublicationObserver | undefined
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
  readonly signal?: AbortSignal | undefined
}

export interface Session {
  readonly repo: VersionedRepo
  readonly authority: Authority
  readonly strategy: PublishStrategy
  readonly steps: StepRecorder<PublicationStep>
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
  const { repo, authority, observer, clock = systemClock, random, signal } = options
  requireAuthority(authority)
  return {
    repo,
    authority,
    strategy: options.strategy ?? new SoftStrategy(repo),
    steps: createStepRecorder({ clock, observer, signal }),
    call: { signal },
    repeat: (operation, own = signal) =>
      retry(() => operation({ signal: own }), {
        policy: { maxAttempts: PUBLICATION_REPEATS_MAX },
        shouldRetry: (error) => errorKindOf(error) === 'uncertain',
        ...{ clock, random, signal: own },
      }),
  }
}

/** An actor has no attempt, so there is nothing to read and no step to report. */
export async function checkAuthority(
  { authority, steps, call }: Session,
  position: 'before-staging' | 'before-relocation' | 'before-publishing',
): Promise<void> {
  const confirm = (): Promise<void> => confirmAuthority(authority, call)
  if (authority.kind === 'actor') await confirm()
  else await steps.run('attempt-fence', confirm, () => ({ position }))
}

/** `undefined`: there is no such branch. */
export function readHead(session: Session, branch: BranchName): Promise<CommitRecord | undefined> {
  const { steps, strategy, repeat } = session
  return steps.run(
    'read-facts',
    () => repeat((call) => strategy.readHead(branch, call)),
    (head) => ({ head: head?.ref, headFirstParent: head?.parents[0] }),
  )
}

export async function writeBranch(
  { steps }: Session,
  step: 'merge' | 'replace' | 'relocate',
  write: () => Promise<BranchWrite>,
  move?: Move,
): Promise<BranchWrite> {
  try {
    return await steps.run(step, write, (outcome) => ({ ...outcome }))
  } catch (error) {
    // A write made of several requests can be "surely not done" in its last one only; if nothing can be done at all,
    // reading the facts will say so.
    const kind = errorKindOf(error)
    if (kind === 'uncertain' || kind === 'unavailable') throw new LostWrite(move, { cause: error })
    throw error
  }
}

/** It is not known what a branch write did. Caught by `untilSettled`, which has the branch read again. */
export class LostWrite extends Error {
  readonly move: Move | undefined

  constructor(move: Move | undefined, options?: ErrorOptions) {
    super('it is not known what a branch write did', options)
    this.move = move
  }
}

/** Runs `turn` again after each lost response or moved head (`undefined`), a bounded number of times. */
export async function untilSettled<T>(
  session: Session,
  branch: BranchName,
  turn: (lost: LostWrite | undefined) => Promise<T | undefined>,
): Promise<T> {
  let lost: LostWrite | undefined
  for (let count = 1; count <= PUBLICATION_TURNS_MAX; count++) {
    if (count > 1) await checkAuthority(session, 'before-publishing')
    try {
      const result = await turn(lost)
      if (result !== undefined) return result
    } catch (error) {
      // Every other failure ends the work.
      if (!(error instanceof LostWrite)) throw error
      lost = error
    }
  }
  throw new UncertainError(
    'publication/unsettled',
    `publish on branch "${branch}": the branch was judged ${PUBLICATION_TURNS_MAX} times and no outcome could be confirmed`,
    {
      details: { branch },
      read: `the log of branch "${branch}"`,
      next: 'See that lakeFS answers and that nobody else writes the branch; the next attempt starts from the facts.',
    },
  )
}
