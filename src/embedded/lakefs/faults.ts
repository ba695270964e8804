/**
 * Faults on purpose, for tests of whoever talks to the embedded server: which requests are answered wrongly, late,
 * half or not at all. Random choices come from a seed that can be given again.
 */

import type { OperationName } from './http/operations.ts'

export type Fault =
  /** The connection drops before anything was done. */
  | { readonly kind: 'lose-before' }
  /** Everything is done, then the connection drops: the client cannot know. */
  | { readonly kind: 'lose-after' }
  | { readonly kind: 'delay'; readonly delayMs: number }
  /** Nothing is done; the status is answered. */
  | {
      readonly kind: 'answer'
      readonly status: 429 | 500 | 503
      readonly retryAfterSeconds?: number
      readonly message?: string
    }
  /** Downloads only: the connection drops after this share (0 to 1) of the body. */
  | { readonly kind: 'cut-body'; readonly share: number }
  /** Downloads only: one byte comes out wrong. */
  | { readonly kind: 'corrupt-body'; readonly byte?: number }

/** One request as the server saw it. */
export interface SeenRequest {
  readonly operation: OperationName | 'unknown'
  readonly method: string
  /** Path and query, as sent; signatures left out. */
  readonly path: string
  /** 0 when no answer was sent. */
  readonly status: number
  readonly fault?: Fault
}

export interface FaultRule {
  /** Left out: every operation. */
  readonly operation?: OperationName | readonly OperationName[]
  /** Further condition on the request. */
  readonly when?: (request: {
    readonly operation: OperationName
    readonly method: string
    readonly path: string
  }) => boolean
  /** Let this many matching requests pass first. */
  readonly skip?: number
  /** Strike this often, then never again; left out: always. */
  readonly times?: number
  /** 0 to 1, decided by the plan's own seeded generator; left out: 1. */
  readonly probability?: number
  readonly fault: Fault
}

export interface FaultPlan {
  /** What to give `createFaultPlan` to see the same choices again. */
  readonly seed: number
  /** Adds a rule; the answer takes it away again. Rules are asked in the order they were added, the first that strikes wins. */
  add(rule: FaultRule): () => void
  clear(): void
  /** The latest requests, oldest first; bounded. */
  readonly history: readonly SeenRequest[]
  clearHistory(): void
}
