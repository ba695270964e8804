/** What of one execution that is over has been kept long enough, and its removal. */

import { clearEvents } from '../events/clear-events.ts'
import type { EventArchive } from '../events/archive-port.ts'
import { dropsOf } from '../namespaces/ended-index.ts'
import { hasEnded, isSwept, type ExecutionRecord } from '../namespaces/execution-record.ts'
import type { WritePace } from '../namespaces/guarded-write.ts'
import { markRecord } from '../namespaces/mark-record.ts'
import type { BoundScope } from '../namespaces/scopes.ts'

/** How long what an execution leaves behind is kept, from its end on; `Infinity` for ever. */
export interface Retention {
  readonly eventsMs: number
  readonly variablesMs: number
  readonly checkpointsMs: number
}

export type SweptPart = 'events' | 'variables' | 'checkpoints'

export interface SweepParts {
  readonly archive: EventArchive | undefined
  readonly retention: Retention
  readonly pace: WritePace
}

/** What of an execution has been kept long enough, in the order in which it is removed. Nothing while it runs. */
export function findDue(
  { archive, retention, pace }: SweepParts,
  record: ExecutionRecord,
): readonly SweptPart[] {
  if (!hasEnded(record) || isSwept(record) || record.endedAt === undefined) return []
  const ageMs = pace.clock.now().getTime() - Date.parse(record.endedAt)
  // With an archive, events that it does not hold yet are never old enough. Without one, those that an archive holds are left
  // to an instance that knows it: removed here only, they would stay there for ever.
  const isOurs =
    archive === undefined ? record.events === 'hot' : record.events === 'cold' || record.events === 'archived'
  const areEventsDue = record.events === 'clearing' || (isOurs && ageMs >= retention.eventsMs)
  return [
    ...(record.variables === 'kept' && ageMs >= retention.variablesMs ? (['variables'] as const) : []),
    ...(record.checkpoints === 'kept' && ageMs >= retention.checkpointsMs ? (['checkpoints'] as const) : []),
    ...(areEventsDue ? (['events'] as const) : []),
  ]
}

/** May be cut short anywhere and is then done again. Answers whether there was anything to do. */
export async function sweepExecution(bound: BoundScope, parts: SweepParts): Promise<boolean> {
  const { store, keys } = bound.scope
  const { record } = await bound.live.read()
  const due = findDue(parts, record)
  for (const part of due) {
    if (part === 'events') {
      await clearEvents(bound, { archive: parts.archive, rule: undefined, pace: parts.pace })
      continue
    }
    if (part === 'variables') await store.clear(keys.marks)
    await store.clear(part === 'variables' ? keys.variables : keys.checkpoints)
    await markRecord(
      bound,
      parts.pace,
      (found) => ({ ...found, [part]: 'gone' }),
      (found) => dropsOf(bound.scope, found, [part]),
    )
  }
  return due.length > 0
}
