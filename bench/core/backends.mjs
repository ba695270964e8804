// Both sides of each comparison: the core over one of our stores, and the bare driver on the same server or disk.
import { join } from 'node:path'
import { openCore } from '../../dist/perago-core.js'
import { openEtcdStore } from '../../dist/stores/etcd.js'
import { openMemoryStore } from '../../dist/stores/memory.js'
import { openPostgresStore } from '../../dist/stores/postgres.js'
import { openRedisStore } from '../../dist/stores/redis.js'
import { openSqliteStore } from '../../dist/stores/sqlite.js'
import { startEtcd, startPostgres, startRedis } from '../support/databases.mjs'
import { openBareEtcd, openBareLibsql, openBareMap, openBarePg, openBareRedis } from './bare.mjs'

/** The default of our store. */
const CONNECTIONS = 10

const KINDS = {
  memory: {
    driver: 'a Map',
    open: async () => ({ store: openMemoryStore(), bare: openBareMap() }),
  },
  sqlite: {
    driver: 'libsql',
    open: async (bench) => ({
      store: openSqliteStore({ file: join(bench.directory, 'ours.db') }),
      bare: await openBareLibsql(join(bench.directory, 'bare.db')),
    }),
  },
  postgres: {
    driver: 'pg',
    open: async (bench) => {
      const { url, pid } = await startPostgres(bench)
      return { url, pid, store: await openPostgresStore({ url }), bare: await openBarePg(url, CONNECTIONS) }
    },
  },
  redis: {
    driver: 'ioredis',
    open: async (bench) => {
      const { url, pid } = await startRedis(bench)
      return { url, pid, store: await openRedisStore({ url }), bare: await openBareRedis(url) }
    },
  },
  etcd: {
    driver: 'etcd3',
    open: async (bench) => {
      const { url, pid } = await startEtcd(bench)
      return { url, pid, store: await openEtcdStore({ endpoints: [url] }), bare: await openBareEtcd(url) }
    },
  },
}

export const BACKENDS = Object.keys(KINDS)

export async function openBackend(bench, name) {
  const { driver, open } = KINDS[name]
  const opened = await open(bench)
  bench.defer(async () => {
    await opened.bare.close()
    await opened.store.close()
  })
  return { name, driver, ...opened, ours: oursOver(opened.store) }
}

/** The core, behind the same interface as the bare drivers. */
export function oursOver(store) {
  const core = openCore({ store })
  return {
    start: () => core.startExecution({ name: 'bench' }),
    append: (execution, event) => execution.events.publish(event),
    has: (execution, type) => execution.events.has(type),
    get: (execution, type) => execution.events.get(type),
    update: (execution, name, change) => execution.variables.update(name, change),
  }
}

export function eventOf(type, n) {
  return {
    type,
    source: { entityType: 'external', entityId: 'bench' },
    payload: { rows: n, path: 's3://bench/orders/part-000123.parquet', complete: true },
  }
}
