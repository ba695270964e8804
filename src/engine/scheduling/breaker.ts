/**
 * A circuit breaker: after failures in a row a target's tasks are held back; later one of them is tried, and its end decides.
 * Plain data, so that a host can store it.
 */

export type BreakerState =
  | { readonly is: 'closed'; readonly failures: number }
  | { readonly is: 'open'; readonly untilMs: number; readonly openings: number }
  /** `probe`: the attempt that is tried. */
  | { readonly is: 'half-open'; readonly probe: string; readonly openings: number }

export interface BreakerOptions {
  /** In a row. */
  readonly failures: number
  /** How long tasks are held back before one is tried; doubles each time that one fails. 30 s in the embedded engine. */
  readonly openMs: number
  /** Longest time that tasks are held back before one is tried. 10 min in the embedded engine. */
  readonly openMaxMs: number
}

export const CLOSED: BreakerState = { is: 'closed', failures: 0 }

/** Whether a task of this target may be handed out now. */
export function allows(state: BreakerState, nowMs: number): boolean {
  switch (state.is) {
    case 'closed':
      return true
    case 'open':
      return state.untilMs <= nowMs
    case 'half-open':
      return false
  }
}

/** The state after this attempt was handed out: of an open breaker whose time is over, it is the probe. */
export function afterHandOut(state: BreakerState, attempt: string): BreakerState {
  return state.is === 'open' ? { is: 'half-open', probe: attempt, openings: state.openings } : state
}

/** `unknown`: the attempt ended without showing anything about the target, for example because it was cancelled. */
export type AttemptEnd = 'success' | 'failure' | 'unknown'

export function afterEnd(
  state: BreakerState,
  attempt: { readonly id: string; readonly end: AttemptEnd; readonly nowMs: number },
  options: BreakerOptions,
): BreakerState {
  const { id, end, nowMs } = attempt
  switch (state.is) {
    case 'closed': {
      if (end === 'unknown') return state
      if (end === 'success') return CLOSED
      const failures = state.failures + 1
      return failures < options.failures ? { is: 'closed', failures } : open(0, nowMs, options)
    }
    case 'open':
      // It was handed out before the target failed: the probe decides.
      return state
    case 'half-open':
      if (id !== state.probe) return state
      if (end === 'success') return CLOSED
      // Nothing was learnt: the next task is the probe.
      if (end === 'unknown') return { is: 'open', untilMs: nowMs, openings: state.openings }
      return open(state.openings, nowMs, options)
  }
}

function open(openings: number, nowMs: number, { openMs, openMaxMs }: BreakerOptions): BreakerState {
  return { is: 'open', untilMs: nowMs + Math.min(openMaxMs, openMs * 2 ** openings), openings: openings + 1 }
}
