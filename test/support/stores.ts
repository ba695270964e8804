// The stores that tests of the core run on: one test, each kind of store. PERAGO_TEST_STORES=all adds those on servers.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject, onTestFinished, type TestContext } from 'vitest'
import type { Store } from '../../src/core/ports.ts'
import { openEtcdStore } from '../../src/stores/etcd/etcd-store.ts'
import { createMemorySpace, openMemoryStore } from '../../src/stores/memory/memory-store.ts'
import { openPostgresStore } from '../../src/stores/postgres/postgres-store.ts'
import { openRedisStore } from '../../src/stores/redis/redis-store.ts'
import { openSqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'
import { freshName } from './servers/own-database.ts'
import type { Endpoint } from './servers/real-server.ts'
import { leave, useRealServer } from './servers/servers.ts'
import { STORE_SERVERS, type StoreServer } from './store-servers.ts'

export interface StoreUnderTest {
  readonly store: Store
  /** Another handle on the same data, as another instance would have it. */
  readonly openAnother: () => Promise<Store>
}

type OpenOnServer = (url: string, name: string) => Promise<Store>

const OPEN: Readonly<Record<StoreServer, OpenOnServer>> = {
  postgres: (url, name) => openPostgresStore({ url, schema: name }),
  redis: (url, name) => openRedisStore({ url, prefix: `{${name}}:` }),
  etcd: (url, name) => openEtcdStore({ endpoints: [url], prefix: `${name}/` }),
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
  ...localStores(),
  ...(process.env.PERAGO_TEST_STORES === 'all' ? serverStores() : []),
]

/** Stores that need nothing but this process. */
function localStores(): readonly StoreKind[] {
  return [
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
}

/** Stores on real servers: those of the whole run, or else one that is started for the test file that asks. */
export function serverStores(kinds: readonly StoreServer[] = STORE_SERVERS): readonly StoreKind[] {
  return kinds.map((kind) => {
    const server = serverOfRun(kind) ?? useRealServer(kind)
    return {
      kind,
      open: async (context) => {
        const { url } = server(context)
        const name = freshName()
        const openAnother = async (): Promise<Store> => {
          const store = await OPEN[kind](url, name)
          onTestFinished(() => store.close())
          return store
        }
        return { store: await openAnother(), openAnother }
      },
    }
  })
}

function serverOfRun(kind: StoreServer): ((context: TestContext) => Endpoint) | undefined {
  const server = inject('storeServers')?.[kind]
  if (server === undefined) return undefined
  return (context) => ('reason' in server ? leave(server.reason, context, process.env) : server)
}
