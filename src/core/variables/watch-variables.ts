/** Watching the variables of one execution. */

import type { Json } from '../../base/json.ts'
import type { BoundScope } from '../namespaces/scopes.ts'
import { decodeVariable } from './variable-writes.ts'

export interface WatchOptions {
  /** Ends the watch without an error. */
  readonly signal: AbortSignal
  /** Only variables whose names begin with this, such as `shared.`. */
  readonly prefix?: string
}

/**
 * A changed variable with its current value: of two quick writes the first may be missed, the last never is. `ready` comes
 * once, first. `gap`: notices may have been missed; read the values again.
 */
export type VariableNotice =
  | { readonly kind: 'ready' | 'gap' }
  | { readonly kind: 'set'; readonly name: string; readonly value: Json }
  | { readonly kind: 'removed'; readonly name: string }

export async function* watchVariables(
  { scope }: BoundScope,
  { signal, prefix = '' }: WatchOptions,
): AsyncGenerator<VariableNotice, void, undefined> {
  const { store, keys } = scope
  for await (const notice of store.watch({ prefix: keys.variables + prefix, signal })) {
    if (notice.kind !== 'changes') {
      yield { kind: notice.kind }
      continue
    }
    for (const key of new Set(notice.changes.map((change) => change.key))) {
      const name = key.slice(keys.variables.length)
      const entry = await store.get(key)
      yield entry === undefined
        ? { kind: 'removed', name }
        : { kind: 'set', name, value: decodeVariable(entry) }
    }
  }
}
