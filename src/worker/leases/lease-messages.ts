/** What a worker and the thread that holds its leases tell each other. Plain data. */

import type { LogLevel } from '../../base/logger.ts'
import type { AttemptPolicy } from '../../fences/attempt-fence.ts'
import type { AttemptSnapshot } from '../../fences/attempt-snapshot.ts'
import type { HostedFailure } from '../bodies/protocol.ts'
import type { LeaseCalls } from './lease.ts'

/** What the thread opens for itself. */
export type LeaseQueue = LeaseCalls & { close(): Promise<void> }

/** Named by its address, because a thread cannot be handed functions. It exports `openLeaseQueue(options)`. */
export interface LeaseQueueModule {
  readonly url: string
  /** Plain data. */
  readonly options: unknown
}

export interface LeaseThreadData {
  readonly queue: LeaseQueueModule
}

export type ToLeaseThread =
  | {
      readonly type: 'hold'
      readonly id: number
      readonly attempt: AttemptSnapshot
      readonly responseTimeoutSeconds: number
      readonly policy: AttemptPolicy
    }
  | { readonly type: 'release'; readonly id: number }
  | { readonly type: 'close' }

export type FromLeaseThread =
  | { readonly type: 'renewed'; readonly id: number }
  | { readonly type: 'lost'; readonly id: number; readonly failure: HostedFailure }
  | { readonly type: 'released'; readonly id: number }
  | {
      readonly type: 'log'
      readonly level: Exclude<LogLevel, 'silent'>
      readonly message: string
      readonly fields: Readonly<Record<string, unknown>>
    }
