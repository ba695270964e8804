/** All executions of a store, for maintenance and operators only. No package entry exports it. */

import { REGISTRY_PAGE_ENTRIES } from '../limits.ts'
import { EXECUTIONS_PREFIX } from '../keys.ts'
import type { Store, StoreCallOptions } from '../ports.ts'
import { readPages } from '../read-pages.ts'
import { decodeRecord, type ExecutionRecord } from './execution-record.ts'

/** Every record, of every tenant, each as it is when its page is read. */
export async function* listExecutions(
  store: Store,
  options: StoreCallOptions = {},
): AsyncGenerator<ExecutionRecord, void, undefined> {
  const range = { prefix: EXECUTIONS_PREFIX, limit: REGISTRY_PAGE_ENTRIES }
  for await (const page of readPages(store, range, options)) {
    for (const { value } of page) yield decodeRecord(value)
  }
}
