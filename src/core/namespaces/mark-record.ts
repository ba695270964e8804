/** Changing the record of an execution, also while other processes change it. */

import { EXECUTION_TOMBSTONE_MS } from '../limits.ts'
import { encodeRecord, isSwept, type ExecutionRecord } from './execution-record.ts'
import { commitGuarded, settleConflicts, type WritePace } from './guarded-write.ts'
import type { SeenRecord } from './live-record.ts'
import type { StoreOperation } from '../ports.ts'
import type { BoundScope } from './scopes.ts'

/**
 * `change` returns its argument where there is nothing to do. It is given the record as it was read last, where it was: the write
 * has the condition that it still is so, and that nothing is to do is decided by a record that is read now. The operations that `along` returns are written in the same
 * batch. Resolves with the record as it is afterwards.
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
      const { known } = live
      let seen = known ?? (await live.read())
      let next = change(seen.record)
      if (next === known?.record) {
        seen = await live.read()
        next = change(seen.record)
      }
      if (next === seen.record) return next
      const { committed, revision } = await writeRecord(bound, pace, { seen, next, along: along(next) })
      if (!committed || revision === undefined) live.forget()
      if (!committed) return 'conflict'
      if (revision === undefined) return next
      live.note({ record: next, revision })
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
    // The record of a swept execution stays for a while, so that its id is not used again.
    ttlMs: isSwept(next) ? EXECUTION_TOMBSTONE_MS : undefined,
  }
  return commitGuarded(
    scope.store,
    {
      batch: { conditions: [live.conditionOn(seen)], operations: [put, ...along] },
      hasHappened: async () => {
        const found = await scope.store.get(scope.keys.record)
        if (found?.revision === seen.revision) return 'open'
        return found !== undefined && Buffer.compare(found.value, value) === 0 ? 'yes' : 'no'
      },
    },
    pace,
  )
}
