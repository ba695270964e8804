/** Changing the record of an execution, whoever else changes it at the same time. */

import { EXECUTION_TOMBSTONE_MS } from '../limits.ts'
import { encodeRecord, isSwept, type ExecutionRecord } from './execution-record.ts'
import { commitGuarded, settleConflicts, type WritePace } from './guarded-write.ts'
import type { SeenRecord } from './live-record.ts'
import type { StoreOperation } from '../ports.ts'
import type { BoundScope } from './scopes.ts'

/**
 * `change` answers the record it was given where there is nothing to do. Resolves with the record as it is then. What `along`
 * answers of the record is written in the same step.
 */
export async function markRecord(
  bound: BoundScope,
  pace: WritePace,
  change: (record: ExecutionRecord) => ExecutionRecord,
  along: (record: ExecutionRecord) => readonly StoreOperation[] = () => [],
): Promise<ExecutionRecord> {
  const { scope, live } = bound
  return settleConflicts(
    `mark execution ${scope.execution}`,
    async () => {
      const seen = await live.read()
      const next = change(seen.record)
      if (next === seen.record) return next
      const { outcome, revision } = await writeRecord(bound, pace, { seen, next, along: along(next) })
      if (outcome === false) return 'conflict'
      if (revision === undefined) live.forget()
      else live.note({ record: next, revision })
      return next
    },
    pace,
  )
}

function writeRecord(
  { scope, live }: BoundScope,
  pace: WritePace,
  {
    seen,
    next,
    along,
  }: {
    readonly seen: SeenRecord
    readonly next: ExecutionRecord
    readonly along: readonly StoreOperation[]
  },
): ReturnType<typeof commitGuarded> {
  const value = encodeRecord(next)
  const put: StoreOperation = {
    do: 'put',
    key: scope.keys.record,
    value,
    // Of what is swept only the id is kept, for a while, so that nobody takes it for another execution.
    ...(isSwept(next) ? { ttlMs: EXECUTION_TOMBSTONE_MS } : {}),
  }
  return commitGuarded(
    scope.store,
    {
      batch: {
        conditions: [live.conditionOn(seen)],
        operations: [put, ...along],
      },
      hasHappened: async () => {
        const found = await scope.store.get(scope.keys.record)
        if (found?.revision === seen.revision) return 'open'
        return found !== undefined && Buffer.compare(found.value, value) === 0 ? 'yes' : 'no'
      },
    },
    pace,
  )
}
