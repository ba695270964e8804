/** The circuit breakers of all targets. */

import { SCHEDULING_NAMES_MAX } from '../limits.ts'
import {
  afterEnd,
  afterHandOut,
  allows,
  CLOSED,
  type AttemptEnd,
  type BreakerOptions,
  type BreakerState,
} from './breaker.ts'

/** By target; a target without a state is closed. Plain JSON, for a host to keep. */
export type BreakerStates = Readonly<Record<string, BreakerState>>

export class Breakers {
  readonly #options: BreakerOptions | undefined
  /** Of targets that failed since they last succeeded. */
  readonly #states = new Map<string, BreakerState>()

  constructor(options: BreakerOptions | undefined, states: BreakerStates = {}) {
    this.#options = options
    for (const [target, state] of Object.entries(states)) this.#set(target, state)
  }

  allows(target: string | undefined, nowMs: number): boolean {
    return this.#options === undefined || target === undefined || allows(this.#stateOf(target), nowMs)
  }

  noteHandOut(target: string | undefined, attempt: string): void {
    if (this.#options === undefined || target === undefined) return
    this.#set(target, afterHandOut(this.#stateOf(target), attempt))
  }

  noteEnd(
    target: string | undefined,
    attempt: { readonly id: string; readonly end: AttemptEnd; readonly nowMs: number },
  ): void {
    if (this.#options === undefined || target === undefined) return
    this.#set(target, afterEnd(this.#stateOf(target), attempt, this.#options))
  }

  states(): BreakerStates {
    return Object.fromEntries(this.#states)
  }

  #stateOf(target: string): BreakerState {
    return this.#states.get(target) ?? CLOSED
  }

  #set(target: string, state: BreakerState): void {
    this.#states.delete(target)
    if (state.is === 'closed' && state.failures === 0) return
    this.#states.set(target, state)
    // Of too many, the one that changed the longest ago.
    const [oldest] = this.#states.keys()
    if (this.#states.size > SCHEDULING_NAMES_MAX && oldest !== undefined) this.#states.delete(oldest)
  }
}
