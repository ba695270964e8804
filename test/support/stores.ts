// The stores that tests of the core run on: one test, each kind of store.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, type TestContext } from 'vitest'
import type { Store } from '../../src/core/ports.ts'
import { createMemorySpace, openMemoryStore } from '../../src/stores/memory/memory-store.ts'
import { openSqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'

export interface StoreUnderTest {
  readonly store: Store
  /** Another handle on the same data, as another instance would have it. */
  readonly openAnother: () => Promise<Store>
}

export interface StoreKind {
  readonly kind: string
  /** A new, empty store for one test, closed with it. */
  readonly open: (context: TestContext) => Promise<StoreUnderTest>
}

/**
 * ```ts
 * describe.each(STORE_KINDS)('on $kind', ({ open }) => {
 *   test('…', async (context) => {
 *     const { store } = await open(context)
 *   })
 * })
 * ```
 */
export const STORE_KINDS: readonly StoreKind[] = [
  {
    kind: 'memory',
    open: () => {
      const space = createMemorySpace()
      const openAnother = (): Promise<Store> => {
        const store = openMemoryStore({ space })
        onTestFinished(() => store.close())
        return Promise.resolve(store)
      }
      return openAnother().then((store) => ({ store, openAnother }))
    },
  },
  {
    kind: 'sqlite',
    open: () => {
      const directory = mkdtempSync(join(tmpdir(), 'perago-core-'))
      onTestFinished(() => rmSync(directory, { recursive: true }))
      const openAnother = (): Promise<Store> => {
        const store = openSqliteStore({ file: join(directory, 'store.db') })
        onTestFinished(() => store.close())
        return Promise.resolve(store)
      }
      return openAnother().then((store) => ({ store, openAnother }))
    },
  },
]
