/**
 * Which executions are over and still have something to be archived or removed: one entry for each part, in the order in
 * which they ended. Whoever makes a pass reads what is due, and nothing else; the registry may hold any number.
 *
 * - EI-1 The entries are put by the write that ends the execution, and each is deleted by the one that says its part is done.
 * - EI-2 An entry promises nothing: the record decides. One that came too late to be right is dropped by the next pass.
 */

import { REGISTRY_PAGE_ENTRIES } from '../limits.ts'
import { endedPrefix, readEndedKey, type EndedJob, type ExecutionScope } from '../keys.ts'
import type { Store, StoreOperation } from '../ports.ts'
import type { ExecutionRecord } from './execution-record.ts'
import type { Scope } from './scope.ts'

/** An execution that is over, as the index has it. */
export interface EndedEntry {
  readonly key: string
  readonly job: EndedJob
  readonly scope: ExecutionScope
}

export const ENDED_JOBS: readonly EndedJob[] = ['archive', 'events', 'variables', 'checkpoints']
/** Sorts before the end of every execution: what is half removed waits for nothing. */
const AT_ONCE = '0000-01-01T00:00:00.000Z'

const FIRST_ENTRIES = 8

/** What enters the index with the end of an execution. */
export function putsOfEnd({ keys }: Pick<Scope, 'keys'>, endedAt: string): readonly PutOperation[] {
  return ENDED_JOBS.map((job) => put(keys.ended(job, endedAt)))
}

type PutOperation = Extract<StoreOperation, { do: 'put' }>

/** What leaves the index when parts of an execution are done. */
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

/** Lets the next pass finish the removal of events, however young they are. */
export function hurryEvents(
  { keys }: Pick<Scope, 'keys'>,
  { endedAt }: ExecutionRecord,
): readonly StoreOperation[] {
  return endedAt === undefined
    ? []
    : [drop(keys.ended('events', endedAt)), put(keys.ended('events', AT_ONCE))]
}

/** Whether the part that an entry stands for is still to be done, some day. */
export function isJobOpen(job: EndedJob, { events, variables, checkpoints }: ExecutionRecord): boolean {
  if (job === 'archive') return events === 'hot' || events === 'archived'
  return { events, variables, checkpoints }[job] !== 'gone'
}

/** Those whose execution ended by `until`, the earliest first; all without it. */
export async function* listEnded(
  store: Store,
  job: EndedJob,
  options: { readonly until?: string; readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<EndedEntry, void, undefined> {
  const { until, signal } = options
  let after: string | undefined
  do {
    // Mostly the first few tell that nothing is due.
    const limit = after === undefined ? FIRST_ENTRIES : REGISTRY_PAGE_ENTRIES
    const range = { prefix: endedPrefix(job), limit }
    const page = await store.range(
      after === undefined ? range : { ...range, after },
      signal === undefined ? {} : { signal },
    )
    for (const { key } of page.entries) {
      const { endedAt, scope } = readEndedKey(key)
      if (until !== undefined && endedAt > until) return
      yield { key, job, scope }
    }
    after = page.next
  } while (after !== undefined)
}

function put(key: string): PutOperation {
  return { do: 'put', key, value: new Uint8Array() }
}

function drop(key: string): StoreOperation {
  return { do: 'delete', key }
}
