/**
 * All executions of a store, for maintenance and operators alone. Nothing that is bound to an execution leads here, and no
 * package entry offers it.
 */

import { REGISTRY_PAGE_ENTRIES } from '../limits.ts'
import { EXECUTIONS_PREFIX } from '../keys.ts'
import type { Store } from '../ports.ts'
import { decodeRecord, type ExecutionRecord } from './execution-record.ts'

/** Every record, of every tenant, as the store has it while they are read. */
export async function* listExecutions(
  store: Store,
  options: { readonly signal?: AbortSignal } = {},
): AsyncGenerator<ExecutionRecord, void, undefined> {
  let after: string | undefined
  do {
    const range = { prefix: EXECUTIONS_PREFIX, limit: REGISTRY_PAGE_ENTRIES }
    const page = await store.range(after === undefined ? range : { ...range, after }, options)
    for (const { value } of page.entries) yield decodeRecord(value)
    after = page.next
  } while (after !== undefined)
}
