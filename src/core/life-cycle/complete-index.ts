/** Adds executions that an earlier version of perago ended to the index of ended executions. */

import { serverKey } from '../keys.ts'
import { SWEEPS_IN_FLIGHT } from '../limits.ts'
import { ENDED_JOBS, isJobOpen } from '../namespaces/ended-index.ts'
import { hasEnded, isSwept, type ExecutionRecord } from '../namespaces/execution-record.ts'
import { listExecutions } from '../namespaces/registry.ts'
import { Scopes } from '../namespaces/scopes.ts'
import type { Store, StoreOperation } from '../ports.ts'

/** This key exists once it is done. */
const COMPLETE = serverKey('indexes', 'ended')

/** Reads the whole registry once per store; afterwards it only checks one key. Can be interrupted and repeated. */
export async function completeIndex(store: Store, signal?: AbortSignal): Promise<void> {
  if ((await store.get(COMPLETE)) !== undefined) return
  let row: ExecutionRecord[] = []
  for await (const record of listExecutions(store, { signal })) {
    if (row.push(record) < SWEEPS_IN_FLIGHT) continue
    await Promise.all(row.map((each) => addMissing(store, each)))
    row = []
  }
  await Promise.all(row.map((each) => addMissing(store, each)))
  await store.commit({ operations: [{ do: 'put', key: COMPLETE, value: new Uint8Array() }] })
}

async function addMissing(store: Store, record: ExecutionRecord): Promise<void> {
  const { endedAt } = record
  if (!hasEnded(record) || isSwept(record) || endedAt === undefined) return
  const { keys } = new Scopes(store, record.tenant).of(record.id).scope
  const open = ENDED_JOBS.filter((job) => isJobOpen(job, record)).map((job) => keys.ended(job, endedAt))
  const found = await Promise.all(open.map((key) => store.get(key)))
  const missing = open
    .filter((_, at) => found[at] === undefined)
    .map((key): StoreOperation => ({ do: 'put', key, value: new Uint8Array() }))
  if (missing.length > 0) await store.commit({ operations: missing })
}
