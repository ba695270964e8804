/**
 * A write whose answer may get lost. Only what was surely not done is done again; otherwise the store is read first, and
 * the same batch is sent again where it has not arrived: its conditions let at most one of the two happen.
 */

import { systemClock, type Clock } from '../../base/clock.ts'
import { UnavailableError, errorKindOf } from '../../base/errors.ts'
import {
  WRITE_CONFLICTS_MAX,
  WRITE_RETRY_DELAY_MAX_MS,
  WRITE_RETRY_DELAY_MS,
  WRITE_TRIES_MAX,
} from '../limits.ts'
import { systemRandom, type Random } from '../../base/random.ts'
import type { CommitOutcome, Store, StoreBatch } from '../ports.ts'

export interface WritePace {
  readonly clock: Clock
  readonly random: Random
}

export const SYSTEM_PACE: WritePace = { clock: systemClock, random: systemRandom }

export interface GuardedWrite {
  readonly batch: StoreBatch
  /**
   * Reads whether this very batch has happened. `open`: it has not, and still may; then sending it again is right.
   * `no`: it has not and never will, because a condition of it cannot hold any more.
   */
  readonly hasHappened: () => Promise<'yes' | 'no' | 'open'>
}

/** `landed`: its answer was lost, and reading showed that it has happened; the revision is not known. */
export type WriteOutcome = CommitOutcome['committed'] | 'landed'

export interface WriteResult {
  readonly outcome: WriteOutcome
  readonly revision: number | undefined
}

/** Throws what the store threw when it does not answer for long: `unavailable`, or `uncertain` when the batch may have happened. */
export async function commitGuarded(
  store: Store,
  { batch, hasHappened }: GuardedWrite,
  pace: WritePace = SYSTEM_PACE,
): Promise<WriteResult> {
  let lost: unknown
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (lost !== undefined) {
        const answer = await hasHappened()
        if (answer === 'yes') return { outcome: 'landed', revision: undefined }
        if (answer === 'no') return { outcome: false, revision: undefined }
      }
      const outcome = await store.commit(batch)
      if (outcome.committed) return { outcome: true, revision: outcome.revision }
      // It failed its conditions, perhaps because an earlier sending of it had arrived after all.
      if (lost !== undefined && (await hasHappened()) === 'yes')
        return { outcome: 'landed', revision: undefined }
      return { outcome: false, revision: undefined }
    } catch (error) {
      const kind = errorKindOf(error)
      if (kind === 'uncertain') lost = error
      else if (kind !== 'unavailable') throw error
      // Once an answer was lost the whole stays uncertain, whatever the last look failed with.
      if (attempt >= WRITE_TRIES_MAX) throw lost ?? error
      await pace.clock.sleep(delayMs(attempt, pace.random))
    }
  }
}

/**
 * Runs `attempt` until it answers something else than `conflict`: somebody else's write was in its place. Between two tries
 * it waits a little, the longer the more often, so that many writers come to their turn.
 */
export async function settleConflicts<T>(
  doing: string,
  attempt: () => Promise<T | 'conflict'>,
  pace: WritePace = SYSTEM_PACE,
): Promise<T> {
  for (let conflicts = 0; conflicts < WRITE_CONFLICTS_MAX; conflicts += 1) {
    const answer = await attempt()
    if (answer !== 'conflict') return answer
    if (conflicts > 1) await pace.clock.sleep(pace.random.next() * Math.min(conflicts, 20))
  }
  throw new UnavailableError(
    'core/contended',
    `${doing}: others wrote there ${WRITE_CONFLICTS_MAX} times meanwhile`,
    { next: 'Try again; if it stays so, let fewer writers work on one execution.' },
  )
}

function delayMs(attempt: number, random: Random): number {
  const full = Math.min(WRITE_RETRY_DELAY_MS * 2 ** (attempt - 1), WRITE_RETRY_DELAY_MAX_MS)
  return full * (0.5 + random.next() / 2)
}
