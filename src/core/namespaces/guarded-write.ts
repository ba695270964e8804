/**
 * A write whose response may get lost. It is repeated at once only if it was certainly not done. Otherwise the store is read
 * first, and the same batch is sent again if it has not happened: its conditions allow at most one of the two.
 */

import type { Clock } from '../../base/clock.ts'
import { UnavailableError, errorKindOf } from '../../base/errors.ts'
import {
  WRITE_CONFLICTS_MAX,
  WRITE_RETRY_DELAY_MAX_MS,
  WRITE_RETRY_DELAY_MS,
  WRITE_TRIES_MAX,
} from '../limits.ts'
import type { Random } from '../../base/random.ts'
import type { Store, StoreBatch } from '../ports.ts'

export interface WritePace {
  readonly clock: Clock
  readonly random: Random
}

export interface GuardedWrite {
  readonly batch: StoreBatch
  /**
   * Reads whether this batch has happened. `open`: it has not, but still may; it can be sent again. `no`: it has not and
   * never will, because one of its conditions cannot hold any more.
   */
  readonly hasHappened: () => Promise<'yes' | 'no' | 'open'>
}

export interface WriteResult {
  readonly committed: boolean
  /** Unknown where the response was lost, and a read showed that the batch has happened. */
  readonly revision: number | undefined
  /** Keys whose conditions did not hold; none where only a read showed that the batch has not happened. */
  readonly unmet?: readonly string[]
}

/** After too many tries throws the store's error: `unavailable`, or `uncertain` where the batch may have happened. */
export async function commitGuarded(
  store: Store,
  { batch, hasHappened }: GuardedWrite,
  pace: WritePace,
): Promise<WriteResult> {
  let lost: unknown
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (lost !== undefined) {
        const answer = await hasHappened()
        if (answer !== 'open') return { committed: answer === 'yes', revision: undefined }
      }
      const outcome = await store.commit(batch)
      if (outcome.committed) return outcome
      // The conditions may have failed because an earlier try of the same batch has happened.
      const committed = lost !== undefined && (await hasHappened()) === 'yes'
      return { committed, revision: undefined, unmet: outcome.unmet.map(({ key }) => key) }
    } catch (error) {
      const kind = errorKindOf(error)
      if (kind === 'uncertain') lost = error
      else if (kind !== 'unavailable') throw error
      // After a lost response the outcome stays uncertain, whatever the last error was.
      if (attempt >= WRITE_TRIES_MAX) throw lost ?? error
      await pace.clock.sleep(delayMs(attempt, pace.random))
    }
  }
}

/**
 * Repeats `attempt` while it returns `conflict`: another writer was faster. Waits between two tries, longer with each, so
 * that many writers make progress.
 */
export async function settleConflicts<T>(
  doing: string,
  attempt: () => Promise<T | 'conflict'>,
  pace: WritePace,
): Promise<T> {
  for (let conflicts = 0; conflicts < WRITE_CONFLICTS_MAX; conflicts += 1) {
    const answer = await attempt()
    if (answer !== 'conflict') return answer
    if (conflicts > 1) await pace.clock.sleep(pace.random.next() * Math.min(conflicts, 20))
  }
  throw new UnavailableError(
    'core/contended',
    `${doing}: ${WRITE_CONFLICTS_MAX} tries met writes of others`,
    { next: 'Try again. If it happens often, use fewer writers per execution.' },
  )
}

function delayMs(attempt: number, random: Random): number {
  const full = Math.min(WRITE_RETRY_DELAY_MS * 2 ** (attempt - 1), WRITE_RETRY_DELAY_MAX_MS)
  return full * (0.5 + random.next() / 2)
}
