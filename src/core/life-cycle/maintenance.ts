/**
 * Maintenance of ended executions: their events are archived, and data whose retention time is over is removed.
 *
 * - MT-1 Running executions are never touched: each step names one execution and first reads its record, which says that it
 *   has ended. It runs again only while all its parts are kept (`reopenRecord`), and a part is marked before it is removed. Its
 *   id is not used again.
 * - MT-2 Events leave the store only when the archive confirms that it holds all of them.
 * - MT-3 Each step can be interrupted anywhere; the next pass of any instance repeats it from the start.
 * - MT-4 A pass reads only entries that are due, not the whole registry; see `ended-index.ts`.
 */

import { systemClock, type Clock } from '../../base/clock.ts'
import { errorKindOf } from '../../base/errors.ts'
import { RETENTION_CHECKPOINTS_MS, RETENTION_EVENTS_MS, RETENTION_VARIABLES_MS } from '../limits.ts'
import { silentLogger, type Logger } from '../../base/logger.ts'
import { systemRandom } from '../../base/random.ts'
import type { EventArchive } from '../events/archive-port.ts'
import type { ExecutionId, TenantId } from '../keys.ts'
import { isJobOpen, listEnded, type EndedEntry } from '../namespaces/ended-index.ts'
import { hasEnded, type ExecutionStatus } from '../namespaces/execution-record.ts'
import { makeId, type MakeId } from '../namespaces/make-id.ts'
import { Scopes, type BoundScope } from '../namespaces/scopes.ts'
import type { Store } from '../ports.ts'
import { archiveExecution } from './archive-execution.ts'
import { completeIndex } from './complete-index.ts'
import { Leadership } from './leadership.ts'
import { runPass, type Pass, type PassReport } from './run-pass.ts'
import {
  findDue,
  sweepExecution,
  SWEPT_PARTS,
  type Retention,
  type SweepParts,
  type SweptPart,
} from './sweep-execution.ts'

export const DEFAULT_RETENTION: Retention = {
  eventsMs: RETENTION_EVENTS_MS,
  variablesMs: RETENTION_VARIABLES_MS,
  checkpointsMs: RETENTION_CHECKPOINTS_MS,
}

export interface MaintenanceOptions {
  /** The store with the executions, those of all tenants. */
  readonly store: Store
  /** Where events of ended executions are moved to. Default: events are not archived. */
  readonly archive?: EventArchive
  /** How long data is kept after its execution ended. Default: events 30 days, variables and checkpoints 7 days. */
  readonly retention?: Partial<Retention>
  /**
   * Removes other data about executions whose events are about to be removed, such as messages that could not be delivered.
   * May be called again for the same executions.
   */
  readonly forget?: (executions: readonly MaintainedExecution[]) => Promise<void>
  /** Called whenever a pass has got on, also where that is only to see that another instance works. */
  readonly onProgress?: (of: 'archive' | 'sweep') => void
  /** Decides which data is old enough, and when a lease is over. Default: the machine's clock. */
  readonly clock?: Clock
  /** Gets a warning for each execution that could not be archived or swept. Default: nothing is logged. */
  readonly logger?: Logger
  /** Makes the id under which this instance holds its leases. Default: random ids. */
  readonly makeId?: MakeId
}

export interface MaintainedExecution {
  readonly execution: ExecutionId
  readonly tenant: TenantId | undefined
}

/** An execution of which the next sweep removes something. */
export interface DueExecution extends MaintainedExecution {
  readonly status: ExecutionStatus
  readonly endedAt: string
  readonly parts: readonly SweptPart[]
}

export interface PassOptions {
  /**
   * For a program that makes one pass and ends: where another instance has the right, waits until that one shows that it works,
   * or takes over from it when it has not within 30 seconds. Without this a pass returns at once, and instances that go on
   * making passes take over.
   */
  readonly waits?: boolean
}

export interface Maintenance {
  /** Moves events of ended executions to the archive. `undefined`: another instance is doing so. */
  readonly archiveOnce: (signal?: AbortSignal, options?: PassOptions) => Promise<PassReport | undefined>
  /** Removes data whose retention time is over. `undefined`: another instance is doing so. */
  readonly sweepOnce: (signal?: AbortSignal, options?: PassOptions) => Promise<PassReport | undefined>
  /** What a sweep would remove now; changes nothing. */
  readonly listDue: (signal?: AbortSignal) => AsyncGenerator<DueExecution, void, undefined>
  /** Releases the lease for archiving or for sweeping, or both. */
  readonly release: (right?: 'archive' | 'sweep') => Promise<void>
}

