/**
 * The attempt fence as publication meets it. A publication cannot be asked for without one: there is no way to write a
 * branch that does not name an attempt and say how to read it afresh.
 */

import { abortReason } from '../base/clock.ts'
import {
  assertCurrentAttemptSnapshot,
  DEFAULT_ATTEMPT_POLICY,
  UnknownAttemptError,
  type AttemptPolicy,
} from '../fences/attempt-fence.ts'
import type { AttemptSnapshot, FreshAttempt } from '../fences/attempt-snapshot.ts'
import type { CallOptions } from './ports.ts'

export interface AttemptGuard {
  /** What was polled. */
  readonly attempt: AttemptSnapshot
  /** Reads the task and the status of its workflow as they are now; throws when that cannot be known. */
  readonly readFresh: (options: CallOptions) => Promise<FreshAttempt>
  readonly policy?: AttemptPolicy
}

/** Reads the attempt afresh and throws unless it is current. Not knowing stops just like being stale. */
export async function passAttemptFence(guard: AttemptGuard, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) throw abortReason(signal)
  const fresh = await readOrStop(guard, signal)
  assertCurrentAttemptSnapshot(guard.attempt, fresh, guard.policy ?? DEFAULT_ATTEMPT_POLICY)
}

async function readOrStop(guard: AttemptGuard, signal: AbortSignal | undefined): Promise<FreshAttempt> {
  try {
    return await guard.readFresh(signal === undefined ? {} : { signal })
  } catch (error) {
    if (signal?.aborted === true) throw abortReason(signal)
    throw new UnknownAttemptError(guard.attempt, error)
  }
}
