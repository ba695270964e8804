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
import type { HistoryWriter, VariablePlaces, WrittenBy } from './variable-history.ts'
import type { Store, StoreCondition, StoreEntry, StoreOperation, StorePut } from '../ports.ts'

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
  return putOf(bound.scope.keys.variable(full), encodeValue(full, value))
}

function encodeValue(full: string, value: unknown): string {
  return encodeJson(value, { what: `variable "${full}"`, bytesMax: VARIABLE_MAX_BYTES })
}

function putOf(key: string, text: string): StorePut {
  return { do: 'put', key, value: toBytes(text), ttlMs: undefined }
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
  const text = encodeValue(name.full, value)
  const target = targetOf(bound, name, parts)
  const operation = putOf(target.key, text)
  const doing = doingOf('write', name)
  const attempt = async (): Promise<'written' | 'conflict'> => {
    const seen = await seeActive(bound, doing)
    // Where this process has written it last, its revision is known: no read. Where that is out of date, it is a conflict.
    const revision = target.places.revision ?? (await readRevision(bound, target))
    return writeRecorded(bound, { target, seen, revision, operation, text }, parts)
  }
  await settleConflicts(doing, attempt, parts.pace)
}

/** Resolves with the written value. `change` may be called several times and must have no side effects. */
export async function updateVariable(
  bound: BoundScope,
  name: VariableName,
  change: (current: Json | undefined) => Json,
  parts: OwnWriteParts,
): Promise<Json> {
  const target = targetOf(bound, name, parts)
  const doing = doingOf('update', name)
  const attempt = async (): Promise<{ readonly value: Json } | 'conflict'> => {
    const seen = await seeActive(bound, doing)
    const entry = await readEntry(bound, target.key)
    const text = encodeValue(name.full, change(entry && decodeVariable(entry)))
    const write = { target, seen, revision: entry?.revision, operation: putOf(target.key, text), text }
    const written = await writeRecorded(bound, write, parts)
    return written === 'conflict' ? written : { value: decodeJson(text) }
  }
  return (await settleConflicts(doing, attempt, parts.pace)).value
}

/** Resolves with whether it existed. */
export async function removeVariable(
  bound: BoundScope,
  name: VariableName,
  parts: OwnWriteParts,
): Promise<boolean> {
  const target = targetOf(bound, name, parts)
  const doing = doingOf('remove', name)
  const attempt = async (): Promise<boolean | 'conflict'> => {
    const seen = await seeActive(bound, doing)
    const entry = await readEntry(bound, target.key)
    if (entry === undefined) return false
    const operation = { do: 'delete', key: target.key } as const
    const write = { target, seen, revision: entry.revision, operation, text: undefined }
    return (await writeRecorded(bound, write, parts)) === 'conflict' ? 'conflict' : true
  }
  return settleConflicts(doing, attempt, parts.pace)
}

/** The variable that is written, and what this process remembers of it. */
interface WriteTarget {
  readonly full: string
  readonly key: string
  readonly places: VariablePlaces
}

function targetOf({ scope }: BoundScope, { full }: VariableName, { history }: OwnWriteParts): WriteTarget {
  const key = scope.keys.variable(full)
  return { full, key, places: history.placesOf(scope, key, full) }
}

function doingOf(verb: string, { full }: VariableName): string {
  return `${verb} variable "${full}"`
}

function readEntry({ scope: { store } }: BoundScope, key: string): MaybePromise<StoreEntry | undefined> {
  return store.peek === undefined ? store.get(key) : store.peek(key)
}

async function readRevision(bound: BoundScope, { key, places }: WriteTarget): Promise<number | undefined> {
  const revision = (await readEntry(bound, key))?.revision
  places.noteRead(revision)
  return revision
}

type MaybePromise<T> = T | Promise<T>

async function seeActive({ live }: BoundScope, doing: string): Promise<SeenRecord> {
  const known = live.known ?? (await live.read())
  // Read again before refusing: the known record may be out of date.
  const seen = hasEnded(known.record) ? await live.read() : known
  if (hasEnded(seen.record)) throw notActive(seen.record, doing)
  return seen
}

interface VariableWrite {
  readonly target: WriteTarget
  readonly seen: SeenRecord
  /** The variable's, on which the write is based; none where it is not set. */
  readonly revision: number | undefined
  readonly operation: StoreOperation
  /** The value of a put. */
  readonly text: string | undefined
}

/** Writes it together with its entry in the history, by which a write whose response was lost is recognised. */
async function writeRecorded(
  { scope, live }: BoundScope,
  { target: { full, key, places }, seen, revision, operation, text }: VariableWrite,
  { pace, history, by }: OwnWriteParts,
): Promise<'written' | 'conflict'> {
  const entry = history.begin(places, { name: full, text, by })
  const asRead: StoreCondition = revision === undefined ? { key, is: 'absent' } : { key, is: 'at', revision }
  let outcome: 'written' | 'conflict' | 'unknown' = 'unknown'
  let after: number | undefined
  try {
    const result = await commitGuarded(
      scope.store,
      {
        batch: { conditions: [live.conditionOn(seen), asRead], operations: [operation, entry.put] },
        hasHappened: async () => {
          const found = await scope.store.get(key)
          if (found?.revision !== revision) return (await isStored(scope.store, entry.put)) ? 'yes' : 'no'
          return (await live.find())?.revision === seen.revision ? 'open' : 'no'
        },
      },
      pace,
    )
    outcome = result.committed ? 'written' : 'conflict'
    if (operation.do === 'put') after = result.revision
    if (outcome === 'conflict') live.forget()
    return outcome
  } finally {
    entry.settle(outcome, after)
  }
}

async function isStored(store: Store, { key, value }: StorePut): Promise<boolean> {
  const found = await store.get(key)
  return found !== undefined && Buffer.compare(found.value, value) === 0
}
