/**
 * A branch write, and what follows from each of its outcomes. It is sent once. Whatever did not certainly succeed goes back
 * to the facts: they are read and judged again, after a wait, a bounded number of times.
 */

import { abortReason } from '../base/clock.ts'
import { errorKindOf, invariant, UncertainError } from '../base/errors.ts'
import type { BranchName } from '../base/ids.ts'
import { DEFAULT_RETRY_POLICY, retryDelay } from '../base/retry.ts'
import { outcomeOf } from '../base/steps.ts'
import { UnknownAttemptError } from '../fences/attempt-fence.ts'
import { PUBLICATION_BUSY_MS, PUBLICATION_BUSY_TURNS_MAX, PUBLICATION_TURNS_MAX } from './limits.ts'
import { checkAuthority, type Move, type Session } from './session.ts'
import type { BranchWrite, GuardedOptions } from './strategy.ts'
import { openWriteGuard } from './write-guard.ts'

export async function writeBranch(
  session: Session,
  of: Parameters<typeof openWriteGuard>[1] & {
    readonly step: 'merge' | 'replace' | 'relocate'
    readonly move?: Move
  },
  write: (options: GuardedOptions) => Promise<BranchWrite>,
): Promise<BranchWrite> {
  const { clock, steps, call } = session
  if (call.signal?.aborted === true) throw abortReason(call.signal)
  const guard = openWriteGuard(session, of)
  const startMs = clock.monotonicMs()
  try {
    const outcome = await write({ ...call, guard })
    invariant(
      !outcome.written || guard.figures !== undefined,
      'a repository writes a branch on the word of its guard',
    )
    const details = { ...outcome, ...guard.figures }
    if (!guard.isStopped) steps.report(of.step, { durationMs: clock.monotonicMs() - startMs, details })
    return outcome
  } catch (error) {
    const durationMs = clock.monotonicMs() - startMs
    const failed = { durationMs, outcome: outcomeOf(error), details: { ...guard.figures }, error }
    // What could not be read the repository's own client has asked for again already.
    if (guard.isStopped) throw error
    steps.report(of.step, failed)
    return throwUnsettled(error, of.move)
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

/** Surely nothing was written: the branch is busy, the server is away, or nothing was sent. Caught like `LostWrite`. */
class WriteNotDone extends Error {
  declare readonly cause: unknown

  constructor(cause: unknown) {
    super('a branch was not written', { cause })
  }
}

function throwUnsettled(error: unknown, move: Move | undefined): never {
  const kind = errorKindOf(error)
  if (kind === 'uncertain') throw new LostWrite(move, { cause: error })
  throw kind === 'unavailable' ? new WriteNotDone(error) : error
}

/**
 * Runs `turn` until it gives a result: again after each lost response or moved head (`undefined`), a few times, and as long
 * as nothing is written because the branch is busy or the server away, for a while.
 */
export async function untilSettled<T>(
  session: Session,
  branch: BranchName,
  turn: (lost: LostWrite | undefined) => Promise<T | undefined>,
): Promise<T> {
  const { clock, random, call } = session
  const startMs = clock.monotonicMs()
  const turns = { unclear: 0, notDone: 0 }
  let lost: LostWrite | undefined
  for (;;) {
    let cause: unknown
    try {
      if (lost !== undefined) await checkAuthority(session, 'before-publishing')
      const result = await turn(lost)
      if (result !== undefined) return result
      turns.unclear += 1
    } catch (error) {
      if (error instanceof LostWrite) {
        lost = error
        cause = error.cause
        turns.unclear += 1
      } else if (error instanceof WriteNotDone) {
        cause = error.cause
        turns.notDone += 1
      } else {
        // "Surely not done" is true of a reading alone, when it is not known what was written before.
        const isOpen = lost !== undefined && errorKindOf(error) === 'unavailable'
        throw isOpen && !(error instanceof UnknownAttemptError) ? unsettled(branch, turns, error) : error
      }
    }
    if (turns.unclear >= PUBLICATION_TURNS_MAX) throw unsettled(branch, turns, cause)
    const attempt = turns.unclear + turns.notDone
    const delayMs = retryDelay({ attempt, error: cause, policy: DEFAULT_RETRY_POLICY, random })
    const isTooLate = clock.monotonicMs() - startMs + delayMs > PUBLICATION_BUSY_MS
    if (isTooLate || turns.notDone >= PUBLICATION_BUSY_TURNS_MAX) {
      // "Surely not done" is true of the last turn alone.
      if (lost === undefined && cause instanceof Error) throw cause
      throw unsettled(branch, turns, cause)
    }
    await clock.sleep(delayMs, call.signal)
  }
}

function unsettled(
  branch: BranchName,
  { unclear, notDone }: { readonly unclear: number; readonly notDone: number },
  cause: unknown,
): UncertainError {
  return new UncertainError(
    'publication/unsettled',
    `publish on branch "${branch}": the branch was judged ${unclear + notDone} times and no outcome could be confirmed`,
    {
      details: { branch },
      read: `the log of branch "${branch}"`,
      next: 'See that lakeFS answers and that nobody else writes the branch; the next attempt starts from the facts.',
      cause,
    },
  )
}
