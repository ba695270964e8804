/**
 * The checkpoints of executions: records in the store of the core, bodies in one or more places.
 *
 * 1. A record is written after its body is durable everywhere: what is listed can be restored.
 * 2. A body without a record is left over from an interrupted write, or from a record that was removed; it is collected.
 * 3. Each place is tried when a body is read, and a copy counts only if its bytes are those that were stored.
 * 4. Of an unfinished execution the last good checkpoint is never removed. It is found by reading, not by its age.
 */

import { systemClock, type Clock } from '../../base/clock.ts'
import { MissingError, RefusedError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import { systemRandom, type Random } from '../../base/random.ts'
import { silentLogger, type Logger } from '../../base/logger.ts'
import type { ExecutionScope } from '../../core/keys.ts'
import type { Store, StoreCondition } from '../../core/ports.ts'
import type { Execution } from '../protocol/execution.ts'
import { isTaskOpen, isWorkflowOpen } from '../protocol/state.ts'
import type { EngineObserver } from '../telemetry/engine-events.ts'
import { makeCheckpointId } from './checkpoint-id.ts'
import { listRecords, writeRecord } from './checkpoint-records.ts'
import {
  CHECKPOINT_FORMAT,
  damaged,
  decodeCheckpoint,
  encodeCheckpoint,
  type Checkpoint,
  type CheckpointReason,
  type CheckpointRecord,
  type EncodedCheckpoint,
} from './checkpoint.ts'
import {
  collectSome,
  expire,
  readIntact,
  type CheckpointParts,
  type CollectPlaces,
} from './expire-checkpoints.ts'
import { finishedPhases } from './phases.ts'
import type { CheckpointBodies } from './ports.ts'
import { DEFAULT_CHECKPOINT_LIMITS, type CheckpointLimits } from './retention.ts'

export interface CheckpointsOptions {
  /** Holds the small records of the checkpoints; their content is in `bodies`. */
  readonly store: Store
  /** One or more places. A checkpoint is taken when all of them hold it, and read from the first that has it undamaged. */
  readonly bodies: readonly CheckpointBodies[]
  /** How many checkpoints of an execution are kept, how long, and their largest size. Default: 5, 7 days, 50 MiB. */
  readonly limits?: Partial<CheckpointLimits>
  /** For the times of checkpoints and their age. Default: the machine's clock. */
  readonly clock?: Clock
  /** For the ids of checkpoints and the waits before a write is repeated. Default: the operating system's randomness. */
  readonly random?: Random
  /** Gets a warning when old checkpoints could not be removed. Default: nothing is logged. */
  readonly logger?: Logger
  /** Told of each checkpoint that was taken. */
  readonly observe?: EngineObserver
}

export interface TakeRequest {
  readonly scope: ExecutionScope
  readonly execution: Execution
  readonly reason: CheckpointReason
  /** Those that the host keeps outside the execution. */
  readonly variables?: JsonObject
  /** Must hold when the record is written, such as that the host still owns the execution. */
  readonly conditions?: readonly StoreCondition[]
}

/** The newest checkpoint that can be restored, and those after it that cannot. */
export interface LastGood {
  readonly record: CheckpointRecord
  readonly checkpoint: Checkpoint
  readonly damaged: readonly CheckpointRecord[]
}

export interface Checkpoints {
  /** Durable when it returns. Throws `engine/checkpoint-too-large`; those before it stay as they are. */
  take(request: TakeRequest): Promise<CheckpointRecord>
  /** The newest first. */
  list(scope: ExecutionScope): Promise<readonly CheckpointRecord[]>
  /** Throws `engine/no-checkpoint` and `engine/checkpoint-damaged`. */
  read(scope: ExecutionScope, checkpointId: string): Promise<Checkpoint>
  /** `undefined`: none can be restored. */
  readLastGood(scope: ExecutionScope): Promise<LastGood | undefined>
  /** Removes what is beyond the limits, and bodies without records. Returns the ids of the checkpoints. */
  expire(scope: ExecutionScope, options: { readonly isFinished: boolean }): Promise<readonly string[]>
  /**
   * Removes bodies of executions whose records the core has removed. Returns how many. With `executionsMax` it looks at so
   * many executions, and the next call goes on there.
   */
  collect(options?: { readonly executionsMax?: number }): Promise<number>
}

/**
 * ```ts
 * const checkpoints = openCheckpoints({ store, bodies: [openDirectoryBodies('.perago/checkpoints')] })
 * const { checkpointId } = await checkpoints.take({ scope, execution, reason: { phaseId: 'phase-1' } })
 * ```
 */
export function openCheckpoints(options: CheckpointsOptions): Checkpoints {
  const parts: Parts = {
    store: options.store,
    bodies: options.bodies,
    limits: { ...DEFAULT_CHECKPOINT_LIMITS, ...options.limits },
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    logger: options.logger ?? silentLogger,
    observe: options.observe ?? (() => undefined),
  }
  const collected: CollectPlaces = new Map()
  return {
    take: (request) => take(parts, request),
    list: (scope) => listRecords(parts, scope),
    read: (scope, checkpointId) => read(parts, scope, checkpointId),
    readLastGood: (scope) => readLastGood(parts, scope),
    expire: (scope, { isFinished }) => expire(parts, scope, isFinished),
    collect: ({ executionsMax = Infinity } = {}) => collectSome(parts, executionsMax, collected),
  }
}

interface Parts extends CheckpointParts {
  readonly logger: Logger
  readonly observe: EngineObserver
}

async function take(parts: Parts, request: TakeRequest): Promise<CheckpointRecord> {
  const { scope, execution, variables = {} } = request
  const beganMs = parts.clock.monotonicMs()
  const encoded = await encodeCheckpoint(execution, variables)
  if (encoded.bytes.byteLength > parts.limits.maxBytes) throw tooLarge(parts, request, encoded)
  const [newest] = await listRecords(parts, scope)
  const sequence = (newest?.sequence ?? 0) + 1
  const checkpointId = makeCheckpointId(sequence, parts)
  await Promise.all(parts.bodies.map((place) => place.write({ scope, checkpointId }, encoded.bytes)))
  const record = await writeRecord(
    parts,
    request,
    recordOf(parts, request, { encoded, checkpointId, sequence }),
  )
  tell(parts, execution, record, beganMs)
  try {
    await expire(parts, scope, !isWorkflowOpen(execution.status))
  } catch (error) {
    // This one is taken; the next one, or maintenance, removes the others.
    parts.logger.warn('old checkpoints could not be removed', { workflowId: execution.workflowId, error })
  }
  return record
}

function tell(
  { clock, observe }: Parts,
  execution: Execution,
  record: CheckpointRecord,
  beganMs: number,
): void {
  const { checkpointId, phaseId, storedBytes } = record
  const times = { endMs: clock.now().getTime(), durationMs: clock.monotonicMs() - beganMs }
  observe({ kind: 'checkpoint-taken', execution, checkpointId, phaseId, storedBytes, ...times })
}

function recordOf(
  { clock }: Parts,
  { execution, reason }: TakeRequest,
  of: { readonly encoded: EncodedCheckpoint; readonly checkpointId: string; readonly sequence: number },
): CheckpointRecord {
  const { bytes, plainBytes, sha256, branches } = of.encoded
  return {
    ...reason,
    checkpointId: of.checkpointId,
    sequence: of.sequence,
    timestamp: clock.now().toISOString(),
    format: CHECKPOINT_FORMAT,
    storedBytes: bytes.byteLength,
    ...{ plainBytes, sha256, branches },
    finishedPhases: finishedPhases(execution),
    attempts: execution.rows
      .filter(({ record }) => isTaskOpen(record.status))
      .map(({ record }) => record.taskId),
  }
}

async function read(parts: Parts, scope: ExecutionScope, checkpointId: string): Promise<Checkpoint> {
  const record = (await listRecords(parts, scope)).find((one) => one.checkpointId === checkpointId)
  if (record === undefined) {
    throw new MissingError('engine/no-checkpoint', `read checkpoint ${checkpointId}: there is none`, {
      details: { checkpointId },
      next: 'List the checkpoints of the execution; old ones are removed.',
    })
  }
  const bytes = await readIntact(parts, scope, record)
  if (bytes !== undefined) return decodeCheckpoint(record, bytes)
  throw damaged(record, 'no place that keeps it has the bytes that were stored')
}

async function readLastGood(parts: Parts, scope: ExecutionScope): Promise<LastGood | undefined> {
  const unusable: CheckpointRecord[] = []
  for (const record of await listRecords(parts, scope)) {
    const bytes = record.format === CHECKPOINT_FORMAT && (await readIntact(parts, scope, record))
    if (bytes) return { record, checkpoint: await decodeCheckpoint(record, bytes), damaged: unusable }
    unusable.push(record)
  }
  return undefined
}

function tooLarge({ limits }: Parts, { execution }: TakeRequest, { bytes }: EncodedCheckpoint): RefusedError {
  const { workflowId } = execution
  return new RefusedError(
    'engine/checkpoint-too-large',
    `take a checkpoint of execution ${workflowId}: it has ${bytes.byteLength} bytes, at most ${limits.maxBytes}`,
    {
      details: { workflowId, storedBytes: bytes.byteLength, maxBytes: limits.maxBytes },
      next: 'Keep large results in the repository and return their address; the checkpoints before this one stay usable.',
    },
  )
}
