/** What can be chosen about scheduling. */

import { DEFAULT_POOL, type ResourcePool } from '../graph/resources.ts'
import {
  AGE_AFTER_MS,
  BALANCE_WAIT_MS,
  BREAKER_FAILURES,
  BREAKER_OPEN_MAX_MS,
  BREAKER_OPEN_MS,
  CONCURRENT_TASKS_MAX,
  CONCURRENT_TASKS_PER_PHASE_MAX,
  EXECUTOR_ALIVE_MS,
  OVERTAKES_MAX,
} from '../limits.ts'
import type { BreakerOptions } from './breaker.ts'

export const STRATEGIES = ['plain', 'priority', 'fair'] as const
export const BALANCING = [
  'none',
  'round-robin',
  'least-connections',
  'weighted',
  'consistent-hashing',
] as const

export interface SchedulingOptions {
  /**
   * Which task goes first. `plain`, as in Conductor: priority of the execution, then the one due earlier. `priority`: critical
   * ones, then the priority of execution and unit together, then the risk. `fair`: the execution that has fewest tasks running,
   * and inside it as `priority`.
   */
  readonly strategy: (typeof STRATEGIES)[number]
  /** Higher risk first shows failures early. */
  readonly riskFirst: 'higher' | 'lower'
  /** A task that has waited this long goes in turn with more urgent ones. `Infinity`: never. */
  readonly ageAfterMs: number
  /** So often tasks that became due later go before the one due longest; then it goes. `Infinity`: no bound. */
  readonly overtakesMax: number
  /** Tasks that run at once. */
  readonly concurrentTasksMax: number
  /** Tasks of one phase of an execution that run at once. */
  readonly concurrentPerPhaseMax: number
  /** `undefined`: demands are not counted. */
  readonly pool: ResourcePool | undefined
  /** The share of the pool that only critical units may use follows what they will demand next, between these two. */
  readonly criticalShare: { readonly min: number; readonly max: number }
  /** Tasks that one poll may get. */
  readonly batchMax: number
  /** Which worker gets a task. `none`: the one that polls first. */
  readonly balancing: (typeof BALANCING)[number]
  /** Longest time that a task is left for another worker. */
  readonly balanceWaitMs: number
  /** No task is left for a worker that runs nothing and has not polled for this long. 10 s unless given. */
  readonly executorAliveMs: number
  /** For `weighted`, by worker; 1 where none is given. */
  readonly weights: Readonly<Record<string, number>>
  /** For tasks with a target. `undefined`: none. */
  readonly breaker: BreakerOptions | undefined
}

/** Conductor's rule and no limits: what applies where nothing is configured. */
export const PLAIN_SCHEDULING: SchedulingOptions = {
  strategy: 'plain',
  riskFirst: 'higher',
  ageAfterMs: Infinity,
  overtakesMax: Infinity,
  concurrentTasksMax: Infinity,
  concurrentPerPhaseMax: Infinity,
  pool: undefined,
  criticalShare: { min: 0, max: 0 },
  batchMax: Infinity,
  balancing: 'none',
  balanceWaitMs: BALANCE_WAIT_MS,
  executorAliveMs: EXECUTOR_ALIVE_MS,
  weights: {},
  breaker: undefined,
}

/** That of the embedded engine: every limit of the reference page. */
export const ENGINE_SCHEDULING: SchedulingOptions = {
  ...PLAIN_SCHEDULING,
  strategy: 'priority',
  ageAfterMs: AGE_AFTER_MS,
  overtakesMax: OVERTAKES_MAX,
  concurrentTasksMax: CONCURRENT_TASKS_MAX,
  concurrentPerPhaseMax: CONCURRENT_TASKS_PER_PHASE_MAX,
  pool: DEFAULT_POOL,
  criticalShare: { min: 0, max: 0.5 },
  balancing: 'consistent-hashing',
  breaker: { failures: BREAKER_FAILURES, openMs: BREAKER_OPEN_MS, openMaxMs: BREAKER_OPEN_MAX_MS },
}
