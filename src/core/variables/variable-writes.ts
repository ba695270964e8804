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
import type { StoreBatch, StoreCondition, StoreEntry, StoreOperation } from '../ports.ts'

export type VariablePut = Extract<StoreOperation, { do: 'put' }>

export interface WriteParts {
  readonly pace: WritePace
  readonly makeId: MakeId
}

/** The put of one variable, with its value as exact JSON. */
export function encodeVariable(bound: BoundScope, { full }: VariableName, value: unknown): VariablePut {
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
  await settleConflicts(
    `write variable "${name.full}"`,
    async () => {
      const seen = await seeActive(bound, `write variable "${name.full}"`)
      const entry = await bound.scope.store.get(put.key)
      const batch = { conditions: conditionsFor(bound, seen, put.key, entry), operations: [put] }
      // Equal bytes count as our own write: the variable has the wanted value.
      const isOurs = (found: StoreEntry | undefined): boolean =>
        found !== undefined && Buffer.compare(found.value, put.value) === 0
      return writeOnce(bound, { batch, key: put.key, entry, seen, isOurs }, pace)
    },
    pace,
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
  return settleConflicts(
    `update variable "${name.full}"`,
    async () => {
      const seen = await seeActive(bound, `update variable "${name.full}"`)
      const entry = await store.get(keys.variable(name.full))
      const put = encodeVariable(bound, name, change(entry === undefined ? undefined : decodeVariable(entry)))
      // Another update may write the same value; only our own mark tells whether this one has happened.
      const mark = keys.mark(makeId('mark'))
      const batch: StoreBatch = {
        conditions: conditionsFor(bound, seen, put.key, entry),
        operations: [put, { do: 'put', key: mark, value: toBytes('1'), ttlMs: VARIABLE_MARK_MS }],
      }
      const isOurs = async (): Promise<boolean> => (await store.get(mark)) !== undefined
      const written = await writeOnce(bound, { batch, key: put.key, entry, seen, isOurs }, pace)
      return written === 'conflict' ? written : decodeJson(fromBytes(put.value))
    },
    pace,
  )
}

/** Resolves with whether it existed. */
export async function removeVariable(
  bound: BoundScope,
  name: VariableName,
  { pace }: WriteParts,
): Promise<boolean> {
  const key = bound.scope.keys.variable(name.full)
  return settleConflicts(
    `remove variable "${name.full}"`,
    async () => {
      const seen = await seeActive(bound, `remove variable "${name.full}"`)
      const entry = await bound.scope.store.get(key)
      if (entry === undefined) return false
      const batch: StoreBatch = {
        conditions: conditionsFor(bound, seen, key, entry),
        operations: [{ do: 'delete', key }],
      }
      const isOurs = (found: StoreEntry | undefined): boolean => found === undefined
      const written = await writeOnce(bound, { batch, key, entry, seen, isOurs }, pace)
      return written === 'conflict' ? written : true
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

function conditionsFor(
  { live }: BoundScope,
  seen: SeenRecord,
  key: string,
  entry: StoreEntry | undefined,
): readonly StoreCondition[] {
  const asRead: StoreCondition =
    entry === undefined ? { key, is: 'absent' } : { key, is: 'at', revision: entry.revision }
  return [live.conditionOn(seen), asRead]
}

interface VariableWrite {
  readonly batch: StoreBatch
  readonly key: string
  /** The variable as it was read. */
  readonly entry: StoreEntry | undefined
  readonly seen: SeenRecord
  readonly isOurs: (found: StoreEntry | undefined) => boolean | Promise<boolean>
}

async function writeOnce(
  { scope, live }: BoundScope,
  { batch, key, entry, seen, isOurs }: VariableWrite,
  pace: WritePace,
): Promise<'written' | 'conflict'> {
  const { outcome } = await commitGuarded(
    scope.store,
    {
      batch,
      hasHappened: async () => {
        const found = await scope.store.get(key)
        if (found?.revision !== entry?.revision) return (await isOurs(found)) ? 'yes' : 'no'
        return (await live.find())?.revision === seen.revision ? 'open' : 'no'
      },
    },
    pace,
  )
  if (outcome !== false) return 'written'
  live.forget()
  return 'conflict'
}
