import { setTimeout as wait } from 'node:timers/promises'
import { openEtcdStore } from '../../src/stores/etcd/etcd-store.ts'
import { askJson } from '../support/servers/http.ts'
import { freshName } from '../support/servers/own-database.ts'
import { useRealServer } from '../support/servers/servers.ts'
import { put, write } from './store-cases/scene.ts'
import { storeConformance } from './store.ts'

const etcd = useRealServer('etcd')
/** Leases are granted in whole seconds, at least two, and looked through twice a second. */
const LAG_MS = 4_000

storeConformance('etcd', {
  open: async (context) => {
    const { url } = etcd(context)
    const options = { endpoints: [url], prefix: `${freshName()}/` }
    const store = await openEtcdStore(options)
    return {
      store,
      openAnother: () => openEtcdStore(options),
      outlive: async (ttlMs) => {
        await wait(ttlMs + LAG_MS)
      },
      forgetChanges: async () => {
        const revision = await write(store, put('forget:'))
        await askJson(`${url}/v3/kv/compaction`, { body: { revision: String(revision), physical: true } })
      },
      close: () => store.close(),
    }
  },
})
