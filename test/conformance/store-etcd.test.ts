import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
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

test('ST-82 entries with the same long time to live share a lease, and none goes before its time', async (context) => {
  const { url } = etcd(context)
  const prefix = `${freshName()}/`
  const store = await openEtcdStore({ endpoints: [url], prefix })
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const [hourMs, shortMs] = [3_600_000, 30_000]
  try {
    await Promise.all(['a', 'b', 'c'].map((key) => write(store, put(key, 'x', hourMs))))
    for (const key of ['d', 'e']) await write(store, put(key, 'x', hourMs))
    for (const key of ['f', 'g']) await write(store, put(key, 'x', shortMs))
    await write(store, put('h', 'x', 2 * hourMs))
    const range = { key: base64(prefix), range_end: base64(`${prefix}~`) }
    const { body } = await askJson(`${url}/v3/kv/range`, { body: range })
    const leases = (body as { kvs: { lease: string }[] }).kvs.map(({ lease }) => lease)
    expect(new Set(leases.slice(0, 5)).size).toBe(1)
    expect(new Set(leases).size).toBe(4)
    const { body: left } = await askJson(`${url}/v3/lease/timetolive`, { body: { ID: leases[0] } })
    const { TTL, grantedTTL } = left as { TTL: string; grantedTTL: string }
    expect(Number(grantedTTL)).toBeLessThanOrEqual(1.01 * 3_600 + 1)
    expect(Number(TTL)).toBeGreaterThan(3_600)
  } finally {
    await store.close()
  }
})
