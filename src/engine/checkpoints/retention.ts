/** Which checkpoints are removed. Pure. */

import { CHECKPOINT_MAX_BYTES, CHECKPOINT_RETENTION_MS, CHECKPOINTS_KEPT } from '../limits.ts'
import type { CheckpointRecord } from './checkpoint.ts'

export interface CheckpointLimits {
  /** The newest ones that are kept. */
  readonly kept: number
  /** One that is older than this is removed, in milliseconds; 7 days unless given. */
  readonly retentionMs: number
  /** Of one checkpoint, as stored. */
  readonly maxBytes: number
}

export const DEFAULT_CHECKPOINT_LIMITS: CheckpointLimits = {
  kept: CHECKPOINTS_KEPT,
  retentionMs: CHECKPOINT_RETENTION_MS,
  maxBytes: CHECKPOINT_MAX_BYTES,
}

/** Those beyond the newest `kept`, and those that are too old. */
export function expiredOf(
  newestFirst: readonly CheckpointRecord[],
  { kept, retentionMs }: CheckpointLimits,
  nowMs: number,
): readonly CheckpointRecord[] {
  return newestFirst.filter(
    ({ timestamp }, index) => index >= kept || nowMs - Date.parse(timestamp) >= retentionMs,
  )
}