/** Across all tenants of the store; for hosts and operators. Starts no timer. */
export function openMaintenance(options: MaintenanceOptions): Maintenance {
  const { store, archive, forget, onProgress, clock = systemClock, logger = silentLogger } = options
  const owner = (options.makeId ?? makeId)('mark')
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
  let isComplete = false
  const prepare = async (signal: AbortSignal | undefined): Promise<void> => {
    if (!isComplete) await completeIndex(store, signal)
    isComplete = true
  }
  const pass = (
    right: 'archive' | 'sweep',
    signal: AbortSignal | undefined,
    rest: Pick<Pass, 'lists' | 'workOnRow'> & {
      readonly options: PassOptions | undefined
      readonly doing: string
      readonly work: (bound: BoundScope) => Promise<boolean>
    },
  ): Promise<PassReport | undefined> =>
    runPass({
      ...rest,
      leadership: rights[right],
      onProgress: () => onProgress?.(right),
      signal,
      waits: rest.options?.waits ?? false,
      prepare: () => prepare(signal),
      work: (entry) => workOn(store, entry, rest.work),
      onFailure: ({ scope }, error) =>
        logger.warn(`an execution could not be ${rest.doing}`, {
          execution: scope.execution,
          kind: errorKindOf(error),
          error,
        }),
    })
  return {
    archiveOnce: async (signal, options) => {
      if (archive === undefined) {
        onProgress?.('archive')
        return { seen: 0, done: 0, failed: 0 }
      }
      return pass('archive', signal, {
        options,
        doing: 'archived',
        lists: [() => listEnded(store, 'archive', { signal })],
        work: (bound) => archiveExecution(bound, { archive, pace: parts.pace }),
      })
    },
    sweepOnce: async (signal, options) =>
      pass('sweep', signal, {
        options,
        doing: 'swept',
        lists: SWEPT_PARTS.map((part) => () => listOld(parts, part, signal)),
        work: (bound) => sweepExecution(bound, parts),
        workOnRow: forget && ((row) => forgetRow(parts, row, forget)),
      }),
    listDue: (signal) => listDue(parts, signal),
    release: async (right) => {
      if (right !== 'sweep') await rights.archive.release()
      if (right !== 'archive') await rights.sweep.release()
    },
  }
}

interface Parts extends SweepParts {
  readonly store: Store
}

/** Entries of this part whose retention time is over. */
function listOld(
  { store, retention, pace }: Parts,
  part: SweptPart,
  signal: AbortSignal | undefined,
): AsyncGenerator<EndedEntry, void, undefined> {
  const untilMs = pace.clock.now().getTime() - retention[`${part}Ms`]
  // Interrupted removals of events have the earliest time, so they are due even if events are kept for ever.
  return listEnded(store, part, { signal, until: new Date(Math.max(untilMs, 0)).toISOString() })
}

/** A new scope each time, so that the record is read again. */
function bind(store: Store, { scope: { tenant, execution } }: EndedEntry): BoundScope {
  return new Scopes(store, tenant).of(execution)
}

async function workOn(
  store: Store,
  entry: EndedEntry,
  work: (bound: BoundScope) => Promise<boolean>,
): Promise<boolean> {
  const bound = bind(store, entry)
  const found = await bound.live.find()
  if (found !== undefined && hasEnded(found.record) && isJobOpen(entry.job, found.record)) return work(bound)
  // Nothing is left to do: delete the outdated entry, unless another instance was faster.
  await store.commit({ operations: [{ do: 'delete', key: entry.key }] })
  return false
}

async function forgetRow(
  parts: Parts,
  row: readonly EndedEntry[],
  forget: NonNullable<MaintenanceOptions['forget']>,
): Promise<void> {
  const due: MaintainedExecution[] = []
  for (const entry of row) {
    const bound = bind(parts.store, entry)
    const found = await bound.live.find()
    if (found === undefined || !findDue(parts, found.record).includes('events')) continue
    // First, because a delivery from there would create new data to forget.
    await parts.store.clear(bound.scope.keys.waiting)
    due.push({ execution: entry.scope.execution, tenant: entry.scope.tenant })
  }
  if (due.length > 0) await forget(due)
}

async function* listDue(
  parts: Parts,
  signal: AbortSignal | undefined,
): AsyncGenerator<DueExecution, void, undefined> {
  const told = new Set<string>()
  await completeIndex(parts.store, signal)
  for (const part of SWEPT_PARTS) {
    for await (const entry of listOld(parts, part, signal)) {
      const { scope, live } = bind(parts.store, entry)
      if (told.has(scope.keys.record)) continue
      told.add(scope.keys.record)
      const found = await live.find()
      const due = found === undefined ? [] : findDue(parts, found.record)
      if (found?.record.endedAt === undefined || due.length === 0) continue
      const { status, endedAt } = found.record
      yield { execution: scope.execution, tenant: scope.tenant, status, endedAt, parts: due }
    }
  }
}
