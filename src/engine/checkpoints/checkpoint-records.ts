/** The records of checkpoints, in the store of the core. */

import type { Clock } from '../../base/clock.ts'
import { RefusedError } from '../../base/errors.ts'
import type { Random } from '../../base/random.ts'
import { fromBytes, toBytes } from '../../core/json.ts'
import type { ExecutionScope } from '../../core/keys.ts'
import { commitGuarded } from '../../core/namespaces/guarded-write.ts'
import { scopeOf } from '../../core/namespaces/scopes.ts'
import type { Store, StoreCondition } from '../../core/ports.ts'
import { readPages } from '../../core/read-pages.ts'
import { CHECKPOINT_RECORD_TRIES_MAX } from '../limits.ts'
import type { CheckpointRecord } from './checkpoint.ts'

export interface RecordParts {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
}

/** Another instance may take one at the same time: each record has a place of its own. */
export async function writeRecord(
  parts: RecordParts,
  {
    scope,
    conditions = [],
  }: { readonly scope: ExecutionScope; readonly conditions?: readonly StoreCondition[] | undefined },
  wanted: CheckpointRecord,
): Promise<CheckpointRecord> {
  const { store } = parts
  let record = wanted
  for (let attempt = 0; attempt < CHECKPOINT_RECORD_TRIES_MAX; attempt++) {
    const key = scopeOf(store, scope).keys.checkpointRecord(record.sequence)
    const batch = {
      conditions: [{ key, is: 'absent' as const }, ...conditions],
      operations: [{ do: 'put' as const, key, value: toBytes(JSON.stringify(record)) }],
    }
    const hasHappened = async (): Promise<'yes' | 'no' | 'open'> => {
      const entry = await store.get(key)
      if (entry === undefined) return 'open'
      return readRecord(entry.value).checkpointId === record.checkpointId ? 'yes' : 'no'
    }
    if ((await commitGuarded(store, { batch, hasHappened }, parts)).committed) return record
    if ((await store.get(key)) === undefined) break
    record = { ...record, sequence: record.sequence + 1 }
  }
  throw new RefusedError(
    'engine/checkpoint-not-recorded',
    `record checkpoint ${wanted.checkpointId}: the execution belongs to another instance by now`,
    {
      details: { checkpointId: wanted.checkpointId },
      next: 'Nothing is needed: the instance that owns the execution takes its own checkpoints.',
    },
  )
}

/** The newest first. */
export async function listRecords(
  { store }: Pick<RecordParts, 'store'>,
  scope: ExecutionScope,
): Promise<readonly CheckpointRecord[]> {
  const records: CheckpointRecord[] = []
  const range = { prefix: scopeOf(store, scope).keys.checkpointRecords, order: 'descending' as const }
  for await (const page of readPages(store, range)) {
    for (const { value } of page) records.push(readRecord(value))
  }
  return records
}

function readRecord(value: Uint8Array): CheckpointRecord {
  return JSON.parse(fromBytes(value)) as CheckpointRecord
}
