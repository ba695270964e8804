/** Removing all events of one execution; of a running one only where it is forced. */

import { RefusedError } from '../../base/errors.ts'
import type { StoreEntry } from '../ports.ts'
import { dropsOf, hurryEvents } from '../namespaces/ended-index.ts'
import { hasEnded } from '../namespaces/execution-record.ts'
import { settleConflicts, type WritePace } from '../namespaces/guarded-write.ts'
import { markRecord } from '../namespaces/mark-record.ts'
import type { BoundScope } from '../namespaces/scopes.ts'
import type { EventArchive } from './archive-port.ts'
import { placeOf } from './archived-events.ts'
import { clearPrefixes } from '../clear-prefixes.ts'
import { readPages } from '../read-pages.ts'
import { decodeEvent } from './event.ts'

export interface ClearRule {
  /** Also while the execution is running; for operators. Events published meanwhile stay. */
  readonly force?: boolean
}

export interface ClearParts {
  readonly archive: EventArchive | undefined
  readonly rule: ClearRule | undefined
  readonly pace: WritePace
}

/** May be called again if it was interrupted. */
export async function clearEvents(bound: BoundScope, { archive, rule, pace }: ClearParts): Promise<number> {
  const { scope, live } = bound
  const { record } = await live.read()
  if (!hasEnded(record)) {
    if (rule?.force === true) return clearRunning(bound, pace)
    throw new RefusedError(
      'core/still-running',
      `clear the events of execution ${scope.execution}: it is running`,
      { next: 'Wait until it has ended, or use force as an operator.' },
    )
  }
  if (record.events === 'gone') return 0
  // Marked first: a partly removed log is never taken for a complete one, and the next call finishes the removal.
  await markRecord(
    bound,
    pace,
    (found) => ({ ...found, events: 'clearing' }),
    (found) => hurryEvents(scope, found),
  )
  const inStore = await freeHotEvents(bound, [scope.keys.waiting])
  const inArchive = archive === undefined ? 0 : await archive.remove(placeOf(scope))
  await markRecord(
    bound,
    pace,
    (found) => ({ ...found, events: 'gone' }),
    (found) => dropsOf(scope, found, ['archive', 'events']),
  )
  return Math.max(inStore, inArchive)
}

/**
 * Removes the events of an ended execution from the store, after what else is to be removed. Returns how many events the log had.
 */
export async function freeHotEvents(
  { scope: { store, keys }, live }: BoundScope,
  before: readonly string[] = [],
): Promise<number> {
  if ((await live.seen()).record.eventTtlMs !== undefined) {
    await store.commit({ operations: [{ do: 'delete', key: keys.logEnd }] })
  }
  const counts = await clearPrefixes(store, [...before, keys.idempotency, keys.events, keys.log])
  return counts.at(-1) ?? 0
}

async function clearRunning(bound: BoundScope, pace: WritePace): Promise<number> {
  const { scope } = bound
  const { store, keys } = scope
  // Events appended from now on have a higher number, because every writer must read this mark first.
  const { clearedUpTo } = await settleConflicts(
    `clear the events of execution ${scope.execution}`,
    async () => {
      const page = await store.range({ prefix: keys.log, order: 'descending', limit: 1 })
      const [last] = page.entries
      return markRecord(bound, pace, (record) =>
        last === undefined ? record : { ...record, clearedUpTo: decodeEvent(last.value).sequence },
      )
    },
    pace,
  )
  await removeUpTo(bound, keys.events, clearedUpTo)
  return removeUpTo(bound, keys.log, clearedUpTo)
}

/** Entries per batch. */
const PIECE = 50

async function removeUpTo(
  { scope: { store } }: BoundScope,
  prefix: string,
  sequence: number,
): Promise<number> {
  let count = 0
  for await (const page of readPages(store, { prefix, limit: PIECE })) {
    const old = page.filter(({ value }) => decodeEvent(value).sequence <= sequence)
    for (const entry of await removeAsSeen(store, old)) {
      // A newer event of this type was written meanwhile: it stays, and the others are removed one by one.
      await removeAsSeen(store, [entry])
    }
    count += old.length
  }
  return count
}

/** Returns the entries if they could not be removed together, because one of them has changed. */
async function removeAsSeen(
  store: BoundScope['scope']['store'],
  entries: readonly StoreEntry[],
): Promise<readonly StoreEntry[]> {
  if (entries.length === 0) return []
  const outcome = await store.commit({
    conditions: entries.map(({ key, revision }) => ({ key, is: 'at', revision })),
    operations: entries.map(({ key }) => ({ do: 'delete', key })),
  })
  return outcome.committed ? [] : entries
}
