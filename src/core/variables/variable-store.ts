/** The variables of executions. Every call names exactly one execution. */

import type { Json } from '../../base/json.ts'
import type { ExecutionId } from '../keys.ts'
import type { WritePace } from '../namespaces/guarded-write.ts'
import type { MakeId } from '../namespaces/make-id.ts'
import { parseVariableName } from '../namespaces/names.ts'
import type { Scopes } from '../namespaces/scopes.ts'
import type { StorePut } from '../ports.ts'
import { listVariablePage, listVariables, type VariableFilter, type VariablePage } from './list-variables.ts'
import { readVariableHistory, type VariableHistory } from './read-history.ts'
import { resolveTemplates } from './resolve-templates.ts'
import { requireWriter, type VariableWriter } from './variable-rules.ts'
import {
  decodeVariable,
  encodeVariable,
  removeVariable,
  setVariable,
  updateVariable,
  type WriteParts,
} from './variable-writes.ts'
import { HistoryWriter, type WrittenBy } from './variable-history.ts'
import { watchVariables, type VariableNotice, type WatchOptions } from './watch-variables.ts'

export interface VariableStore {
  /** The value, frozen, or `undefined` where the variable was never set. */
  get(execution: ExecutionId, name: string): Promise<Json | undefined>
  /** Whether the variable was set, also to `null` or `false`. */
  exists(execution: ExecutionId, name: string): Promise<boolean>
  set(execution: ExecutionId, name: string, value: Json): Promise<void>
  /**
   * Changes a value as one step: no other write comes between reading and writing. `change` may be called several times.
   * Resolves with the new value.
   */
  update(execution: ExecutionId, name: string, change: (current: Json | undefined) => Json): Promise<Json>
  /** Resolves with whether it existed. */
  remove(execution: ExecutionId, name: string): Promise<boolean>
  /** All variables of one execution, or those of one namespace, by name. */
  list(execution: ExecutionId, namespace?: string): Promise<Readonly<Record<string, Json>>>
  /** One page of them, by name; go on with its `next` as `after` until that is `undefined`. */
  listPage(execution: ExecutionId, filter?: VariableFilter): Promise<VariablePage>
  /** What was written to it, the latest first; bounded. Values that look like a secret are left out. */
  history(execution: ExecutionId, name: string): Promise<VariableHistory>
  /** Replaces `{{ node.name }}` in strings at any depth. A variable that is not set is an error. */
  resolve(execution: ExecutionId, template: Json): Promise<Json>
  /** Changes of this execution's variables, from now on. */
  watch(execution: ExecutionId, options: WatchOptions): AsyncIterable<VariableNotice>
}

/** The same operations for a given writer, and values encoded to be written together with an event. */
export interface VariableSpace {
  asWriter(writer: VariableWriter): VariableStore
  encode(
    execution: ExecutionId,
    writer: VariableWriter,
    values: Readonly<Record<string, unknown>>,
  ): readonly StorePut[]
  /** What the history says of encoded values; to be written with them. */
  record(execution: ExecutionId, puts: readonly StorePut[], by: WrittenBy): readonly StorePut[]
}

export function createVariableSpace(
  scopes: Scopes,
  { pace, makeId }: { readonly pace: WritePace; readonly makeId: MakeId },
): VariableSpace {
  const history = new HistoryWriter({ clock: pace.clock, makeId })
  const write = { pace, history }
  return {
    asWriter: (writer) => createStore(scopes, writer, write),
    encode: (execution, writer, values) =>
      Object.entries(values).map(([name, value]) => {
        const parsed = parseVariableName(name)
        requireWriter(parsed, writer)
        return encodeVariable(scopes.of(execution), parsed, value)
      }),
    record: (execution, puts, by) => history.ofPuts(scopes.of(execution).scope, puts, by),
  }
}

function createStore(scopes: Scopes, writer: VariableWriter, parts: WriteParts): VariableStore {
  const write = { ...parts, by: writer === 'engine' ? {} : { unit: writer.node } }
  const get = async (execution: ExecutionId, name: string): Promise<Json | undefined> => {
    const { store, keys } = scopes.of(execution).scope
    const key = keys.variable(parseVariableName(name).full)
    const entry = store.peek === undefined ? await store.get(key) : store.peek(key)
    return entry === undefined ? undefined : decodeVariable(entry)
  }
  const nameToWrite = (name: string): ReturnType<typeof parseVariableName> => {
    const parsed = parseVariableName(name)
    requireWriter(parsed, writer)
    return parsed
  }
  return {
    get,
    exists: async (execution, name) => (await get(execution, name)) !== undefined,
    set: async (execution, name, value) => setVariable(scopes.of(execution), nameToWrite(name), value, write),
    update: async (execution, name, change) =>
      updateVariable(scopes.of(execution), nameToWrite(name), change, write),
    remove: async (execution, name) => removeVariable(scopes.of(execution), nameToWrite(name), write),
    list: async (execution, namespace) => listVariables(scopes.of(execution), namespace),
    listPage: async (execution, filter) => listVariablePage(scopes.of(execution), filter),
    history: async (execution, name) => readVariableHistory(scopes.of(execution), parseVariableName(name)),
    resolve: async (execution, template) => {
      scopes.of(execution)
      return resolveTemplates(template, (name) => get(execution, name))
    },
    watch: (execution, options) => watchVariables(scopes.of(execution), options),
  }
}
