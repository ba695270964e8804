/** What checkpoints need: a place for their bodies. Their records are small and always in the store of the core. */

import type { ExecutionScope } from '../../core/keys.ts'

export interface BodyPlace {
  /** The execution that the checkpoint belongs to, with its tenant if it has one. */
  readonly scope: ExecutionScope
  /** Such as `cp-3-mjv0q8w0-4f1k2z9c`; unique. */
  readonly checkpointId: string
}

/**
 * Keeps the bodies of checkpoints. Every implementation passes the suite in `test/conformance/checkpoint-bodies.ts`.
 *
 * A body is written once and never changed. It may come back damaged or in part: who reads it compares its hash.
 */
export interface CheckpointBodies {
  /** The kind of place, for messages: `directory`, `store`. */
  readonly name: string
  /** Returns when the body is durable. A write that was interrupted leaves nothing that `read` would return as whole. */
  write(place: BodyPlace, bytes: Uint8Array): Promise<void>
  /** `undefined`: there is none. */
  read(place: BodyPlace): Promise<Uint8Array | undefined>
  /** It need not exist. */
  remove(place: BodyPlace): Promise<void>
  /** The ids of an execution's bodies, those of interrupted writes included. */
  list(scope: ExecutionScope): Promise<readonly string[]>
  /**
   * Every execution that has bodies. Left out where the core removes the bodies of a swept execution together with its
   * records, so that none can be left behind.
   */
  listExecutions?(): Promise<readonly ExecutionScope[]>
}
