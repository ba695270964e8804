/** Small records that the server keeps in the store under names of its own, such as tokens. Each is written as a whole. */

import { DefectError, RefusedError } from '../../base/errors.ts'
import { STORE_PAGE_MAX_ENTRIES } from '../limits.ts'
import { serverKey, serverPrefix } from '../keys.ts'
import type { Store } from '../ports.ts'
import { readPages } from '../read-pages.ts'

export interface RecordStore<T> {
  get(id: string): Promise<T | undefined>
  /** Throws `refused` where a record with this id exists. */
  add(id: string, record: T): Promise<void>
  /** Adds it, or replaces the one with this id. */
  put(id: string, record: T): Promise<void>
  /** `false`: there was none. */
  remove(id: string): Promise<boolean>
  /** All of them, by id. */
  list(): Promise<readonly T[]>
}

export function openRecordStore<T>(store: Store, collection: string): RecordStore<T> {
  return {
    async get(id) {
      const entry = await store.get(serverKey(collection, id))
      return entry === undefined ? undefined : (decode(entry.value, collection) as T)
    },
    async add(id, record) {
      const key = serverKey(collection, id)
      const value = new TextEncoder().encode(JSON.stringify(record))
      const outcome = await store.commit({
        conditions: [{ key, is: 'absent' }],
        operations: [{ do: 'put', key, value }],
      })
      if (!outcome.committed) {
        throw new RefusedError('runtime/record-exists', `add ${id} to ${collection}: it exists already`, {
          next: 'Choose another id.',
        })
      }
    },
    async put(id, record) {
      const value = new TextEncoder().encode(JSON.stringify(record))
      await store.commit({ operations: [{ do: 'put', key: serverKey(collection, id), value }] })
    },
    async remove(id) {
      const key = serverKey(collection, id)
      const outcome = await store.commit({
        conditions: [{ key, is: 'present' }],
        operations: [{ do: 'delete', key }],
      })
      return outcome.committed
    },
    async list() {
      const records: T[] = []
      const range = { prefix: serverPrefix(collection), limit: STORE_PAGE_MAX_ENTRIES }
      for await (const page of readPages(store, range)) {
        for (const { value } of page) records.push(decode(value, collection) as T)
      }
      return records
    },
  }
}

function decode(value: Uint8Array, collection: string): object {
  const record: unknown = JSON.parse(new TextDecoder().decode(value))
  if (typeof record === 'object' && record !== null) return record
  throw new DefectError('runtime/bad-record', `read a record of ${collection}: it is not a JSON object`, {
    next: 'Check whether another program writes to this store.',
  })
}
