/**
 * What is done for executions that are over: their events are archived, and what has been kept long enough is removed.
 *
 * - MT-1 A running execution is never touched, nor anything of a neighbour: each step names one execution and begins with its
 *   record, which says that it has ended. An execution that has ended never runs again, and its id stays taken.
 * - MT-2 Events leave the store only when the archive holds them all and says so.
 * - MT-3 Each step may be cut short anywhere and is done again from its beginning by the next pass, whoever makes it.
 */

import { systemClock, type Clock } from '../../base/clock.ts'
import { DefectError, errorKindOf } from '../../base/errors.ts'
import {
  ARCHIVE_BATCH_EVENTS,
  RETENTION_CHECKPOINTS_MS,
  RETENTION_EVENTS_MS,
  RETENTION_VARIABLES_MS,
} from '../../base/limits.ts'
import { silentLogger, type Logger } from '../../base/logger.ts'
import { systemRandom } from '../../base/random.ts'
import type { EventArchive } from '../events/archive-port.ts'
import { placeOf, rowOfEvent } from '../events/archived-events.ts'
import { clearEvents, freeHotEvents } from '../events/clear-events.ts'
import { decodeEvent } from '../events/event.ts'
import { hasEnded, isSwept, type ExecutionRecord } from '../namespaces/execution-record.ts'
import type { WritePace } from '../namespaces/guarded-write.ts'
import { makeId, type MakeId } from '../namespaces/make-id.ts'
import { markRecord } from '../namespaces/mark-record.ts'
import { listExecutions } from '../namespaces/registry.ts'
import { Scopes, type BoundScope } from '../namespaces/scopes.ts'
import type { Store } from '../ports.ts'
import { Leadership } from './leadership.ts'
import { runPass, type PassReport } from './run-pass.ts'

/** How long what an execution leaves behind is kept, from its end on. */
export interface Retention {
  readonly eventsMs: number
  readonly variablesMs: number
  readonly checkpointsMs: number
}

export const DEFAULT_RETENTION: Retention = {
  eventsMs: RETENTION_EVENTS_MS,
  variablesMs: RETENTION_VARIABLES_MS,
  checkpointsMs: RETENTION_CHECKPOINTS_MS,
}

export interface MaintenanceOptions {
  readonly store: Store
  readonly archive?: EventArchive
  readonly retention?: Partial<Retention>
  readonly clock?: Clock
  readonly logger?: Logger
  readonly makeId?: MakeId
}

export interface Maintenance {
  /** Writes what has ended to the archive, and frees the store of it. `undefined` when another instance is doing so. */
  readonly archiveOnce: (signal?: AbortSignal) => Promise<PassReport | undefined>
  /** Removes what has been kept long enough. `undefined` when another instance is doing so. */
  readonly sweepOnce: (signal?: AbortSignal) => Promise<PassReport | undefined>
  /** Gives back the rights to archive and to sweep. */
  readonly release: () => Promise<void>
}

/** Across all tenants of the store; for hosts and operators. Starts nothing by itself. */
export function openMaintenance(options: MaintenanceOptions): Maintenance {
  const { store, archive, clock = systemClock, logger = silentLogger } = options
  const make = options.makeId ?? makeId
  const owner = make('mark')
  const parts: Parts = {
    store,
    archive,
    retention: { ...DEFAULT_RETENTION, ...options.retention },
    pace: { clock, random: systemRandom },
  }
  const rights = {
    archive: new Leadership({ store, name: 'archive', owner, clock }),
    sweep: new Leadership({ store, name: 'sweep', owner, clock }),
  }
  return {
    archiveOnce: async (signal) => {
      if (archive === undefined) return { seen: 0, done: 0, failed: 0 }
      return runPass({
        leadership: rights.archive,
        executions: listExecutions(store, signal === undefined ? {} : { signal }),
        isDue: (record) => hasEnded(record) && (record.events === 'hot' || record.events === 'archived'),
        work: (record) => archiveEvents(parts, archive, record),
        onFailure: (record, error) =>
          logger.warn('an execution could not be archived', fieldsOf(record, error)),
        ...(signal === undefined ? {} : { signal }),
      })
    },
    sweepOnce: async (signal) =>
      runPass({
        leadership: rights.sweep,
        executions: listExecutions(store, signal === undefined ? {} : { signal }),
        isDue: (record) => dueOf(parts, record).length > 0,
        work: (record) => sweep(parts, record),
        onFailure: (record, error) => logger.warn('an execution could not be swept', fieldsOf(record, error)),
        ...(signal === undefined ? {} : { signal }),
      }),
    release: async () => {
      await rights.archive.release()
      await rights.sweep.release()
    },
  }
}

