/**
 * What a checkpoint holds, its record, and how it becomes bytes.
 *
 * The body is JSON in gzip. It has the whole execution with its graph, so that restoring needs no definition. The record says
 * in which format the body is, how long it is and its SHA-256; a body that differs in one bit is damaged.
 */

import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, gunzip, gzip } from 'node:zlib'
import { RefusedError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import type { TaskId } from '../../fences/attempt-snapshot.ts'
import { CHECKPOINT_STATE_MAX_BYTES } from '../limits.ts'
import type { CheckpointDescription } from '../protocol/describe-execution.ts'
import type { Execution } from '../protocol/execution.ts'
import { branchesOf, type BranchCommit } from './written-branches.ts'

/** The format that is written. Older ones stay readable. */
export const CHECKPOINT_FORMAT = 1

export interface Checkpoint {
  readonly execution: Execution
  /** The variables that the host keeps outside the execution. */
  readonly variables: JsonObject
  /** Every branch that the execution was given or has written, at its commit then. */
  readonly branches: readonly BranchCommit[]
}

/** Why a checkpoint was taken. */
export interface CheckpointReason {
  /** The phase that has ended; `start` before the first one. */
  readonly phaseId: string
  /** The units that are to run next, where checkpoints are taken per unit. */
  readonly units?: readonly string[]
}

export interface CheckpointRecord extends CheckpointReason {
  readonly checkpointId: string
  /** Counts up within its execution. */
  readonly sequence: number
  /** ISO 8601, in UTC. */
  readonly timestamp: string
  readonly format: number
  readonly storedBytes: number
  readonly plainBytes: number
  /** Of the stored bytes, in hexadecimal. */
  readonly sha256: string
  readonly branches: readonly BranchCommit[]
  readonly finishedPhases: readonly string[]
  /** The attempts that were open. */
  readonly attempts: readonly TaskId[]
}

export interface EncodedCheckpoint {
  readonly bytes: Uint8Array
  readonly plainBytes: number
  readonly sha256: string
  readonly branches: readonly BranchCommit[]
}

export async function encodeCheckpoint(
  execution: Execution,
  variables: JsonObject,
): Promise<EncodedCheckpoint> {
  const branches = branchesOf(execution)
  const checkpoint: Checkpoint = { execution, variables, branches }
  const plain = Buffer.from(JSON.stringify({ format: CHECKPOINT_FORMAT, ...checkpoint }))
  // The fastest level: states are taken often, are read seldom, and shrink well at any level.
  const bytes = await promisify(gzip)(plain, { level: constants.Z_BEST_SPEED })
  return { bytes, plainBytes: plain.byteLength, sha256: hashOf(bytes), branches }
}

/** Throws `engine/checkpoint-damaged` unless these are exactly the bytes that were stored. */
export async function decodeCheckpoint(record: CheckpointRecord, bytes: Uint8Array): Promise<Checkpoint> {
  if (!isIntact(record, bytes)) throw damaged(record, 'its bytes are not those that were stored')
  if (record.format !== CHECKPOINT_FORMAT)
    throw damaged(record, `its format is ${record.format}, and this version reads ${CHECKPOINT_FORMAT}`)
  const plain = await promisify(gunzip)(bytes, { maxOutputLength: CHECKPOINT_STATE_MAX_BYTES })
  const { execution, variables, branches } = JSON.parse(plain.toString()) as Checkpoint
  return { execution, variables, branches }
}

/** For who reads of the execution: what is kept, and by which id it is restored. The state itself is read with `read`. */
export function describeCheckpoint(record: CheckpointRecord): CheckpointDescription {
  const { checkpointId, phaseId, timestamp, finishedPhases, branches, storedBytes, sha256 } = record
  return {
    checkpoint_id: checkpointId,
    phase_id: phaseId,
    timestamp,
    state_snapshot: {
      finished_phases: finishedPhases,
      branches: branches.map(({ repository, branch, ref }) => ({ repository, branch, ref })),
      ...{ stored_bytes: storedBytes, sha256 },
    },
  }
}

export function isIntact(record: CheckpointRecord, bytes: Uint8Array): boolean {
  return bytes.byteLength === record.storedBytes && hashOf(bytes) === record.sha256
}

export function damaged({ checkpointId }: CheckpointRecord, why: string): RefusedError {
  return new RefusedError('engine/checkpoint-damaged', `read checkpoint ${checkpointId}: ${why}`, {
    details: { checkpointId },
    next: 'Restore an earlier checkpoint, and look at the disk or database that keeps them.',
  })
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
