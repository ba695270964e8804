/** Removing the parts of one ended execution whose retention time is over. */

import { clearPrefixes } from '../clear-prefixes.ts'
import type { EventArchive } from '../events/archive-port.ts'
import { placeOf } from '../events/archived-events.ts'
import { freeHotEvents } from '../events/clear-events.ts'
import type { ExecutionKeys } from '../keys.ts'
import { dropsOf, hurryEvents } from '../namespaces/ended-index.ts'
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

/** Events last: the other parts are removed even if the archive does not respond. */
export const SWEPT_PARTS: readonly SweptPart[] = ['variables', 'checkpoints', 'events']

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

/**
 * Of an execution whose record was just read. Can be interrupted anywhere and repeated. Returns whether there was anything to do.
 */
export async function sweepExecution(bound: BoundScope, parts: SweepParts): Promise<boolean> {
  const { archive, pace } = parts
  const { scope, live } = bound
  const { record } = await live.seen()
  if (findDue(parts, record).length === 0) return false
  // Marked before anything is removed, so that nobody lets the execution run again meanwhile.
  const marked = await markRecord(
    bound,
    pace,
    (found) => markDue(parts, found),
    (found) => (found.events === 'clearing' ? hurryEvents(scope, found) : []),
  )
  const due = SWEPT_PARTS.filter((part) => marked[part] === 'clearing')
  if (due.length === 0) return false
  const plain = due.filter((part) => part !== 'events')
  const prefixes = plain.flatMap((part) => prefixesOf(scope.keys, part))
  if (due.includes('events')) await freeHotEvents(bound, [...prefixes, scope.keys.waiting])
  else await clearPrefixes(scope.store, prefixes)
  if (archive !== undefined && due.includes('events')) {
    // The other parts are done even if the archive does not respond.
    if (plain.length > 0) await markGone(bound, plain, pace)
    await archive.remove(placeOf(scope))
    await markGone(bound, ['events'], pace)
  } else await markGone(bound, due, pace)
  return true
}

/** The same record where all that is due is marked already. */
function markDue(parts: SweepParts, found: ExecutionRecord): ExecutionRecord {
  const unmarked = findDue(parts, found).filter((part) => found[part] !== 'clearing')
  if (unmarked.length === 0) return found
  return { ...found, ...Object.fromEntries(unmarked.map((part) => [part, 'clearing'])) }
}

async function markGone(bound: BoundScope, parts: readonly SweptPart[], pace: WritePace): Promise<void> {
  const { scope } = bound
  const gone = Object.fromEntries(parts.map((part) => [part, 'gone']))
  const jobs = parts.flatMap((part) => (part === 'events' ? (['archive', part] as const) : [part]))
  await markRecord(
    bound,
    pace,
    (found) => ({ ...found, ...gone }),
    (found) => [...dropsOf(scope, found, jobs), ...engineDrops(scope.keys, found, parts)],
  )
}

function prefixesOf(keys: ExecutionKeys, part: Exclude<SweptPart, 'events'>): readonly string[] {
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
