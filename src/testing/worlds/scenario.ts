/** What a simulated world is like, and what may go wrong in it. */

/** How often each of these may happen; each occurrence uses one up. */
export interface Budget {
  /** How often somebody is interrupted who could go on. */
  preemptions: number
  faults: number
  crashes: number
  timeouts: number
  foreign: number
  stalls: number
  rollbacks: number
  /** How often a lease is renewed, in time or too late. Without any, attempts have no lease. */
  renewals: number
}

export interface WorldScenario {
  readonly strength: 'soft' | 'hard'
  readonly steps: number
  readonly retriesMax: number
  readonly budget: Readonly<Budget>
  readonly replace?: 'any' | 'own'
  /** Whether a retry completes with what an earlier attempt of its task has published. */
  readonly onRetry?: 'adopt'
  /** An earlier attempt of the first step has published, and nobody knows of it. */
  readonly isAbandoned?: boolean
  /** The branch takes merges only. */
  readonly isProtected?: boolean
  /** The server does not evaluate the fence any more, and nobody has noticed. */
  readonly isFenceOff?: boolean
  /** The server takes no records of commits, so that a claim cannot be written; without the hard fence alone. */
  readonly isOlder?: boolean
  /** The fence came with the abandoned publication, and its input has none. */
  readonly isFenceYoung?: boolean
  readonly foreignPath?: 'same' | 'other'
  readonly ageMaxMs: number
  /** After a time-out the retry goes first, and the attempt that is over last. */
  readonly isRetryFirst?: boolean
}

export const NO_BUDGET: Budget = {
  ...{ preemptions: 0, faults: 0, crashes: 0, timeouts: 0, foreign: 0, stalls: 0, rollbacks: 0 },
  renewals: 0,
}