interface Parts {
  readonly store: Store
  readonly archive: EventArchive | undefined
  readonly retention: Retention
  readonly pace: WritePace
}

/** Bound anew each time, so that its record is read and not remembered. */
function bind({ store }: Parts, { id, tenant }: ExecutionRecord): BoundScope {
  return new Scopes(store, tenant).of(id)
}

async function archiveEvents(parts: Parts, archive: EventArchive, listed: ExecutionRecord): Promise<void> {
  const bound = bind(parts, listed)
  const { record } = await bound.live.read()
  if (!hasEnded(record)) return
  if (record.events === 'hot') {
    const written = await copyLog(bound, archive)
    const held = await archive.count(placeOf(bound.scope))
    if (held < written) {
      throw new DefectError(
        'core/archive-incomplete',
        `archive execution ${record.id}: ${written} events were written, the archive holds ${held}`,
        { next: 'The events stay in the store; look at the archive.' },
      )
    }
    await markRecord(bound, parts.pace, (found) =>
      found.events === 'hot' ? { ...found, events: 'archived' } : found,
    )
  }
  if ((await bound.live.read()).record.events !== 'archived') return
  await freeHotEvents(bound)
  await markRecord(bound, parts.pace, (found) =>
    found.events === 'archived' ? { ...found, events: 'cold' } : found,
  )
}

async function copyLog({ scope }: BoundScope, archive: EventArchive): Promise<number> {
  const { store, keys } = scope
  let written = 0
  let after: string | undefined
  do {
    const range = { prefix: keys.log, limit: ARCHIVE_BATCH_EVENTS }
    const page = await store.range(after === undefined ? range : { ...range, after })
    if (page.entries.length > 0) {
      await archive.write(page.entries.map(({ value }) => rowOfEvent(decodeEvent(value), scope)))
    }
    written += page.entries.length
    after = page.next
  } while (after !== undefined)
  return written
}

type Part = 'events' | 'variables' | 'checkpoints'

/** What of an execution has been kept long enough. Nothing while it runs. */
function dueOf({ archive, retention, pace }: Parts, record: ExecutionRecord): readonly Part[] {
  if (!hasEnded(record) || isSwept(record) || record.endedAt === undefined) return []
  const ageMs = pace.clock.now().getTime() - Date.parse(record.endedAt)
  // With an archive, events that it does not hold yet are never old enough.
  const isHeld = archive === undefined || record.events === 'cold' || record.events === 'archived'
  const areEventsDue = record.events === 'clearing' || (isHeld && ageMs >= retention.eventsMs)
  return [
    ...(record.events !== 'gone' && areEventsDue ? (['events'] as const) : []),
    ...(record.variables === 'kept' && ageMs >= retention.variablesMs ? (['variables'] as const) : []),
    ...(record.checkpoints === 'kept' && ageMs >= retention.checkpointsMs ? (['checkpoints'] as const) : []),
  ]
}

async function sweep(parts: Parts, listed: ExecutionRecord): Promise<void> {
  const bound = bind(parts, listed)
  const { store, keys } = bound.scope
  const { record } = await bound.live.read()
  for (const part of dueOf(parts, record)) {
    if (part === 'events') {
      await clearEvents(bound, { archive: parts.archive, rule: undefined, pace: parts.pace })
      continue
    }
    if (part === 'variables') await store.clear(keys.marks)
    await store.clear(part === 'variables' ? keys.variables : keys.checkpoints)
    await markRecord(bound, parts.pace, (found) => ({ ...found, [part]: 'gone' }))
  }
}

function fieldsOf({ id }: ExecutionRecord, error: unknown): Readonly<Record<string, unknown>> {
  return { execution: id, kind: errorKindOf(error), error }
}
