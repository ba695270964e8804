/** Small records of the server's own in the store, each replaced as a whole. */

import { DefectError, RefusedError } from '../../base/errors.ts'
import { STORE_PAGE_MAX_ENTRIES } from '../limits.ts'
import { serverKey, serverPrefix } from '../keys.ts'
import type { Store } from '../ports.ts'

/** Meets the port of the doors. */
export interface StoredShelf<T> {
  get(id: string): Promise<T | undefined>
  add(id: string, record: T): Promise<void>
  remove(id: string): Promise<boolean>
  list(): Promise<readonly T[]>
}

export function openRecordShelf<T>(store: Store, shelf: string): StoredShelf<T> {
  return {
    async get(id) {
      const entry = await store.get(serverKey(shelf, id))
      return entry === undefined ? undefined : (decode(entry.value, shelf) as T)
    },
    async add(id, record) {
      const key = serverKey(shelf, id)
      const value = new TextEncoder().encode(JSON.stringify(record))
      const outcome = await store.commit({
        conditions: [{ key, is: 'absent' }],
        operations: [{ do: 'put', key, value }],
      })
      if (!outcome.committed) {
        throw new RefusedError('runtime/record-exists', `keep ${id} in ${shelf}: there is one already`, {
          next: 'Choose another id.',
        })
      }
    },
    async remove(id) {
      const key = serverKey(shelf, id)
      const outcome = await store.commit({
        conditions: [{ key, is: 'present' }],
        operations: [{ do: 'delete', key }],
      })
      return outcome.committed
    },
    async list() {
      const records: T[] = []
      const prefix = serverPrefix(shelf)
      let after: string | undefined
      do {
        const page = await store.range({
          prefix,
          limit: STORE_PAGE_MAX_ENTRIES,
          ...(after === undefined ? {} : { after }),
        })
        for (const { value } of page.entries) records.push(decode(value, shelf) as T)
        after = page.next
      } while (after !== undefined)
      return records
    },
  }
}

function decode(value: Uint8Array, shelf: string): object {
  const record: unknown = JSON.parse(new TextDecoder().decode(value))
  if (typeof record === 'object' && record !== null) return record
  throw new DefectError('runtime/bad-record', `read a record of ${shelf}: it is none`, {
    next: 'Look whether something else writes into this store.',
  })
}
