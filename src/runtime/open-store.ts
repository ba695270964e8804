/** The store of one machine: a file in a directory of its own, or memory. */

import { join } from 'node:path'
import { isPeragoError } from '../base/errors.ts'
import { serverKey } from '../core/keys.ts'
import type { Store } from '../core/ports.ts'
import { openMemoryStore } from '../stores/memory/memory-store.ts'
import { openSqliteStore } from '../stores/sqlite/sqlite-store.ts'

const STORE_FILE = 'store.db'

/** `undefined`: in memory, and gone at the end. */
export function openStoreOf(dataDir: string | undefined): Store {
  return dataDir === undefined ? openMemoryStore() : openSqliteStore({ file: join(dataDir, STORE_FILE) })
}

/** What keeps a store from answering, one sentence; nothing when it does. */
export async function examineStore(store: Store): Promise<readonly string[]> {
  try {
    await store.get(serverKey('health', 'probe'))
    return []
  } catch (error) {
    // For people who ask whether it works; the log of the server says more.
    return [`the store (${store.name}) does not answer${isPeragoError(error) ? `: ${error.code}` : ''}`]
  }
}
