/**
 * An index of ended executions that still have something to be archived or removed: one entry per part, ordered by the time
 * of the end. A maintenance pass reads only what is due, however many executions the registry holds.
 *
 * - EI-1 The write that ends an execution puts its entries; the write that records a part as done deletes the part's entry.
 * - EI-2 An entry is only a hint: the execution's record decides. The next pass deletes an entry that is out of date.
 */

import { REGISTRY_PAGE_ENTRIES } from '../limits.ts'
import { endedPrefix, readEndedKey, type EndedJob, type ExecutionScope } from '../keys.ts'
import type { Store, StoreCallOptions, StoreOperation, StorePut } from '../ports.ts'
import { readPages } from '../read-pages.ts'
import type { ExecutionRecord } from './execution-record.ts'
import type { Scope } from './scope.ts'

/** An entry of the index. */
export interface EndedEntry {
  readonly key: string
  readonly job: EndedJob
  readonly scope: ExecutionScope
}

export const ENDED_JOBS: readonly EndedJob[] = ['archive', 'events', 'variables', 'checkpoints']
/** Sorts before the end of every execution: a removal that was interrupted is due at once. */
const AT_ONCE = '0000-01-01T00:00:00.000Z'

const FIRST_ENTRIES = 8

/** Entries to put when an execution ends. */
export function putsOfEnd({ keys }: Pick<Scope, 'keys'>, endedAt: string): readonly StorePut[] {
  return ENDED_JOBS.map((job) => put(keys.ended(job, endedAt)))
}

/** Entries to delete when parts of an execution are done. */
export function dropsOf(
  { keys }: Pick<Scope, 'keys'>,
  { endedAt }: ExecutionRecord,
  jobs: readonly EndedJob[],
): readonly StoreOperation[] {
  if (endedAt === undefined) return []
  return jobs.flatMap((job) => [
    drop(keys.ended(job, endedAt)),
    ...(job === 'events' ? [drop(keys.ended(job, AT_ONCE))] : []),
  ])
}

/** Makes the removal of events due at once, whatever their age. */
export function hurryEvents(
  { keys }: Pick<Scope, 'keys'>,
  { endedAt }: ExecutionRecord,
): readonly StoreOperation[] {
  return endedAt === undefined
    ? []
    : [drop(keys.ended('events', endedAt)), put(keys.ended('events', AT_ONCE))]
}

/** Whether a part is not done yet. */
export function isJobOpen(job: EndedJob, { events, variables, checkpoints }: ExecutionRecord): boolean {
  if (job === 'archive') return events === 'hot' || events === 'archived'
  return { events, variables, checkpoints }[job] !== 'gone'
}

/** Entries of executions that ended by `until` (default: all), the earliest first. */
export async function* listEnded(
  store: Store,
  job: EndedJob,
  { until, signal }: StoreCallOptions & { readonly until?: string } = {},
): AsyncGenerator<EndedEntry, void, undefined> {
  // Usually the first few show that nothing is due.
  const range = { prefix: endedPrefix(job), first: FIRST_ENTRIES, limit: REGISTRY_PAGE_ENTRIES }
  for await (const page of readPages(store, range, { signal })) {
    for (const { key } of page) {
      const { endedAt, scope } = readEndedKey(key)
      if (until !== undefined && endedAt > until) return
      yield { key, job, scope }
    }
  }
}

function put(key: string): StorePut {
  return { do: 'put', key, value: new Uint8Array() }
}

function drop(key: string): StoreOperation {
  return { do: 'delete', key }
}
