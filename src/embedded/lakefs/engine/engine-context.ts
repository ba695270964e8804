import type { Clock } from '../../../base/clock.ts'
import type { BlobStore } from './blob-store.ts'
import type { HookEvent, HookRunner } from './engine.ts'
import type { MetadataDb } from './metadata-db.ts'
import type { Staging } from './staging.ts'
import type { NodeStore } from './tree/node-store.ts'
import type { WriteQueue } from './write-queue.ts'

/** What every part of the engine works with. */
export interface EngineContext {
  readonly db: MetadataDb
  readonly writes: WriteQueue
  readonly nodes: NodeStore
  readonly staging: Staging
  readonly blobs: BlobStore
  readonly clock: Clock
  readonly hooks: HookRunner | undefined
  /** A post-hook comes too late to refuse anything; what it threw is told here. */
  readonly onPostHookError: (error: unknown, event: HookEvent) => void
}

export function unixSeconds(clock: Clock): number {
  return Math.floor(clock.now().getTime() / 1000)
}
