/** Removing checkpoints that are beyond the limits, and bodies that no record names. */

import type { ExecutionScope } from '../../core/keys.ts'
import { scopeOf } from '../../core/namespaces/scopes.ts'
import { CHECKPOINT_UNRECORDED_MS } from '../limits.ts'
import { takenAtMsOf } from './checkpoint-id.ts'
import { listRecords, type RecordParts } from './checkpoint-records.ts'
import { isIntact, type CheckpointRecord } from './checkpoint.ts'
import type { CheckpointBodies } from './ports.ts'
import { readRollbackNote } from './rollback-note.ts'
import { expiredOf, type CheckpointLimits } from './retention.ts'

export interface CheckpointParts extends RecordParts {
  readonly bodies: readonly CheckpointBodies[]
  readonly limits: CheckpointLimits
}

/** Returns the ids of those that were removed. */
export async function expire(
  parts: CheckpointParts,
  scope: ExecutionScope,
  isFinished: boolean,
): Promise<readonly string[]> {
  const records = await listRecords(parts, scope)
  const nowMs = parts.clock.now().getTime()
  const expired = expiredOf(records, parts.limits, nowMs)
  const keptId = expired.length === 0 || isFinished ? undefined : await findLastGood(parts, scope, records)
  const note = expired.length === 0 ? undefined : await readRollbackNote(parts.store, scope)
  // A rollback that has begun still needs its checkpoint.
  const neededId = note?.of.level === 'checkpoint' ? note.of.checkpointId : undefined
  const removed = expired.filter(({ checkpointId }) => checkpointId !== keptId && checkpointId !== neededId)
  const keys = scopeOf(parts.store, scope).keys
  for (const { sequence } of removed)
    await parts.store.commit({ operations: [{ do: 'delete', key: keys.checkpointRecord(sequence) }] })
  const removedIds = removed.map(({ checkpointId }) => checkpointId)
  const known = new Set(records.map(({ checkpointId }) => checkpointId))
  await removeBodies(parts, scope, (id) => removedIds.includes(id) || (!known.has(id) && isOld(id, nowMs)))
  return removedIds
}

async function findLastGood(
  parts: CheckpointParts,
  scope: ExecutionScope,
  newestFirst: readonly CheckpointRecord[],
): Promise<string | undefined> {
  for (const record of newestFirst)
    if ((await readIntact(parts, scope, record)) !== undefined) return record.checkpointId
  return undefined
}

/** The last execution that was looked at, in each place. */
export type CollectPlaces = Map<CheckpointBodies, string>

/** Of executions whose records the core has removed. Returns how many. */
export async function collectSome(
  parts: CheckpointParts,
  executionsMax: number,
  last: CollectPlaces,
): Promise<number> {
  let count = 0
  const nowMs = parts.clock.now().getTime()
  for (const place of parts.bodies) {
    const all = ((await place.listExecutions?.()) ?? [])
      .map((scope) => ({ scope, name: `${scope.tenant ?? ''}/${scope.execution}` }))
      .sort((one, other) => (one.name < other.name ? -1 : 1))
    const next = all.filter(({ name }) => name > (last.get(place) ?? '')).slice(0, executionsMax)
    for (const { scope } of next) {
      const known = new Set((await listRecords(parts, scope)).map(({ checkpointId }) => checkpointId))
      count += await removeBodies(parts, scope, (id) => !known.has(id) && isOld(id, nowMs))
    }
    last.set(place, next.length < executionsMax ? '' : (next.at(-1)?.name ?? ''))
  }
  return count
}

async function removeBodies(
  { bodies }: CheckpointParts,
  scope: ExecutionScope,
  isWanted: (checkpointId: string) => boolean,
): Promise<number> {
  let count = 0
  for (const place of bodies) {
    for (const checkpointId of (await place.list(scope)).filter(isWanted)) {
      await place.remove({ scope, checkpointId })
      count += 1
    }
  }
  return count
}

/** Nobody is about to write its record any more. */
function isOld(checkpointId: string, nowMs: number): boolean {
  return nowMs - takenAtMsOf(checkpointId) >= CHECKPOINT_UNRECORDED_MS
}

/** The first copy that has the bytes that were stored. */
export async function readIntact(
  { bodies }: CheckpointParts,
  scope: ExecutionScope,
  record: CheckpointRecord,
): Promise<Uint8Array | undefined> {
  for (const place of bodies) {
    const bytes = await place.read({ scope, checkpointId: record.checkpointId })
    if (bytes !== undefined && isIntact(record, bytes)) return bytes
  }
  return undefined
}
