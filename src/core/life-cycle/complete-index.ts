/** Adds executions that an earlier version of perago ended to the index of ended executions. */

import { serverKey } from '../keys.ts'
import { ENDED_JOBS, isJobOpen } from '../namespaces/ended-index.ts'
import { hasEnded, isSwept } from '../namespaces/execution-record.ts'
import { listExecutions } from '../namespaces/registry.ts'
import { Scopes } from '../namespaces/scopes.ts'
import type { Store, StoreOperation } from '../ports.ts'

/** This key exists once it is done. */
const COMPLETE = serverKey('indexes', 'ended')

/** Reads the whole registry once per store; afterwards it only checks one key. Can be interrupted and repeated. */
export async function completeIndex(store: Store, signal?: AbortSignal): Promise<void> {
  if ((await store.get(COMPLETE)) !== undefined) return
  for await (const record of listExecutions(store, { signal })) {
    if (!hasEnded(record) || isSwept(record) || record.endedAt === undefined) continue
    const { keys } = new Scopes(store, record.tenant).of(record.id).scope
    const missing: StoreOperation[] = []
    for (const job of ENDED_JOBS.filter((one) => isJobOpen(one, record))) {
      const key = keys.ended(job, record.endedAt)
      if ((await store.get(key)) === undefined) missing.push({ do: 'put', key, value: new Uint8Array() })
    }
    if (missing.length > 0) await store.commit({ operations: missing })
  }
  await store.commit({ operations: [{ do: 'put', key: COMPLETE, value: new Uint8Array() }] })
}
