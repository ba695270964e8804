/** Reads what was written to one variable. */

import { isDeepStrictEqual } from 'node:util'
import { DefectError } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import { decodeJson, fromBytes } from '../json.ts'
import {
  VARIABLE_HISTORY_MAX,
  VARIABLE_HISTORY_READ_MAX,
  VARIABLE_HISTORY_VALUE_MAX_BYTES,
} from '../limits.ts'
import type { VariableName } from '../namespaces/names.ts'
import type { BoundScope } from '../namespaces/scopes.ts'
import type { Store, StoreEntry } from '../ports.ts'
import { readPages } from '../read-pages.ts'
import { MIXED_SUBJECT, withoutSecrets, type HistoryEntry, type WrittenBy } from './variable-history.ts'

/** One write of a variable. */
export interface VariableWriteRecord {
  /** `unknown`: the present value, whose write left no entry, such as one of an earlier version. */
  readonly kind: 'set' | 'removed' | 'unknown'
  /** Absent where it was removed, and where the value is too large to be kept; see `bytes`. */
  readonly value?: Json
  /** Parts of the value look like a secret, and are replaced. */
  readonly withheld?: true
  /** The size of a value that is too large to be kept. */
  readonly bytes?: number
  /** ISO 8601, UTC, by the clock of the writer. */
  readonly at?: string
  /** Of the variable, as it was after this write: a later one has a higher one. */
  readonly revision?: number
  readonly by: WrittenBy
}

export interface VariableHistory {
  readonly name: string
  /** The latest first; the first one is the present value, or its removal. */
  readonly writes: readonly VariableWriteRecord[]
  /** Whether there were earlier writes that are not kept any more. */
  readonly hasDropped: boolean
}

interface Found {
  readonly entry: HistoryEntry
  readonly revision: number
}

interface Place {
  readonly found: readonly Found[]
  readonly hasDropped: boolean
}

export async function readVariableHistory(
  { scope, live }: BoundScope,
  { full, namespace }: VariableName,
): Promise<VariableHistory> {
  const { store, keys } = scope
  const { record } = await live.seen()
  // First, so that its entry is found, whatever is written meanwhile.
  const present = await store.get(keys.variable(full))
  const places = await Promise.all(
    [full, namespace, MIXED_SUBJECT].map((subject) => readPlace(store, keys.historyOf(subject), full)),
  )
  const found = places.flatMap((place) => place.found).sort(latestFirst)
  const shown = found.slice(0, VARIABLE_HISTORY_MAX)
  const isFixed = namespace === 'pipeline.input' || namespace === 'system'
  const writes = withPresent(
    shown.map((each) => recordOf(each, full)),
    present && presentOf(full, present, isFixed ? record.startedAt : undefined),
  )
  return Object.freeze({
    name: full,
    writes: Object.freeze(writes.slice(0, VARIABLE_HISTORY_MAX)),
    hasDropped: found.length > shown.length || places.some((place) => place.hasDropped),
  })
}

/** Entries of one batch have the same revision. */
function latestFirst(left: Found, right: Found): number {
  return (
    right.entry.atMs - left.entry.atMs ||
    right.revision - left.revision ||
    right.entry.count - left.entry.count
  )
}

async function readPlace(store: Store, prefix: string, name: string): Promise<Place> {
  const found: Found[] = []
  let [count, hasDropped] = [0, false]
  for await (const page of readPages(store, { prefix })) {
    for (const { value, revision } of page) {
      const entry = decode(value)
      hasDropped ||= entry.again === true
      const { values, sizes = {}, removed = [] } = entry
      if (Object.hasOwn(values, name) || Object.hasOwn(sizes, name) || removed.includes(name))
        found.push({ entry, revision })
    }
    count += page.length
    if (count >= VARIABLE_HISTORY_READ_MAX) return { found, hasDropped: true }
  }
  return { found, hasDropped }
}

function recordOf({ entry, revision }: Found, name: string): VariableWriteRecord {
  const { atMs, by, values, sizes = {}, withheld = [], removed = [] } = entry
  const at = new Date(atMs).toISOString()
  // The revision of a removal is that of its entry alone.
  if (removed.includes(name)) return { kind: 'removed', at, by }
  const value = values[name]
  const bytes = sizes[name]
  return {
    kind: 'set',
    ...(value === undefined ? {} : { value }),
    ...(withheld.includes(name) ? { withheld: true } : {}),
    ...(bytes === undefined ? {} : { bytes }),
    ...{ at, revision, by },
  }
}

/** Inputs, and what was written before there were entries, have only their value. */
function presentOf(name: string, { value, revision }: StoreEntry, startedAt?: string): VariableWriteRecord {
  const text = fromBytes(value)
  const bytes = value.byteLength
  const shown = withoutSecrets(name, text)
  return {
    ...(startedAt === undefined
      ? { kind: 'unknown', by: {} }
      : { kind: 'set', at: startedAt, by: { event: 'pipeline.started' } }),
    revision,
    ...(bytes > VARIABLE_HISTORY_VALUE_MAX_BYTES ? { bytes } : { value: decodeJson(shown) }),
    ...(shown === text ? {} : { withheld: true }),
  }
}

function withPresent(
  writes: readonly VariableWriteRecord[],
  present: VariableWriteRecord | undefined,
): readonly VariableWriteRecord[] {
  if (present === undefined) return writes
  const { revision = 0 } = present
  // A later one came while the entries were read.
  if (writes.some((write) => (write.revision ?? 0) >= revision)) return writes
  const [latest] = writes
  // Encrypted again, every entry has another revision.
  const isSame = latest?.kind === 'set' && isDeepStrictEqual(latest.value, present.value)
  return isSame && latest.bytes === present.bytes ? writes : [present, ...writes]
}

function decode(bytes: Uint8Array): HistoryEntry {
  let cause: unknown
  try {
    const entry = decodeJson(fromBytes(bytes)) as unknown as Partial<HistoryEntry>
    if (typeof entry.atMs === 'number' && typeof entry.values === 'object') return entry as HistoryEntry
  } catch (error) {
    cause = error
  }
  throw new DefectError(
    'core/bad-record',
    'read the history of a variable: the value is not an entry of it',
    {
      next: 'Check whether another program writes to this store.',
      cause,
    },
  )
}
