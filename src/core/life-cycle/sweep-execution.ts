/** Removing the parts of one ended execution whose retention time is over. */

import { clearEvents } from '../events/clear-events.ts'
import type { EventArchive } from '../events/archive-port.ts'
import type { ExecutionKeys } from '../keys.ts'
import { dropsOf } from '../namespaces/ended-index.ts'
import { hasEnded, isSwept, type ExecutionRecord } from '../namespaces/execution-record.ts'
import type { WritePace } from '../namespaces/guarded-write.ts'
import { markRecord } from '../namespaces/mark-record.ts'
import type { BoundScope } from '../namespaces/scopes.ts'
import type { StoreOperation } from '../ports.ts'

/** How long the data of an execution is kept after its end; `Infinity`: for ever. */
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

/** The parts whose retention time is over, in the order of removal. Empty while the execution runs. */
export function findDue(
  { archive, retention, pace }: SweepParts,
  record: ExecutionRecord,
): readonly SweptPart[] {
  if (!hasEnded(record) || isSwept(record) || record.endedAt === undefined) return []
  const ageMs = pace.clock.now().getTime() - Date.parse(record.endedAt)
  // With an archive, events that are not archived yet are never due. Without one, archived events are left to an instance
  // that has the archive: removed here, they would stay in the archive for ever.
  const isOurs =
    archive === undefined ? record.events === 'hot' : record.events === 'cold' || record.events === 'archived'
  const areEventsDue = record.events === 'clearing' || (isOurs && ageMs >= retention.eventsMs)
  return [
    ...(isDue(record.variables, ageMs, retention.variablesMs) ? (['variables'] as const) : []),
    ...(isDue(record.checkpoints, ageMs, retention.checkpointsMs) ? (['checkpoints'] as const) : []),
    ...(areEventsDue ? (['events'] as const) : []),
  ]
}

function isDue(place: ExecutionRecord['variables'], ageMs: number, keptMs: number): boolean {
  return place === 'clearing' || (place === 'kept' && ageMs >= keptMs)
}

/** Can be interrupted anywhere and repeated. Returns whether there was anything to do. */
export async function sweepExecution(bound: BoundScope, parts: SweepParts): Promise<boolean> {
  const { store, keys } = bound.scope
  const { record } = await bound.live.read()
  const due = findDue(parts, record)
  const plain = due.filter((part) => part !== 'events')
  if (plain.length > 0) {
    // Marked before anything is removed, so that nobody lets the execution run again meanwhile.
    const clearing = Object.fromEntries(plain.map((part) => [part, 'clearing']))
    await markRecord(bound, parts.pace, (found) => (hasEnded(found) ? { ...found, ...clearing } : found))
    if (!hasEnded((await bound.live.read()).record)) return false
    for (const prefix of plain.flatMap((part) => prefixesOf(keys, part))) await store.clear(prefix)
    const gone = Object.fromEntries(plain.map((part) => [part, 'gone']))
    await markRecord(
      bound,
      parts.pace,
      (found) => ({ ...found, ...gone }),
      (found) => [...dropsOf(bound.scope, found, plain), ...engineDrops(keys, found, plain)],
    )
  }
  if (due.includes('events')) {
    await clearEvents(bound, { archive: parts.archive, rule: undefined, pace: parts.pace })
  }
  return due.length > 0
}

function prefixesOf(keys: ExecutionKeys, part: 'variables' | 'checkpoints'): readonly string[] {
  return part === 'variables' ? [keys.marks, keys.history, keys.variables] : [keys.checkpoints, keys.engine]
}

/** What the engine keeps of an execution outside its prefix. */
function engineDrops(
  keys: ExecutionKeys,
  { startedAt }: ExecutionRecord,
  parts: readonly SweptPart[],
): readonly StoreOperation[] {
  if (!parts.includes('checkpoints')) return []
  return [keys.engineTasks(), keys.listed(startedAt)].map((key) => ({ do: 'delete', key }))
}
