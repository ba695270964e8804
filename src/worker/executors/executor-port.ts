/**
 * An executor: anything that takes a unit and answers, such as a quantum backend, a federation of sites, or a cluster in
 * another cloud. It implements this interface; polling, leases, hand-backs and results are the work of the pool.
 */

import type { JsonObject } from '../../base/json.ts'
import type { AttemptInfo } from '../../tasks/task-definition.ts'

export interface ExecutorUnit {
  /** The task type, one of the executor's own. */
  readonly type: string
  readonly input: JsonObject
  /** Which attempt at which unit. A later attempt has another task id and a higher retry count, and the same reference name. */
  readonly attempt: AttemptInfo
}

export interface ExecutorCall {
  /**
   * Aborted when the answer will not count any more: the attempt was lost, or the executor has to stop. The executor should then
   * stop what it began; it is not waited for longer than `EXECUTOR_ABORT_GRACE_MS`.
   */
  readonly signal: AbortSignal
  /** Adds a line to the log of the task. */
  readonly log: (line: string) => void
}

/**
 * ```ts
 * const annealer: Executor = {
 *   name: 'annealer',
 *   types: ['quantum.solve'],
 *   capacity: 2,
 *   run: async ({ input }, { signal }) => ({ solution: await backend.solve(input, { signal }) }),
 * }
 * ```
 */
export interface Executor {
  /** Unique in its pool. Letters, digits, `_`, `.` and `-`. */
  readonly name: string
  /** The task types of the units that it takes. */
  readonly types: readonly string[]
  /** Units that it runs at the same time. */
  readonly capacity: number
  /** Takes only units of this domain. Default: only units without one. */
  readonly domain?: string
  /** For people, such as `{ cloud: 'north', gpu: 'a100' }`. */
  readonly labels?: Readonly<Record<string, string>>
  /**
   * Resolves with the output of the unit. An error fails the attempt, which is tried again as the task's definition says;
   * `TerminalError`: never; `ExecutorLostError`: the executor is gone, and the unit is given back without using up a retry.
   */
  run(unit: ExecutorUnit, call: ExecutorCall): Promise<JsonObject>
  /** Resolves while the executor can run units; rejects with the reason otherwise. Called again and again. */
  examine?(call: { readonly signal: AbortSignal }): Promise<void>
}

export interface ExecutorHealth {
  readonly is: 'up' | 'down'
  /** Of `down`. */
  readonly why?: string
  readonly since: string
}

/** What is known of an executor now. */
export interface ExecutorStatus extends Pick<Executor, 'name' | 'types' | 'capacity' | 'domain'> {
  readonly labels: Readonly<Record<string, string>>
  readonly health: ExecutorHealth
  /** `stopping`: it gets no more units. */
  readonly state: 'running' | 'stopping'
  readonly running: readonly RunningUnit[]
  /** Since it was registered. */
  readonly ended: Readonly<Record<'completed' | 'failed' | 'givenBack' | 'superseded', number>>
}

export interface RunningUnit extends AttemptInfo {
  readonly since: string
}
