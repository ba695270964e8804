/** Both fences in one table, which the documentation shows and the worker's result mapping follows. */

export interface FenceRow {
  readonly judges: string
  readonly reads: string
  readonly stands: string
  readonly error: string
  readonly code: string
  /** The default result for Conductor. */
  readonly result: 'FAILED' | 'FAILED_WITH_TERMINAL_ERROR'
}

/** A stale attempt is retryable: Conductor knows whether another attempt is due. No retry can fix a refused branch. */
export const FENCE_TABLE = {
  attempt: {
    judges: 'the attempt',
    reads: 'Conductor: the task and the status of its workflow',
    stands: 'before staging or relocation, and again inside every branch write',
    error: 'StaleAttemptError',
    code: 'fences/stale-attempt',
    result: 'FAILED',
  },
  publish: {
    judges: 'the target branch',
    reads: 'lakeFS: the head of the branch and its first parent',
    stands: 'before merge, replacement or relocation, and before a no-op completes',
    error: 'PublishFenceError',
    code: 'fences/publish-refused',
    result: 'FAILED_WITH_TERMINAL_ERROR',
  },
} as const satisfies Readonly<Record<'attempt' | 'publish', FenceRow>>
