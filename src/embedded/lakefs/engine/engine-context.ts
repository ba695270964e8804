import type { Clock } from '../../../base/clock.ts'
import type { BlobStore } from './blob-store.ts'
import type { BranchTurns } from './branch-turns.ts'
import type { HookEvent, HookRunner } from './engine.ts'
import type { MetadataDb } from './metadata-db.ts'
import type { Staging } from './staging.ts'
import type { NodeStore } from './tree/node-store.ts'
import type { WriteQueue } from './write-queue.ts'

/** What every operation of the engine works with. */
export interface EngineContext {
  readonly db: MetadataDb
  readonly writes: WriteQueue
  readonly nodes: NodeStore
  readonly staging: Staging
  readonly blobs: BlobStore
  readonly turns: BranchTurns
  readonly clock: Clock
  readonly hooks: HookRunner | undefined
  /** A post-hook comes too late to refuse anything; what it threw is reported here. */
  readonly onPostHookError: (error: unknown, event: Pick<HookEvent, 'type'>) => void
  /** Removes in the background the rows of what was deleted. */
  readonly startSweep: () => void
}

export function unixSeconds(clock: Clock): number {
  return Math.floor(clock.now().getTime() / 1000)
}
