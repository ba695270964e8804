/**
 * Writing the variables of one execution.
 *
 * - VA-1 A write has the condition that the execution's record is unchanged: nothing is written to an ended execution.
 * - VA-2 A write has the condition that the variable is unchanged, so a batch whose response was lost never overwrites a later
 *   write.
 */

import { VARIABLE_MARK_MS, VARIABLE_MAX_BYTES } from '../limits.ts'
import { decodeJson, encodeJson, fromBytes, toBytes } from '../json.ts'
import type { Json } from '../../base/json.ts'
import { hasEnded, notActive } from '../namespaces/execution-record.ts'
import { commitGuarded, settleConflicts, type WritePace } from '../namespaces/guarded-write.ts'
import type { SeenRecord } from '../namespaces/live-record.ts'
import type { MakeId } from '../namespaces/make-id.ts'
import type { VariableName } from '../namespaces/names.ts'
import type { BoundScope } from '../namespaces/scopes.ts'
import type { StoreCondition, StoreEntry, StoreOperation, StorePut } from '../ports.ts'

export interface WriteParts {
  readonly pace: WritePace
  readonly makeId: MakeId
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
  { pace }: WriteParts,
): Promise<void> {
  const put = encodeVariable(bound, name, value)
  // Equal bytes count as our own write: the variable has the wanted value.
  const isOurs = (found: StoreEntry | undefined): boolean =>
    found !== undefined && Buffer.compare(found.value, put.value) === 0
  await changeVariable(bound, { verb: 'write', name, pace }, async (read) =>
    writeOnce(bound, { read, operations: [put], isOurs }, pace),
  )
}

/** Resolves with the written value. `change` may be called several times and must have no side effects. */
export async function updateVariable(
  bound: BoundScope,
  name: VariableName,
  change: (current: Json | undefined) => Json,
  { pace, makeId }: WriteParts,
): Promise<Json> {
  const { store, keys } = bound.scope
  return changeVariable(bound, { verb: 'update', name, pace }, async (read) => {
    const put = encodeVariable(bound, name, change(read.entry && decodeVariable(read.entry)))
    // Another update may write the same value; only our own mark tells whether this one has happened.
    const mark = keys.mark(makeId('mark'))
    const operations = [put, { do: 'put', key: mark, value: toBytes('1'), ttlMs: VARIABLE_MARK_MS } as const]
    const isOurs = async (): Promise<boolean> => (await store.get(mark)) !== undefined
    const written = await writeOnce(bound, { read, operations, isOurs }, pace)
    return written === 'conflict' ? written : decodeJson(fromBytes(put.value))
  })
}

/** Resolves with whether it existed. */
export async function removeVariable(
  bound: BoundScope,
  name: VariableName,
  { pace }: WriteParts,
): Promise<boolean> {
  const isOurs = (found: StoreEntry | undefined): boolean => found === undefined
  return changeVariable(bound, { verb: 'remove', name, pace }, async (read) => {
    if (read.entry === undefined) return false
    const operations = [{ do: 'delete', key: read.key } as const]
    const written = await writeOnce(bound, { read, operations, isOurs }, pace)
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
  readonly operations: readonly StoreOperation[]
  readonly isOurs: (found: StoreEntry | undefined) => boolean | Promise<boolean>
}

async function writeOnce(
  { scope, live }: BoundScope,
  { read: { seen, key, entry }, operations, isOurs }: VariableWrite,
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
