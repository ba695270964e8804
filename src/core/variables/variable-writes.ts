/**
 * Writing the variables of one execution.
 *
 * - VA-1 A write has the condition that the execution's record is unchanged: nothing is written to an ended execution.
 * - VA-2 A write has the condition that the variable is unchanged, so a batch whose response was lost never overwrites a later
 *   write.
 */

import { VARIABLE_MAX_BYTES } from '../limits.ts'
import { decodeJson, encodeJson, fromBytes, toBytes } from '../json.ts'
import type { Json } from '../../base/json.ts'
import { hasEnded, notActive } from '../namespaces/execution-record.ts'
import { commitGuarded, settleConflicts, type WritePace } from '../namespaces/guarded-write.ts'
import type { SeenRecord } from '../namespaces/live-record.ts'
import type { VariableName } from '../namespaces/names.ts'
import type { BoundScope } from '../namespaces/scopes.ts'
import type { HistoryWriter, WrittenBy } from './variable-history.ts'
import type { StoreCondition, StoreEntry, StoreOperation, StorePut } from '../ports.ts'

export interface WriteParts {
  readonly pace: WritePace
  readonly history: HistoryWriter
}

/** As `WriteParts`, of one writer. */
export interface OwnWriteParts extends WriteParts {
  readonly by: WrittenBy
}

/** The put of one variable, with its value as exact JSON. */
export function encodeVariable(bound: BoundScope, { full }: VariableName, value: unknown): StorePut {
  const text = encodeJson(value, { what: `variable "${full}"`, bytesMax: VARIABLE_MAX_BYTES })
  return { do: 'put', key: bound.scope.keys.variable(full), value: toBytes(text) }
}

export function decodeVariable({ value }: StoreEntry): Json {
  return decodeJson(fromBytes(value))
}

export async function setVariable(
  bound: BoundScope,
  name: VariableName,
  value: unknown,
  parts: OwnWriteParts,
): Promise<void> {
  const put = encodeVariable(bound, name, value)
  // Equal bytes count as our own write: the variable has the wanted value.
  const isOurs = (found: StoreEntry | undefined): boolean =>
    found !== undefined && Buffer.compare(found.value, put.value) === 0
  await changeVariable(bound, { verb: 'write', name, pace: parts.pace }, async (read) =>
    writeRecorded(bound, { read, name, operation: put, isOurs }, parts),
  )
}

/** Resolves with the written value. `change` may be called several times and must have no side effects. */
export async function updateVariable(
  bound: BoundScope,
  name: VariableName,
  change: (current: Json | undefined) => Json,
  parts: OwnWriteParts,
): Promise<Json> {
  return changeVariable(bound, { verb: 'update', name, pace: parts.pace }, async (read) => {
    const put = encodeVariable(bound, name, change(read.entry && decodeVariable(read.entry)))
    const written = await writeRecorded(bound, { read, name, operation: put }, parts)
    return written === 'conflict' ? written : decodeJson(fromBytes(put.value))
  })
}

/** Resolves with whether it existed. */
export async function removeVariable(
  bound: BoundScope,
  name: VariableName,
  parts: OwnWriteParts,
): Promise<boolean> {
  const isOurs = (found: StoreEntry | undefined): boolean => found === undefined
  return changeVariable(bound, { verb: 'remove', name, pace: parts.pace }, async (read) => {
    if (read.entry === undefined) return false
    const operation = { do: 'delete', key: read.key } as const
    const written = await writeRecorded(bound, { read, name, operation, isOurs }, parts)
    return written === 'conflict' ? written : true
  })
}

/** What a write is based on: the record of the running execution, and the variable, absent where it is not set. */
interface VariableRead {
  readonly seen: SeenRecord
  readonly key: string
  readonly entry: StoreEntry | undefined
}

/** Calls `attempt` with what is there now, again while another writer was faster. */
async function changeVariable<T>(
  bound: BoundScope,
  { verb, name, pace }: { readonly verb: string; readonly name: VariableName; readonly pace: WritePace },
  attempt: (read: VariableRead) => Promise<T | 'conflict'>,
): Promise<T> {
  const doing = `${verb} variable "${name.full}"`
  const key = bound.scope.keys.variable(name.full)
  return settleConflicts(
    doing,
    async () => {
      const seen = await seeActive(bound, doing)
      return attempt({ seen, key, entry: await bound.scope.store.get(key) })
    },
    pace,
  )
}

async function seeActive({ live }: BoundScope, doing: string): Promise<SeenRecord> {
  const known = await live.seen()
  // Read again before refusing: the known record may be out of date.
  const seen = hasEnded(known.record) ? await live.read() : known
  if (hasEnded(seen.record)) throw notActive(seen.record, doing)
  return seen
}

interface VariableWrite {
  readonly read: VariableRead
  readonly name: VariableName
  readonly operation: StoreOperation
  /** Default: where its entry in the history was written; another write may have left the same value. */
  readonly isOurs?: (found: StoreEntry | undefined) => boolean
}

/** Writes it together with its entry in the history. */
async function writeRecorded(
  bound: BoundScope,
  { read, name, operation, isOurs }: VariableWrite,
  { pace, history, by }: OwnWriteParts,
): Promise<'written' | 'conflict'> {
  const value = operation.do === 'put' ? operation.value : undefined
  const entry = history.begin(bound.scope, name.full, { by, ...(value === undefined ? {} : { value }) })
  const { key, value: ours } = entry.put
  const isEntryOurs = async (): Promise<boolean> => {
    const found = await bound.scope.store.get(key)
    return found !== undefined && Buffer.compare(found.value, ours) === 0
  }
  let outcome: 'written' | 'conflict' | 'unknown' = 'unknown'
  try {
    const operations = [operation, entry.put]
    outcome = await writeOnce(bound, { read, operations, isOurs: isOurs ?? isEntryOurs }, pace)
    return outcome
  } finally {
    entry.settle(outcome)
  }
}

interface GuardedVariableWrite {
  readonly read: VariableRead
  readonly operations: readonly StoreOperation[]
  readonly isOurs: (found: StoreEntry | undefined) => boolean | Promise<boolean>
}

async function writeOnce(
  { scope, live }: BoundScope,
  { read: { seen, key, entry }, operations, isOurs }: GuardedVariableWrite,
  pace: WritePace,
): Promise<'written' | 'conflict'> {
  const asRead: StoreCondition =
    entry === undefined ? { key, is: 'absent' } : { key, is: 'at', revision: entry.revision }
  const { committed } = await commitGuarded(
    scope.store,
    {
      batch: { conditions: [live.conditionOn(seen), asRead], operations },
      hasHappened: async () => {
        const found = await scope.store.get(key)
        if (found?.revision !== entry?.revision) return (await isOurs(found)) ? 'yes' : 'no'
        return (await live.find())?.revision === seen.revision ? 'open' : 'no'
      },
    },
    pace,
  )
  if (committed) return 'written'
  live.forget()
  return 'conflict'
}
